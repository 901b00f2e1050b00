//! Connections that begin and end.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::time::Duration;

use laneway_path::wire::MOST_PATHS;
use laneway_path::{Nanos, PathId, Refusal};

use super::receive::CLOSE;
use super::{ConnectionId, Endpoint, Notice, What, mark, place};
use crate::clock::now;
use crate::end::{Agreed, End};
use crate::error::NetError;
use crate::handshake::{Drawn, Kind, Offer, Packet, challenge, keys, read, write};
use crate::secret::{Sealer, random};

/// A handshake's packet is sent again after so long, then more rarely.
const AGAIN: Nanos = 20_000_000;
const MOST_AGAIN: Nanos = 500_000_000;
/// A challenge is answered so often.
const ANSWERS: usize = 4;
/// Challenges are good for this long, and half as long again.
const SLOT: Nanos = 10_000_000_000;

/// A connection that this endpoint has begun to open.
pub(super) struct Opening {
    opener: Drawn,
    /// What the peer has drawn, once it has answered, and the path that this is good for.
    challenge: Option<(Drawn, usize)>,
    /// All that it has drawn: it accepts by the first that reaches it, which may be any of them.
    drawn: Vec<Drawn>,
    offer: Offer,
    peers: Vec<SocketAddr>,
    pub(super) again_at: Nanos,
    apart: Nanos,
    /// How often something was sent.
    tries: usize,
    ends_at: Nanos,
}

/// A connection that a peer has opened.
pub(super) struct Accepted {
    number: u32,
    /// What its keys were made with, whatever the peer has answered since.
    accepter: Drawn,
    since: Nanos,
}

