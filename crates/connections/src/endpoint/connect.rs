//! Connections that begin and end.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::time::Duration;

use laneway_path::wire::MOST_PATHS;
use laneway_path::{Nanos, PathId, Refusal};

use super::connections::{Agreed, End};
use super::handshakes::{Offer, Opening, Packet, Step};
use super::{ConnectionId, Endpoint, What};
use crate::driver::kind::PathKind;
use crate::driver::notice::CLOSE;
use crate::driver::secret::random;
use crate::error::NetError;
use crate::system::clock::now;

impl Endpoint {
    /// Begins to open a connection; [`What::Connected`] or [`What::NoAnswer`] reports the outcome.
    /// The peer's address on each path, in the order of this endpoint's own.
    pub fn begin_open(
        &mut self,
        peers: &[SocketAddr],
        label: u64,
        limit: Duration,
    ) -> Result<ConnectionId, NetError> {
        let paths = peers.len().min(self.lines.paths());
        if paths == 0 || peers.len() > MOST_PATHS {
            return Err(NetError::Paths { count: peers.len() });
        }
        let primary = match self.setup.spread {
            true => self.least_used(peers[0], paths),
            false => self.setup.primary,
        };
        if usize::from(primary.0) >= paths {
            return Err(Refusal::UnknownPath { path: primary }.into());
        }
        let (now, opener) = (now(), random()?);
        let offer = self.offer(label, primary.0, self.kind)?;
        let connection = ConnectionId(offer.number);
        self.handshakes.open(Opening::new(now, opener, offer, &peers[..paths], limit));
        self.go_on_with_handshakes(now);
        Ok(connection)
    }

    /// Opens a connection, and waits until it is open.
    pub fn connect(
        &mut self,
        peers: &[SocketAddr],
        label: u64,
        limit: Duration,
    ) -> Result<ConnectionId, NetError> {
        let connection = self.begin_open(peers, label, limit)?;
        loop {
            if let Some(notice) = self.notices.take_first_of(connection) {
                return match notice.what {
                    What::NoAnswer => Err(NetError::NoAnswer {
                        peer: peers[0].to_string(),
                        seconds: limit.as_secs(),
                    }),
                    _ => Ok(connection),
                };
            }
            self.rest(limit);
        }
    }

    /// Waits for arrivals, whatever notices are queued.
    fn rest(&mut self, limit: Duration) {
        let before = self.notices.set_aside();
        self.wait(limit);
        self.notices.put_back(before);
    }

    /// The path that the fewest connections to a peer began with.
    fn least_used(&self, peer: SocketAddr, paths: usize) -> PathId {
        let mut users = [0; MOST_PATHS];
        let to_it = |end: &&End| end.peers.first().is_some_and(|first| first.address == peer);
        for end in self.connections.iter().filter(to_it) {
            users[usize::from(end.first_path.0)] += 1;
        }
        for opening in self.handshakes.opening().filter(|opening| opening.peers[0] == peer) {
            users[usize::from(opening.offer.primary)] += 1;
        }
        let first = usize::from(self.setup.primary.0);
        let in_turn = (0..paths).map(|step| (first + step) % paths);
        PathId(in_turn.min_by_key(|path| users[*path]).unwrap_or(0) as u8)
    }

    fn offer(&mut self, label: u64, primary: u8, kind: PathKind) -> Result<Offer, NetError> {
        let number = self.connections.reserve()?;
        let [a, b, c] = random()?;
        let packet_bytes = self.paths.iter().map(|path| path.payload_bytes()).min().unwrap_or(0);
        Ok(Offer {
            number,
            label,
            start: u32::from_be_bytes([0, a, b, c]),
            packet_bytes: packet_bytes as u32,
            primary,
            kind,
            addresses: self.addresses(),
        })
    }

    /// Sends what has had no answer again; gives up on what took too long.
    pub(super) fn go_on_with_handshakes(&mut self, now: Nanos) {
        for number in self.handshakes.go_on(now, &mut self.lines) {
            self.release(number);
            self.notices.push(ConnectionId(number), What::NoAnswer);
        }
    }

