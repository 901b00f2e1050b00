//! Connections that a device migrates by itself: reliable queue pairs with an alternate path.
//!
//! Untested on hardware. Devices load a path as packets go both ways: a connection without traffic
//! stays in REARM. They find a dead path by their own timeouts and retries; a port of this machine
//! that goes down is left at once. A peer that is closed is not seen before something is sent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use laneway_path::{Cause, Event, MigrationState, Nanos, OnArmed, OnMigrated, PathId};

use super::Addressed;
use super::address::{Address, Kind};
use super::device::{Device, DeviceEvent};
use super::ffi::*;
use super::local::Local;
use super::pair::Pair;
use super::queue_pair::QueuePair;
use crate::driver::notice::{ConnectionId, Notice, What};
use crate::driver::secret::random;
use crate::driver::setup::Setup;
use crate::driver::{Driver, Status};
use crate::error::NetError;
use crate::system::clock::now;
use crate::system::readiness::poll;

type Events = VecDeque<Event>;

pub(super) struct Hardware {
    pairs: BTreeMap<u32, Pair>,
    device: Arc<Device>,
    locals: Vec<Local>,
    setup: Setup,
    notices: VecDeque<Notice>,
}

impl Hardware {
    pub fn new(locals: Vec<Local>, setup: Setup) -> Result<Hardware, NetError> {
        if setup.policy.fail_back.is_some() {
            let why = "a device goes back to no preferred path by itself: ask for it by `migrate`";
            return Err(NetError::Device { why: why.into() });
        }
        let device = Arc::clone(&locals[0].device);
        Ok(Hardware { pairs: BTreeMap::new(), device, locals, setup, notices: VecDeque::new() })
    }

    fn pair(&mut self, id: ConnectionId) -> Result<&mut Pair, NetError> {
        self.pairs.get_mut(&id.0).ok_or(NetError::UnknownConnection { number: id.0 })
    }

    /// Changes a pair, and reports the events that follow, also from a refused change.
    fn change(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(&mut Pair, &Setup, &[Local], &mut Events) -> Result<(), NetError>,
    ) -> Result<(), NetError> {
        let unknown = NetError::UnknownConnection { number: id.0 };
        let pair = self.pairs.get_mut(&id.0).ok_or(unknown)?;
        let mut events = VecDeque::new();
        let changed = change(pair, &self.setup, &self.locals, &mut events);
        self.report_events(now(), id, events);
        changed
    }

    /// Reports events, and does what the paper gives to the asynchronous thread (3.2).
    fn report_events(&mut self, now: Nanos, id: ConnectionId, mut events: VecDeque<Event>) {
        while let Some(event) = events.pop_front() {
            let pair = self.pairs.get_mut(&id.0);
            match (&event, pair) {
                (Event::Armed { .. }, Some(pair))
                    if self.setup.policy.on_armed == OnArmed::Migrate =>
                {
                    // Armed, as the event says; where it is not any more, nothing is to do.
                    _ = pair.migrate(now, Cause::Request, &mut events);
                }
                (Event::Migrated { from, .. }, Some(pair)) => {
                    let wanted = self.setup.policy.on_migrated;
                    let is_up = self.locals[usize::from(from.0)].is_up;
                    // A pair that is broken meanwhile has no alternate path.
                    if wanted != OnMigrated::Nothing
                        && pair.specify(*from).is_ok()
                        && wanted == OnMigrated::Rearm
                        && is_up
                        && pair.load(now, &self.setup, &self.locals).is_err()
                    {
                        events.push_back(Event::Unhealthy { path: *from });
                    }
                }
                _ => {}
            }
            self.notices.push_back(Notice { connection: id, what: What::Event(event) });
        }
    }

    fn on_device_event(&mut self, now: Nanos, event: DeviceEvent) {
        match event {
            DeviceEvent::OfPair { pair, what } => self.on_pair_event(now, pair, what),
            DeviceEvent::OfPort { port, is_up } => self.on_port(now, port, is_up),
            DeviceEvent::Fatal => self.pairs.values_mut().for_each(Pair::fail),
            DeviceEvent::Other => {}
        }
    }

    fn on_pair_event(&mut self, now: Nanos, of: *const ibv_qp, what: u32) {
        let Some((number, pair)) = self.pairs.iter_mut().find(|(_, pair)| pair.is(of)) else {
            return;
        };
        let id = ConnectionId(*number);
        let mut events = VecDeque::new();
        pair.observe(now, Cause::Failure, &mut events);
        match (what, pair.seen().alternate) {
            (IBV_EVENT_COMM_EST, _) => events.push_back(Event::Established),
            (IBV_EVENT_SQ_DRAINED, _) => events.push_back(Event::Drained),
            (IBV_EVENT_PATH_MIG_ERR, Some(path)) => events.push_back(Event::Unhealthy { path }),
            _ => {}
        }
        self.report_events(now, id, events);
    }