impl Endpoint {
    /// Begins to open a connection; [`What::Connected`] or [`What::NoAnswer`] reports the outcome.
    /// The peer's address on each path, in the order of this endpoint's own.
    pub fn begin_open(
        &mut self,
        peers: &[SocketAddr],
        label: u64,
        limit: Duration,
    ) -> Result<ConnectionId, NetError> {
        let paths = peers.len().min(self.wires.len());
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
        let now = now();
        let opener = random()?;
        let offer = self.offer(label, primary.0)?;
        let connection = ConnectionId(offer.number);
        self.opening.push(Opening {
            opener,
            challenge: None,
            drawn: Vec::new(),
            offer,
            peers: peers[..paths].to_vec(),
            again_at: now,
            apart: AGAIN,
            tries: 0,
            ends_at: now + Nanos::try_from(limit.as_nanos()).unwrap_or(Nanos::MAX / 2),
        });
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
            let of = |notice: &Notice| notice.connection == connection;
            if let Some(at) = self.notices.iter().position(of) {
                return match self.notices.remove(at).map(|notice| notice.what) {
                    Some(What::NoAnswer) => Err(NetError::NoAnswer {
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
        let notices = std::mem::take(&mut self.notices);
        self.wait(limit);
        let new = std::mem::replace(&mut self.notices, notices);
        self.notices.extend(new);
    }

    /// The path that the fewest connections to a peer began with.
    fn least_used(&self, peer: SocketAddr, paths: usize) -> PathId {
        let mut users = [0; MOST_PATHS];
        let to_it = |end: &&End| end.peers.first().is_some_and(|first| first.address == peer);
        for end in self.ends.iter().flatten().filter(to_it) {
            users[usize::from(end.first_path.0)] += 1;
        }
        for opening in self.opening.iter().filter(|opening| opening.peers[0] == peer) {
            users[usize::from(opening.offer.primary)] += 1;
        }
        let first = usize::from(self.setup.primary.0);
        let in_turn = (0..paths).map(|step| (first + step) % paths);
        PathId(in_turn.min_by_key(|path| users[*path]).unwrap_or(0) as u8)
    }

    fn offer(&mut self, label: u64, primary: u8) -> Result<Offer, NetError> {
        let number = self.reserve()?;
        let [a, b, c] = random()?;
        let packet_bytes = self.paths.iter().map(|path| path.payload_bytes()).min().unwrap_or(0);
        Ok(Offer {
            number,
            label,
            start: u32::from_be_bytes([0, a, b, c]),
            packet_bytes: packet_bytes as u32,
            primary,
            addresses: self.addresses(),
        })
    }

    /// Sends what has had no answer again; gives up on what took too long.
    pub(super) fn go_on_with_handshakes(&mut self, now: Nanos) {
        let mut gone = Vec::new();
        for opening in &mut self.opening {
            if now >= opening.ends_at {
                gone.push(opening.offer.number);
            } else if now >= opening.again_at {
                let path = opening.next_path();
                opening.again_at = (now + opening.apart).min(opening.ends_at);
                opening.apart = (opening.apart * 3 / 2).min(MOST_AGAIN);
                let packet = opening.packet();
                let to = opening.peers[path];
                send(&mut self.wires[path], &self.secret.sealer(), to, &packet);
            }
        }
        for number in gone {
            self.opening.retain(|opening| opening.offer.number != number);
            self.release(number);
            let connection = ConnectionId(number);
            self.notices.push_back(Notice { connection, what: What::NoAnswer });
        }
    }

    pub(super) fn on_handshake(
        &mut self,
        now: Nanos,
        path: usize,
        from: SocketAddr,
        packet: &[u8],
    ) {
        let packet = read(packet, &self.secret.sealer());
        let taken = packet.is_some_and(|packet| match packet.kind {
            Kind::Hello => self.on_hello(now, path, from, &packet),
            Kind::Open => self.on_open(now, path, from, &packet),
            Kind::Challenge => self.on_challenge(now, path, &packet),
            Kind::Accepted => self.on_accepted(now, packet),
        });
        self.dropped.refused += u64::from(!taken);
    }

    fn on_hello(&mut self, now: Nanos, path: usize, from: SocketAddr, hello: &Packet) -> bool {
        if self.accepts {
            let accepter = challenge(&self.own, &hello.opener, from, now / SLOT);
            let offer = Offer { addresses: Vec::new(), ..hello.offer.clone() };
            let packet = Packet { kind: Kind::Challenge, opener: hello.opener, accepter, offer };
            send(&mut self.wires[path], &self.secret.sealer(), from, &packet);
        }
        self.accepts
    }

    /// The peer has proved that it knows the secret, and is where it says, now.
    fn on_open(&mut self, now: Nanos, path: usize, from: SocketAddr, open: &Packet) -> bool {
        let slots = [now / SLOT, (now / SLOT).saturating_sub(1)];
        let right = |slot: u64| challenge(&self.own, &open.opener, from, slot) == open.accepter;
        if !self.accepts || !slots.into_iter().any(right) {
            return false;
        }
        self.accepted.retain(|_, Accepted { number, since, .. }| {
            let here = self.ends[place(*number)].as_ref();
            now < *since + 3 * SLOT || here.is_some_and(|e| e.connection.number() == *number)
        });
        if !self.accepted.contains_key(&open.opener) && self.accept(now, open).is_err() {
            return false;
        }
        let Some(accepted) = self.accepted.get(&open.opener) else { return false };
        let Accepted { number, accepter, .. } = *accepted;
        // It may have been closed since: then nothing is said.
        let Some(end) = self.ends[place(number)].as_ref() else { return false };
        if end.connection.number() != number {
            return false;
        }
        let offer = Offer {
            number,
            label: open.offer.label,
            start: end.start,
            packet_bytes: end.packet_bytes,
            primary: end.first_path.0,
            addresses: self.addresses(),
        };
        let packet = Packet { kind: Kind::Accepted, opener: open.opener, accepter, offer };
        send(&mut self.wires[path], &self.secret.sealer(), from, &packet);
        true
    }

    fn accept(&mut self, now: Nanos, open: &Packet) -> Result<(), NetError> {
        let own = self.offer(open.offer.label, open.offer.primary)?;
        let [opens, seals] = keys(&self.secret.sealer(), &open.opener, &open.accepter);
        let agreed = Agreed { own: &own, peer: &open.offer, leads: false, seals, opens };
        self.begin(now, agreed, What::Accepted { label: open.offer.label })?;
        let accepted = Accepted { number: own.number, accepter: open.accepter, since: now };
        self.accepted.insert(open.opener, accepted);
        Ok(())
    }

    fn on_challenge(&mut self, now: Nanos, path: usize, packet: &Packet) -> bool {
        let mut of = self.opening.iter_mut();
        let Some(opening) = of.find(|opening| opening.opener == packet.opener) else {
            return false;
        };
        // A later one counts: the earlier may be out of date.
        opening.challenge = Some((packet.accepter, path));
        if !opening.drawn.contains(&packet.accepter) {
            opening.drawn.push(packet.accepter);
        }
        (opening.again_at, opening.tries) = (now, 0);
        self.go_on_with_handshakes(now);
        true
    }

    fn on_accepted(&mut self, now: Nanos, packet: Packet) -> bool {
        let is = |opening: &Opening| {
            opening.opener == packet.opener && opening.drawn.contains(&packet.accepter)
        };
        let Some(at) = self.opening.iter().position(is) else { return false };
        let opening = self.opening.swap_remove(at);
        let [seals, opens] = keys(&self.secret.sealer(), &packet.opener, &packet.accepter);
        let agreed = Agreed { own: &opening.offer, peer: &packet.offer, leads: true, seals, opens };
        let begun = self.begin(now, agreed, What::Connected);
        if begun.is_err() {
            let connection = ConnectionId(opening.offer.number);
            self.notices.push_back(Notice { connection, what: What::NoAnswer });
        }
        begun.is_ok()
    }

    /// The connection stands; where what was agreed cannot be, its place is free again.
    fn begin(&mut self, now: Nanos, agreed: Agreed<'_>, what: What) -> Result<(), NetError> {
        let number = agreed.own.number;
        let made = match agreed.peer.addresses.is_empty() {
            true => Err(NetError::Paths { count: 0 }),
            false => End::new(now, &self.setup, &agreed).map_err(NetError::from),
        };
        let mut end = made.inspect_err(|_| self.release(number))?;
        for (path, _) in self.wires.iter().enumerate().filter(|(_, wire)| !wire.carrier) {
            end.connection.on_carrier(now, PathId(path as u8), false);
        }
        for (path, _) in self.wires.iter().enumerate().filter(|(_, wire)| wire.drained) {
            // Where the connection has fewer paths, there is nothing to keep off.
            _ = end.manager.drain(now, &mut end.connection, PathId(path as u8));
        }
        let pairs = self.wires.iter_mut().zip(&agreed.peer.addresses);
        end.peers = pairs.map(|(wire, address)| wire.join(*address)).collect();
        mark(&mut end, place(number) as u32, &mut self.dirty);
        self.ends[place(number)] = Some(end);
        self.notices.push_back(Notice { connection: ConnectionId(number), what });
        Ok(())
    }

    /// Ends a connection and notifies the peer, which may miss it; undelivered messages are lost.
    pub fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let peer = self.get(connection)?.peer();
        let Some(end) = self.ends[place(connection.0)].as_ref() else { return Ok(()) };
        let mut packet = vec![CLOSE, 0, 0, 0];
        packet.extend(peer.to_be_bytes());
        packet.extend(end.seals.tag(&[&packet]));
        for (wire, peer) in self.wires.iter_mut().zip(&end.peers) {
            wire.send(peer, &[IoSlice::new(&packet)], packet.len());
        }
        self.release(connection.0);
        Ok(())
    }
}

impl Opening {
    /// The path that is tried now. A challenge is answered over its own path, a few times; then
    /// another path is greeted.
    fn next_path(&mut self) -> usize {
        self.tries += 1;
        self.challenge = self.challenge.filter(|_| self.tries <= ANSWERS);
        self.challenge.map_or(self.tries % self.peers.len(), |(_, path)| path)
    }

    fn packet(&self) -> Packet {
        let kind = if self.challenge.is_some() { Kind::Open } else { Kind::Hello };
        let accepter = self.challenge.map_or([0; 16], |(drawn, _)| drawn);
        Packet { kind, opener: self.opener, accepter, offer: self.offer.clone() }
    }
}

fn send(wire: &mut crate::wire::Wire, job: &Sealer, to: SocketAddr, packet: &Packet) {
    wire.send_to(to, &write(packet, job));
}
