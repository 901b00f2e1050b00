//! All connections of a process: one socket for each path, shared by all, and what the user asks.
//!
//! Nothing happens by itself: [`Endpoint::progress`] moves what can be moved, [`Endpoint::wait`]
//! rests until something can. Both are called by the program's own calls, or by a
//! [`crate::Service`] that does it beside the program.

mod carriers;
mod connect;
mod drain;
mod due;
mod observe;
mod places;
mod receive;
mod status;
mod transmit;
mod turn;
mod wait;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use laneway_path::connection::MOST_PACKET_BYTES;
use laneway_path::wire::{HEADER_BYTES, MOST_PATHS};
use laneway_path::{Connection, Counters, Event, Manager, Nanos, PathId, Refusal};

use crate::alarm::Alarm;
use crate::clock::now;
use crate::end::End;
use crate::error::NetError;
use crate::handshake::Drawn;
use crate::readiness::{Readiness, Ready};
use crate::secret::{Sealer, Secret, TAG_BYTES, random};
use crate::setup::Setup;
use crate::socket::{MOST_BYTES, Socket};
use crate::turns::Turns;
use crate::wire::{OPEN, Wire};
use carriers::Carriers;
use connect::{Accepted, Opening};
use due::Due;
use observe::Observed;
use places::place;
pub(crate) use receive::CLOSE;
use transmit::Batch;
pub use wait::wait_for_any;

/// Bytes of IP and UDP before a packet.
const IPV4_BYTES: usize = 28;
const IPV6_BYTES: usize = 48;
/// What every network carries.
const LEAST_MTU: usize = 576;
/// The devices and the timer, among the descriptors that are ready.
const DEVICES: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

/// A connection, by the number of its queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// This end of a path. Paths may share a device and an address: then they differ in their ports.
#[derive(Clone, Debug)]
pub struct LocalPath {
    /// Its port is the first one that is tried, or 0 for any.
    pub address: SocketAddr,
    /// The last port that is tried.
    pub last_port: u16,
    /// The device that packets leave and arrive by, and no other.
    pub device: Option<String>,
    /// The longest packet of the network, IP included.
    pub mtu: usize,
}

impl LocalPath {
    /// Any port of an address on a network with packets of 1,500 bytes.
    pub fn at(address: SocketAddr) -> LocalPath {
        LocalPath { address, last_port: address.port(), device: None, mtu: 1500 }
    }

    fn payload_bytes(&self) -> usize {
        let ip = if self.address.is_ipv4() { IPV4_BYTES } else { IPV6_BYTES };
        let packet = (self.mtu.max(LEAST_MTU) - ip).min(MOST_BYTES);
        (packet - HEADER_BYTES - TAG_BYTES).min(MOST_PACKET_BYTES)
    }
}

/// What an endpoint is opened with.
#[derive(Clone, Debug)]
pub struct Options {
    /// 1 to 8 paths, in the same order at both ends.
    pub paths: Vec<LocalPath>,
    /// What all processes of the job know.
    pub secret: Secret,
    /// Whether others may open connections to it.
    pub accepts: bool,
    /// How connections are set up.
    pub setup: Setup,
}

/// What happened to a connection, with the label or the path that it is about.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// It was opened from here, and the peer has accepted.
    Connected,
    /// The peer has opened it, and calls itself so.
    Accepted { label: u64 },
    /// The peer did not answer, or has another secret.
    NoAnswer,
    /// The peer has closed it.
    Closed,
    /// A port of libibverbs that one of its paths begins at came up or went down.
    Path { path: PathId, is_up: bool },
    /// An event of the connection itself.
    Event(Event),
}

/// What happened, and to which connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The connection.
    pub connection: ConnectionId,
    /// What happened to it.
    pub what: What,
}

/// Packets that were dropped, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// For no connection that is here.
    pub strange: u64,
    /// Over another path or from another address than agreed.
    pub misplaced: u64,
    /// With a wrong tag.
    pub forged: u64,
    /// Handshakes with another secret, or out of turn.
    pub refused: u64,
}