    /// A port of this machine went down or came back.
    fn on_port(&mut self, now: Nanos, port: u8, is_up: bool) {
        let mut paths = Vec::new();
        for (at, local) in self.locals.iter_mut().enumerate() {
            if local.is_at(&self.device, port) {
                local.is_up = is_up;
                paths.push(PathId(at as u8));
            }
        }
        let ids: Vec<u32> = self.pairs.keys().copied().collect();
        for (number, path) in ids.iter().flat_map(|id| paths.iter().map(move |path| (*id, *path))) {
            let connection = ConnectionId(number);
            self.notices.push_back(Notice { connection, what: What::Path { path, is_up } });
            let mut events = VecDeque::new();
            if let Some(pair) = self.pairs.get_mut(&number) {
                pair.observe(now, Cause::Failure, &mut events);
                let Status { primary, alternate, migration, .. } = pair.seen();
                let other = alternate.map(|path| self.locals[usize::from(path.0)].is_up);
                match (is_up, migration) {
                    (false, MigrationState::Armed) if path == primary && other == Some(true) => {
                        // The device would find out by itself, after all its retries.
                        _ = pair.migrate(now, Cause::Failure, &mut events);
                    }
                    (false, MigrationState::Armed | MigrationState::Rearm)
                        if alternate == Some(path) =>
                    {
                        events.push_back(Event::Unhealthy { path });
                    }
                    (true, MigrationState::Migrated)
                        if pair.wants(path)
                            && self.setup.policy.on_migrated == OnMigrated::Rearm =>
                    {
                        // Where it fails, the next event of the port is the next try.
                        _ = pair.load(now, &self.setup, &self.locals);
                    }
                    _ => {}
                }
            }
            self.report_events(now, connection, events);
        }
    }

    fn descriptors(&self) -> [libc::pollfd; 2] {
        self.device.fds().map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
    }
}

impl Addressed for Hardware {
    fn prepare(&mut self) -> Result<(ConnectionId, Address), NetError> {
        let queue_pair = QueuePair::new(&self.device, IBV_QPT_RC)?;
        let primary = self.setup.primary;
        queue_pair.init(self.locals[usize::from(primary.0)].path.port)?;
        let number = queue_pair.number();
        let [a, b, c] = random()?;
        let address = Address {
            kind: Kind::Hardware,
            mtu: self.locals.iter().map(|local| local.mtu).min().unwrap_or(1),
            number,
            start: u32::from_be_bytes([0, a, b, c]),
            drawn: random()?,
            paths: self.locals.iter().map(|local| local.address(number, 0)).collect(),
        };
        self.pairs.insert(number, Pair::new(queue_pair, address.clone(), primary));
        Ok((ConnectionId(number), address))
    }

    fn connect(&mut self, connection: ConnectionId, peer: &Address) -> Result<(), NetError> {
        self.change(connection, |pair, setup, locals, _| pair.connect(setup, locals, peer))?;
        self.notices.push_back(Notice { connection, what: What::Connected });
        let primary = self.setup.primary;
        let next = PathId((primary.0 + 1) % self.locals.len() as u8);
        if self.setup.arms && next != primary {
            // A device that cannot do it carries the connection all the same.
            let loaded = self.specify(&[connection], next).and_then(|()| self.load(&[connection]));
            if loaded.is_err() {
                let what = What::Event(Event::Unhealthy { path: next });
                self.notices.push_back(Notice { connection, what });
            }
        }
        Ok(())
    }
}

impl Driver for Hardware {
    fn describe(&self) -> String {
        let name = &self.device.name;
        format!("libibverbs, hardware migration on {name}: untested on hardware")
    }

    fn send(&mut self, to: ConnectionId, id: u64, message: Vec<u8>) -> Result<(), NetError> {
        let most = self.locals.iter().map(|local| local.most_message).min().unwrap_or(0);
        match message.len() > most {
            true => Err(NetError::Message { bytes: message.len(), most }),
            false => self.pair(to)?.send(id, message),
        }
    }

    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        self.pair(of)?.post_receive(id, buffer)
    }

    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        let now = now();
        of.iter().try_for_each(|id| {
            self.change(*id, |pair, _, _, events| {
                pair.observe(now, Cause::Failure, events);
                pair.specify(path)
            })
        })
    }

    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        let now = now();
        of.iter().try_for_each(|id| {
            self.change(*id, |pair, setup, locals, events| {
                pair.observe(now, Cause::Failure, events);
                pair.load(now, setup, locals)
            })
        })
    }

    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        let now = now();
        of.iter().try_for_each(|id| {
            self.change(*id, |pair, _, _, events| pair.migrate(now, Cause::Request, events))
        })
    }

    fn status(&self, of: ConnectionId) -> Result<Status, NetError> {
        let pair = self.pairs.get(&of.0);
        pair.ok_or(NetError::UnknownConnection { number: of.0 })?.status()
    }

    fn progress(&mut self) -> bool {
        let now = now();
        let mut any = false;
        while let Some(event) = self.device.event() {
            any = true;
            self.on_device_event(now, event);
        }
        let mut reports = Vec::new();
        for (number, pair) in &mut self.pairs {
            let mut events = VecDeque::new();
            pair.complete(&mut events);
            if pair.next_query().is_some_and(|at| at <= now) {
                pair.observe(now, Cause::Failure, &mut events);
            }
            if !events.is_empty() {
                reports.push((ConnectionId(*number), events));
            }
        }
        any |= !reports.is_empty();
        reports.into_iter().for_each(|(id, events)| self.report_events(now, id, events));
        any
    }

    fn wait(&mut self, limit: Duration) -> bool {
        self.pairs.values().for_each(Pair::arm);
        if self.progress() || !self.notices.is_empty() {
            return true;
        }
        let next = self.pairs.values().filter_map(Pair::next_query).min();
        let rest = next.map(|at| Duration::from_nanos(at.saturating_sub(now())));
        poll(&mut self.descriptors(), rest.map_or(limit, |rest| rest.min(limit)));
        self.device.silence();
        self.progress()
    }

    fn poll(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let gone = self.pairs.remove(&connection.0);
        gone.map(drop).ok_or(NetError::UnknownConnection { number: connection.0 })
    }
}
