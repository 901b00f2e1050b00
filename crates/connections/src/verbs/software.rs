//! Connections of `laneway-path` over queue pairs for datagrams, one a path: on RoCE, and where the
//! paths begin at different devices.
//!
//! Untested on hardware. Migration, detection and repair are those of the connections over UDP;
//! packets carry the same tags.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use laneway_path::wire::HEADER_BYTES;
use laneway_path::{Connection, Manager, Nanos, PathId, Refusal};

use super::Addressed;
use super::address::{Address, Kind};
use super::device::DeviceEvent;
use super::local::Local;
use super::queue_pair::{AddressHandle, Target};
use super::wire::{Arrival, Wire, packet_bytes};
use crate::driver::kind::PathKind;
use crate::driver::managed::{self, Ends};
use crate::driver::notice::{CLOSE, ConnectionId, Notice, What};
use crate::driver::seal::{Sealer, Security, sealers};
use crate::driver::secret::{Secret, TAG_BYTES, random};
use crate::driver::setup::Setup;
use crate::driver::turns::{Turned, Turns};
use crate::driver::{Driver, Status};
use crate::error::NetError;
use crate::system::clock::now;
use crate::system::readiness::poll;

struct End {
    connection: Connection,
    manager: Manager,
    /// The way to the peer on each path.
    ways: Vec<AddressHandle>,
    peer: Address,
    seals: Sealer,
    opens: Sealer,
}

pub(super) struct Software {
    /// Before the ends: ways must be there as long as datagrams may leave by them.
    wires: Vec<Wire>,
    ends: BTreeMap<u32, End>,
    prepared: BTreeMap<u32, Address>,
    secret: Secret,
    setup: Setup,
    security: Security,
    next: u32,
    notices: VecDeque<Notice>,
    /// Connections of which something was requested that waits for its turn.
    turns: Turns,
}

impl Turned for BTreeMap<u32, End> {
    fn waits(&self, number: u32) -> bool {
        self.get(&number).is_some_and(|end| end.connection.is_held())
    }

    fn is_settled(&self, number: u32) -> bool {
        self.get(&number).is_none_or(|end| end.connection.is_settled())
    }
}

impl Software {
    pub fn new(locals: Vec<Local>, secret: Secret, setup: Setup) -> Result<Software, NetError> {
        let [a, b, c] = random()?;
        Ok(Software {
            ends: BTreeMap::new(),
            prepared: BTreeMap::new(),
            wires: locals.into_iter().map(Wire::new).collect::<Result<_, _>>()?,
            secret,
            security: setup.security()?,
            setup,
            next: u32::from_be_bytes([0, a, b, c]),
            notices: VecDeque::new(),
            turns: Turns::default(),
        })
    }

    /// Requests something, which is seen to in turn.
    fn request(
        &mut self,
        of: &[ConnectionId],
        request: impl Fn(Nanos, &mut Connection) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        let now = now();
        for id in of {
            let connection = find(&mut self.ends, *id)?;
            request(now, connection)?;
            if !connection.is_held() {
                connection.hold();
                self.turns.push(id.0);
            }
        }
        Ok(())
    }

    fn receive(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for path in 0..self.wires.len() {
            while let Some(event) = self.wires[path].device_event() {
                any = true;
                self.on_device_event(now, path, event);
            }
            while let Some(arrival) = self.wires[path].receive() {
                any = true;
                self.on_arrival(now, path, &arrival);
                self.wires[path].done(arrival);
            }
        }
        any
    }

    /// Packets of strangers, and of paths that they do not belong to, are dropped.
    fn on_arrival(&mut self, now: Nanos, path: usize, arrival: &Arrival) {
        let mut packet = self.wires[path].packet(arrival).to_vec();
        let Some(number) = packet.get(4..8).and_then(|number| number.first_chunk()) else { return };
        let number = u32::from_be_bytes(*number);
        let Some(end) = self.ends.get_mut(&number) else { return };
        if end.peer.paths.get(path).is_none_or(|peer| peer.number != arrival.from) {
            return;
        }
        let Some(body) = end.opens.open(&mut packet) else { return };
        if body.first() == Some(&CLOSE) && body.len() < HEADER_BYTES {
            let connection = ConnectionId(number);
            self.notices.push_back(Notice { connection, what: What::Closed });
            return self.forget(number);
        }
        end.connection.on_packet(now, PathId(path as u8), body);
    }