/// Connections over the same paths, and the sockets that carry them.
pub struct Endpoint {
    wires: Vec<Wire>,
    paths: Vec<LocalPath>,
    secret: Secret,
    /// Makes the challenges of this endpoint.
    own: Sealer,
    carriers: Carriers,
    accepts: bool,
    setup: Setup,
    ends: Vec<Option<End>>,
    /// How often each place was used, and those that are free.
    generations: Vec<u32>,
    free: Vec<u32>,
    opening: Vec<Opening>,
    /// Connections that others have opened, by what they drew.
    accepted: BTreeMap<Drawn, Accepted>,
    /// How many connections wait for something to arrive at their peers.
    waiting: usize,
    /// Connections that have something to do.
    dirty: Vec<u32>,
    /// Those of which something was requested that waits for its turn.
    turns: Turns,
    /// The number of times that arrivals were polled.
    pub(crate) served: Arc<AtomicU64>,
    /// When a connection wants to be looked at.
    due: Due,
    notices: VecDeque<Notice>,
    /// Events of paths for a thread that asked for them.
    observed: Option<Observed>,
    dropped: Dropped,
    /// What connections have counted that are gone.
    past: Counters,
    buffer: Box<[u8]>,
    batch: Batch,
    readiness: Arc<Readiness>,
    alarm: Alarm,
    ready: Ready,
    looks: u32,
    /// The path and line that something came over last.
    hot: (usize, usize),
    /// The number of consecutive arrivals by it.
    in_a_row: u32,
    /// It is watched apart from the others.
    hot_is_apart: bool,
    /// A thread waits for it as well.
    is_served: bool,
}

impl Endpoint {
    /// Opens a socket for each path.
    pub fn open(options: Options) -> Result<Endpoint, NetError> {
        let Options { paths, secret, accepts, setup } = options;
        if !(1..=MOST_PATHS).contains(&paths.len()) {
            return Err(NetError::Paths { count: paths.len() });
        }
        let open_to_all = paths.iter().find(|path| !path.address.ip().is_loopback());
        if let Some(path) = open_to_all.filter(|_| !secret.is_known) {
            return Err(NetError::NoSecret { address: path.address.ip() });
        }
        let readiness = Arc::new(Readiness::new()?);
        let open = |(number, path): (usize, &LocalPath)| {
            let socket = Socket::open(path.address, path.last_port, path.device.as_deref())?;
            Wire::new(socket, number, path.device.clone(), Arc::clone(&readiness))
        };
        let wires = paths.iter().enumerate().map(open).collect::<Result<Vec<Wire>, NetError>>()?;
        let carriers = Carriers::new(&paths)?;
        if let Some(fd) = carriers.descriptor() {
            readiness.add(fd, DEVICES)?;
        }
        let alarm = Alarm::new()?;
        readiness.add(alarm.fd(), ALARM)?;
        let mut endpoint = Endpoint {
            wires,
            carriers,
            paths,
            secret,
            own: secret.sealer().derive(&random::<32>()?),
            accepts,
            setup,
            ends: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
            opening: Vec::new(),
            accepted: BTreeMap::new(),
            waiting: 0,
            dirty: Vec::new(),
            turns: Turns::default(),
            served: Arc::default(),
            due: Due::new(),
            notices: VecDeque::new(),
            observed: None,
            dropped: Dropped::default(),
            past: Counters::default(),
            buffer: vec![0; MOST_BYTES].into_boxed_slice(),
            batch: Batch::default(),
            readiness,
            alarm,
            ready: Ready::new(),
            looks: 0,
            hot: (0, OPEN),
            in_a_row: 0,
            hot_is_apart: false,
            is_served: false,
        };
        endpoint.begin_with_devices();
        Ok(endpoint)
    }