    pub(super) fn on_handshake(
        &mut self,
        now: Nanos,
        path: usize,
        from: SocketAddr,
        packet: &[u8],
    ) {
        let taken = match self.handshakes.on_packet(now, path, from, packet, &mut self.lines) {
            Step::Refused => false,
            Step::Answered => true,
            Step::Challenged => {
                self.go_on_with_handshakes(now);
                true
            }
            Step::Open(open) => self.on_open(now, path, from, &open),
            Step::Accepted(opening, packet) => self.on_accepted(now, &opening, &packet),
        };
        self.dropped.refused += u64::from(!taken);
    }

    /// The peer has proved that it knows the secret, and is where it says, now.
    fn on_open(&mut self, now: Nanos, path: usize, from: SocketAddr, open: &Packet) -> bool {
        let connections = &self.connections;
        self.handshakes.forget(now, |number| connections.get(number).is_some());
        if self.handshakes.accepted(open).is_none() && self.accept(now, open).is_err() {
            return false;
        }
        let Some(accepted) = self.handshakes.accepted(open) else { return false };
        // It may have been closed since: then nothing is said.
        let Some(end) = self.connections.get(accepted.number) else { return false };
        let offer = Offer {
            number: accepted.number,
            label: open.offer.label,
            start: end.start,
            packet_bytes: end.packet_bytes,
            primary: end.first_path.0,
            kind: open.offer.kind,
            addresses: self.lines.addresses(),
        };
        self.handshakes.answer(&mut self.lines, path, from, open, accepted, offer);
        true
    }

    fn accept(&mut self, now: Nanos, open: &Packet) -> Result<(), NetError> {
        let own = self.offer(open.offer.label, open.offer.primary, open.offer.kind)?;
        let [opens, seals] = self.handshakes.sealers(open);
        let agreed = Agreed { own: &own, peer: &open.offer, leads: false, seals, opens };
        self.begin(now, agreed, What::Accepted { label: open.offer.label })?;
        self.handshakes.accept(now, own.number, open);
        Ok(())
    }

    fn on_accepted(&mut self, now: Nanos, opening: &Opening, packet: &Packet) -> bool {
        let [seals, opens] = self.handshakes.sealers(packet);
        let agreed = Agreed { own: &opening.offer, peer: &packet.offer, leads: true, seals, opens };
        let begun = self.begin(now, agreed, What::Connected);
        if begun.is_err() {
            self.notices.push(ConnectionId(opening.offer.number), What::NoAnswer);
        }
        begun.is_ok()
    }

    /// The connection stands; where what was agreed cannot be, its place is free again.
    fn begin(&mut self, now: Nanos, agreed: Agreed<'_>, what: What) -> Result<(), NetError> {
        let (number, peers) = (agreed.own.number, &agreed.peer.addresses);
        let made = match peers.is_empty() {
            true => Err(NetError::Paths { count: 0 }),
            false => End::new(now, &self.setup, agreed).map_err(NetError::from),
        };
        let mut end = made.inspect_err(|_| self.release(number))?;
        let paths = || (0..self.paths.len()).map(|path| PathId(path as u8));
        for path in paths().filter(|path| !self.health.has_carrier(*path)) {
            end.connection.on_carrier(now, path, false);
        }
        for path in paths().filter(|path| self.health.is_drained(*path)) {
            // Where the connection has fewer paths, there is nothing to keep off.
            _ = end.manager.drain(now, &mut end.connection, path);
        }
        end.peers = self.lines.join(peers);
        let streams = if end.leads { end.streams.len() } else { 0 };
        self.connections.insert(number, end);
        self.want_streams(now, number, streams);
        self.notices.push(ConnectionId(number), what);
        Ok(())
    }

    /// Ends a connection and notifies the peer, which may miss it; undelivered messages are lost.
    pub fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let end = self.connections.find(connection)?;
        let mut packet = vec![CLOSE, 0, 0, 0];
        packet.extend(end.connection.peer().to_be_bytes());
        let tag = end.seals.seal(&mut packet, &[]);
        packet.extend(tag);
        for (path, peer) in end.peers.iter().enumerate() {
            let pieces = [IoSlice::new(&packet)];
            self.lines.send(PathId(path as u8), peer, &pieces, packet.len());
        }
        self.release(connection.0);
        Ok(())
    }

    /// The number of a connection is free again.
    pub(super) fn release(&mut self, number: u32) {
        if let Some(end) = self.connections.release(number) {
            self.release_streams(&end);
            self.lines.leave(&end.peers);
            self.forget_probers();
        }
    }
}
