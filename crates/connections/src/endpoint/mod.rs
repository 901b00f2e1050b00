//! All connections of a process: one socket for each path, shared by all, and what the user asks.
//!
//! Nothing happens by itself: [`Endpoint::progress`] moves what can be moved, [`Endpoint::wait`]
//! rests until something can. Both are called by the program's own calls, or by a
//! [`crate::Service`] that does it beside the program.

mod connect;
mod connections;
mod drain;
mod driver;
mod handshakes;
mod health;
mod lines;
mod notices;
mod probes;
mod receive;
mod shared;
mod status;
mod streams;
mod transmit;
mod wait;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use laneway_path::connection::MOST_PACKET_BYTES;
use laneway_path::wire::{HEADER_BYTES, MOST_PATHS};
use laneway_path::{Connection, Manager, Nanos, PathId, Refusal};

use crate::driver::kind::PathKind;
use crate::driver::notice::{ConnectionId, Notice, What};
use crate::driver::secret::{Secret, TAG_BYTES};
use crate::driver::setup::Setup;
use crate::error::NetError;
use crate::system::clock::now;
use crate::system::socket::MOST_BYTES;
use connections::Connections;
use handshakes::Handshakes;
use health::Health;
use lines::Lines;
pub use lines::Traffic;
use notices::Notices;
use probes::Probers;
use shared::Pool;
pub use status::{ConnectionStatus, PathStatus, Status};
use streams::Wanted;
use transmit::Batch;
pub use wait::wait_for_any;

/// Bytes of IP and UDP before a packet.
const IPV4_BYTES: usize = 28;
const IPV6_BYTES: usize = 48;
/// What every network carries.
const LEAST_MTU: usize = 576;

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
///
/// It coordinates its parts, none of which holds another: what arrives over the lines goes to the
/// handshakes or to a connection, and what a connection has to send goes to the lines.
pub struct Endpoint {
    paths: Vec<LocalPath>,
    setup: Setup,
    /// What carries the data of connections that are opened from here.
    kind: PathKind,
    lines: Lines,
    health: Health,
    connections: Connections,
    handshakes: Handshakes,
    /// Streams that are to be opened.
    wanted: Wanted,
    notices: Notices,
    probers: Probers,
    dropped: Dropped,
    batch: Batch,
    /// Buffers that connections share.
    pool: Pool,
    /// The number of times that arrivals were polled.
    pub(crate) served: Arc<AtomicU64>,
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
        let kind = setup.kind()?;
        let lines = Lines::open(&paths, accepts)?;
        let probers = Probers::new(&paths);
        let health = Health::new(&paths)?;
        if let Some(devices) = health.descriptor() {
            lines.watch(devices)?;
        }
        Ok(Endpoint {
            paths,
            setup,
            kind,
            lines,
            health,
            connections: Connections::default(),
            handshakes: Handshakes::new(secret, setup.security()?, accepts)?,
            wanted: Wanted::default(),
            notices: Notices::default(),
            probers,
            dropped: Dropped::default(),
            batch: Batch::default(),
            pool: Pool::default(),
            served: Arc::default(),
        })
    }

    /// Where this endpoint is, on each path.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.lines.addresses()
    }

    /// Packets that were dropped.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The next thing that happened.
    pub fn poll(&mut self) -> Option<Notice> {
        self.notices.pop()
    }

    /// Sends a message, at once if it can leave; [`Event::Sent`] reports its arrival, and
    /// gives it back.
    ///
    /// [`Event::Sent`]: laneway_path::Event::Sent
    pub fn send(
        &mut self,
        connection: ConnectionId,
        id: u64,
        message: Vec<u8>,
    ) -> Result<(), NetError> {
        self.change(connection, |now, connection, _| connection.send(now, id, message))?;
        let now = now();
        self.connections.on_message(now);
        self.transmit(now);
        Ok(())
    }

    /// Takes a buffer for one message; [`Event::Received`] gives it back with the message in it.
    ///
    /// [`Event::Received`]: laneway_path::Event::Received
    pub fn post_receive(
        &mut self,
        connection: ConnectionId,
        id: u64,
        buffer: Vec<u8>,
    ) -> Result<(), NetError> {
        self.change(connection, |_, connection, _| connection.post_receive(id, buffer))?;
        self.resume_streams(connection);
        Ok(())
    }

    /// Looks at a connection.
    pub fn get(&self, connection: ConnectionId) -> Result<&Connection, NetError> {
        let end = self.connections.get(connection.0);
        end.map(|end| &end.connection).ok_or(NetError::UnknownConnection { number: connection.0 })
    }

    /// The connections that are there.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().map(|end| &end.connection)
    }

    /// Alternate path specification, for each of these. What follows from this and from the other
    /// requests is seen to for one connection after the other, beside messages.
    pub fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        self.change_each(of, |_, connection, _| connection.specify(path))
    }

    /// Path loading request, for each of these; [`Event::Armed`] reports its completion.
    ///
    /// [`Event::Armed`]: laneway_path::Event::Armed
    pub fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change_each(of, |now, connection, _| connection.load(now))
    }

    /// Path migration, for each of these; refused where one is not armed.
    pub fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change_each(of, |now, connection, _| connection.migrate(now))
    }

    /// A device gained or lost its carrier.
    pub fn on_carrier(&mut self, path: PathId, up: bool) {
        if !self.health.set_carrier(path, up) {
            return;
        }
        if up {
            self.want_streams_of(now(), path);
        }
        for id in self.connections.ids() {
            let changed = self.change(id, |now, connection, _| {
                connection.on_carrier(now, path, up);
                Ok(())
            });
            debug_assert_eq!(changed, Ok(()));
        }
    }

    fn change_each(
        &mut self,
        of: &[ConnectionId],
        change: impl Fn(Nanos, &mut Connection, &mut Manager) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        of.iter().try_for_each(|id| {
            let end = self.connections.find(*id)?;
            let changed = change(now(), &mut end.connection, &mut end.manager);
            self.connections.wait_for_turn(*id);
            Ok(changed?)
        })
    }

    /// Asks something of a connection, and sees to what follows from it at the next progress.
    fn change(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(Nanos, &mut Connection, &mut Manager) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        let end = self.connections.find(id)?;
        let changed = change(now(), &mut end.connection, &mut end.manager);
        self.connections.mark(id.0);
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
        if self.handshakes.is_opening() {
            self.go_on_with_handshakes(now);
        }
        if self.connections.has_waiting() && self.health.is_due(now) {
            let changes = self.health.query();
            self.on_carriers(&changes);
        }
        if self.has_due_streams(now) {
            self.go_on_with_streams(now);
        }
        let comes = self.connections.may_be_due(now);
        if comes && self.connections.first_due().is_some_and(|at| at <= now) {
            // What waits for an answer must not ask again while the answer lies here.
            self.catch_up(now);
            self.connections.mark_due(now);
        }
        self.connections.begin_turn(now);
        self.transmit(now)
    }

    /// Whether something may have to be done now, whatever has arrived.
    fn is_due(&self, now: Nanos) -> bool {
        let asks =
            self.connections.has_waiting() && self.health.next_at().is_some_and(|at| at <= now);
        self.connections.may_be_due(now)
            || asks
            || self.handshakes.is_opening()
            || self.has_due_streams(now)
            || self.connections.is_turn_overdue(now)
    }

    fn on_carriers(&mut self, changes: &[(PathId, bool)]) {
        changes.iter().for_each(|(path, up)| self.on_carrier(*path, *up));
    }
}

#[cfg(test)]
mod fuzz_tests;