    /// Where this endpoint is, on each path.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.wires.iter().map(|wire| wire.address).collect()
    }

    /// Packets that were dropped.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The next thing that happened.
    pub fn poll(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Sends a message, at once if it can leave; [`Event::Sent`] reports its arrival, and
    /// gives it back.
    pub fn send(
        &mut self,
        connection: ConnectionId,
        id: u64,
        message: Vec<u8>,
    ) -> Result<(), NetError> {
        self.change(connection, |now, connection, _| connection.send(now, id, message))?;
        let now = now();
        self.turns.on_message(now);
        self.transmit(now);
        Ok(())
    }

    /// Takes a buffer for one message; [`Event::Received`] gives it back with the message in it.
    pub fn post_receive(
        &mut self,
        connection: ConnectionId,
        id: u64,
        buffer: Vec<u8>,
    ) -> Result<(), NetError> {
        self.change(connection, |_, connection, _| connection.post_receive(id, buffer))
    }

    /// Looks at a connection.
    pub fn get(&self, connection: ConnectionId) -> Result<&Connection, NetError> {
        let end = self.ends.get(place(connection.0)).and_then(Option::as_ref);
        end.map(|end| &end.connection)
            .filter(|known| known.number() == connection.0)
            .ok_or(NetError::UnknownConnection { number: connection.0 })
    }

    /// The connections that are there.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.ends.iter().flatten().map(|end| &end.connection)
    }

    /// Alternate path specification, for each of these. What follows from this and from the other
    /// requests is seen to for one connection after the other, beside messages.
    pub fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        self.change_each(of, |_, connection, _| connection.specify(path))
    }

    /// Path loading request, for each of these; [`Event::Armed`] reports its completion.
    pub fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change_each(of, |now, connection, _| connection.load(now))
    }

    /// Path migration, for each of these; refused where one is not armed.
    pub fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change_each(of, |now, connection, _| connection.migrate(now))
    }

    /// A device gained or lost its carrier.
    pub fn on_carrier(&mut self, path: PathId, up: bool) {
        let Ok(wire) = self.wire(path) else { return };
        if std::mem::replace(&mut wire.carrier, up) == up {
            return;
        }
        for id in self.ids() {
            let changed = self.change(id, |now, connection, _| {
                connection.on_carrier(now, path, up);
                Ok(())
            });
            debug_assert_eq!(changed, Ok(()));
        }
    }

    fn ids(&self) -> Vec<ConnectionId> {
        self.connections().map(|connection| ConnectionId(connection.number())).collect()
    }

    fn change_each(
        &mut self,
        of: &[ConnectionId],
        change: impl Fn(Nanos, &mut Connection, &mut Manager) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        of.iter().try_for_each(|id| {
            let end = find(&mut self.ends, *id)?;
            let changed = change(now(), &mut end.connection, &mut end.manager);
            self.wait_for_turn(*id);
            Ok(changed?)
        })
    }

    /// Asks something of a connection, and sees to what follows from it at the next progress.
    fn change(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(Nanos, &mut Connection, &mut Manager) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        let end = find(&mut self.ends, id)?;
        let changed = change(now(), &mut end.connection, &mut end.manager);
        mark(end, place(id.0) as u32, &mut self.dirty);
        Ok(changed?)
    }

    /// Moves what can be moved; false where nothing did.
    pub fn progress(&mut self) -> bool {
        let now = now();
        let arrived = self.receive(now);
        self.go_on_after(arrived, now)
    }

    /// Goes on when everything was taken that has arrived.
    fn go_on_after(&mut self, arrived: bool, now: Nanos) -> bool {
        self.served.fetch_add(1, Ordering::Relaxed);
        if arrived && !self.is_due(now) && self.hand_over(now) {
            return true;
        }
        self.go_on(now) || arrived
    }

    /// What follows from what has arrived, from what was asked for, and from the time.
    fn go_on(&mut self, now: Nanos) -> bool {
        if !self.opening.is_empty() {
            self.go_on_with_handshakes(now);
        }
        if self.waiting > 0 && self.carriers.is_due(now) {
            self.ask_devices();
        }
        let comes = self.due.first().is_some_and(|(at, _)| *at <= now);
        if comes && self.first_due().is_some_and(|at| at <= now) {
            // What waits for an answer must not ask again while the answer lies here.
            self.catch_up(now);
            self.look_at_due(now);
        }
        self.begin_turn(now);
        self.transmit(now)
    }
}

fn find(ends: &mut [Option<End>], id: ConnectionId) -> Result<&mut End, NetError> {
    let end = ends.get_mut(place(id.0)).and_then(Option::as_mut);
    let unknown = NetError::UnknownConnection { number: id.0 };
    end.filter(|end| end.connection.number() == id.0).ok_or(unknown)
}

/// A connection has something to do.
fn mark(end: &mut End, index: u32, dirty: &mut Vec<u32>) {
    if !std::mem::replace(&mut end.is_dirty, true) {
        dirty.push(index);
    }
}