    fn on_device_event(&mut self, now: Nanos, by: usize, event: DeviceEvent) {
        let DeviceEvent::OfPort { port, is_up } = event else { return };
        let device = Arc::clone(&self.wires[by].local.device);
        for (at, wire) in self.wires.iter_mut().enumerate() {
            if !wire.local.is_at(&device, port) {
                continue;
            }
            let path = PathId(at as u8);
            wire.local.is_up = is_up;
            for (number, end) in &mut self.ends {
                end.connection.on_carrier(now, path, is_up);
                let connection = ConnectionId(*number);
                self.notices.push_back(Notice { connection, what: What::Path { path, is_up } });
            }
        }
    }

    /// Sends what is due, and reports what happened; false where nothing did.
    fn transmit(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for (number, end) in &mut self.ends {
            managed::on_timeout(now, &mut end.connection, &mut end.manager);
            loop {
                any |= flush(now, end, &mut self.wires);
                let event = managed::poll_event(now, &mut end.connection, &mut end.manager);
                let Some(event) = event else { break };
                any = true;
                let connection = ConnectionId(*number);
                self.notices.push_back(Notice { connection, what: What::Event(event) });
            }
        }
        any
    }

    fn next_due(&mut self) -> Option<Nanos> {
        let turn = self.turns.next_at(now(), &self.ends);
        let ends = self.ends.values();
        let timers = ends.filter_map(|end| managed::next_timeout(&end.connection, &end.manager));
        timers.chain(turn).min()
    }

    fn forget(&mut self, number: u32) {
        let Some(end) = self.ends.remove(&number) else { return };
        for (wire, way) in self.wires.iter_mut().zip(end.ways) {
            wire.retire(way);
        }
    }

    fn mtu(&self) -> u8 {
        self.wires.iter().map(|wire| wire.local.mtu).min().unwrap_or(1)
    }
}

fn find(ends: &mut BTreeMap<u32, End>, id: ConnectionId) -> Result<&mut Connection, NetError> {
    let unknown = NetError::UnknownConnection { number: id.0 };
    ends.get_mut(&id.0).map(|end| &mut end.connection).ok_or(unknown)
}

/// Sends everything that a connection has to send now. Data waits for room; questions and answers
/// that find none are as good as lost on their way.
fn flush(now: Nanos, end: &mut End, wires: &mut [Wire]) -> bool {
    let (mut any, mut packet) = (false, Vec::new());
    loop {
        let primary = end.connection.primary();
        end.connection.on_room(primary, wires[usize::from(primary.0)].has_room());
        packet.clear();
        let Some(path) = end.connection.poll_transmit(now, &mut packet) else { break };
        any = true;
        let tag = end.seals.seal(&mut packet, &[]);
        packet.extend(tag);
        end.send(path, &packet, wires);
    }
    any
}

impl End {
    fn send(&self, path: PathId, packet: &[u8], wires: &mut [Wire]) {
        let at = usize::from(path.0);
        let (way, peer) = (&self.ways[at], &self.peer.paths[at]);
        wires[at].send(&Target { ah: way.ah, number: peer.number, key: peer.key }, packet);
    }
}

impl Addressed for Software {
    fn prepare(&mut self) -> Result<(ConnectionId, Address), NetError> {
        let is_free =
            |number: &u32| !self.ends.contains_key(number) && !self.prepared.contains_key(number);
        let after = |step: u32| (self.next + step) & 0xff_ffff;
        let number = (1..1 << 24).map(after).find(is_free).ok_or(NetError::TooManyConnections)?;
        self.next = number;
        let [a, b, c] = random()?;
        let path = |wire: &Wire| wire.local.address(wire.number(), wire.key);
        let address = Address {
            kind: Kind::Software,
            mtu: self.mtu(),
            number,
            start: u32::from_be_bytes([0, a, b, c]),
            drawn: random()?,
            paths: self.wires.iter().map(path).collect(),
        };
        self.prepared.insert(number, address.clone());
        Ok((ConnectionId(number), address))
    }

    fn connect(&mut self, connection: ConnectionId, peer: &Address) -> Result<(), NetError> {
        let unknown = NetError::UnknownConnection { number: connection.0 };
        let own = self.prepared.get(&connection.0).ok_or(unknown)?;
        own.check_peer(peer)?;
        let leads = own.drawn < peer.drawn;
        let (opener, accepter) =
            if leads { (&own.drawn, &peer.drawn) } else { (&peer.drawn, &own.drawn) };
        let job = self.secret.prover();
        let [first, second] = sealers(self.security, &job, opener, accepter);
        let (seals, opens) = if leads { (first, second) } else { (second, first) };
        let ends = Ends {
            number: own.number,
            peer: peer.number,
            start: own.start,
            peer_start: peer.start,
            packet_bytes: packet_bytes(own.mtu.min(peer.mtu)) - HEADER_BYTES - TAG_BYTES,
            paths: self.wires.len() as u8,
            leads,
            kind: PathKind::Datagram,
        };
        let (mut link, manager) = managed::establish(now(), &self.setup, &ends)?;
        let way = |(wire, peer): (&Wire, _)| {
            AddressHandle::new(&wire.local.device, wire.local.way_to(peer))
        };
        let ways = self.wires.iter().zip(&peer.paths).map(way).collect::<Result<_, _>>()?;
        for (at, _) in self.wires.iter().enumerate().filter(|(_, wire)| !wire.local.is_up) {
            link.on_carrier(now(), PathId(at as u8), false);
        }
        let end = End { connection: link, manager, ways, peer: peer.clone(), seals, opens };
        self.prepared.remove(&connection.0);
        self.ends.insert(connection.0, end);
        self.notices.push_back(Notice { connection, what: What::Connected });
        Ok(())
    }
}

impl Driver for Software {
    fn describe(&self) -> String {
        let path =
            |wire: &Wire| format!("{} port {}", wire.local.path.device, wire.local.path.port);
        let paths: Vec<String> = self.wires.iter().map(path).collect();
        let paths = paths.join(" and ");
        format!("libibverbs, software migration on {paths}: untested on hardware")
    }

    fn send(&mut self, to: ConnectionId, id: u64, message: Vec<u8>) -> Result<(), NetError> {
        let now = now();
        find(&mut self.ends, to)?.send(now, id, message)?;
        self.turns.on_message(now);
        self.transmit(now);
        Ok(())
    }

    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        Ok(find(&mut self.ends, of)?.post_receive(id, buffer)?)
    }

    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        self.request(of, |_, end| end.specify(path))
    }

    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.request(of, |now, end| end.load(now))
    }

    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.request(of, |now, end| end.migrate(now))
    }

    fn status(&self, of: ConnectionId) -> Result<Status, NetError> {
        let end = self.ends.get(&of.0);
        end.map(|end| Status::from(&end.connection))
            .ok_or(NetError::UnknownConnection { number: of.0 })
    }

    fn progress(&mut self) -> bool {
        let now = now();
        let arrived = self.receive(now);
        if let Some(number) = self.turns.begin(now, &self.ends) {
            self.ends.get_mut(&number).into_iter().for_each(|end| end.connection.resume());
        }
        self.transmit(now) || arrived
    }

    fn wait(&mut self, limit: Duration) -> bool {
        self.wires.iter().for_each(Wire::arm);
        if self.progress() || !self.notices.is_empty() {
            return true;
        }
        let rest = self.next_due().map(|at| Duration::from_nanos(at.saturating_sub(now())));
        let fds = self.wires.iter().flat_map(|wire| wire.local.device.fds());
        let of = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut descriptors: Vec<libc::pollfd> = fds.map(of).collect();
        poll(&mut descriptors, rest.map_or(limit, |rest| rest.min(limit)));
        self.wires.iter().for_each(|wire| wire.local.device.silence());
        self.progress()
    }

    fn poll(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Notifies the peer, which may miss it.
    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let number = connection.0;
        if self.prepared.remove(&number).is_some() {
            return Ok(());
        }
        let end = self.ends.get_mut(&number).ok_or(NetError::UnknownConnection { number })?;
        let mut packet = vec![CLOSE, 0, 0, 0];
        packet.extend(end.peer.number.to_be_bytes());
        let tag = end.seals.seal(&mut packet, &[]);
        packet.extend(tag);
        for path in 0..self.wires.len() {
            end.send(PathId(path as u8), &packet, &mut self.wires);
        }
        self.forget(number);
        Ok(())
    }
}
