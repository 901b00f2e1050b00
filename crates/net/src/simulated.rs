//! Two ends of one connection in this process, in virtual time: for programs that are to be tried
//! without a network, and the same in every run.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use laneway_path::wire::MOST_PATHS;
use laneway_path::{Connection, Manager, Nanos, PathId, Refusal};

use crate::driver::{Driver, Status};
use crate::endpoint::{ConnectionId, Notice, What};
use crate::error::NetError;
use crate::managed::{self, Ends};
use crate::setup::Setup;

const PACKET_BYTES: usize = 1024;

struct Side {
    connection: Connection,
    manager: Manager,
    notices: VecDeque<Notice>,
    is_closed: bool,
}

struct World {
    now: Nanos,
    latency: Nanos,
    sides: [Side; 2],
    /// Packets under way: by their time of arrival and in the order in which they left.
    packets: BTreeMap<(Nanos, u64), (usize, PathId, Vec<u8>)>,
    next: u64,
    /// Whether each path carries packets.
    carries: Vec<bool>,
}

/// One end of a simulated connection; its time stands still unless one of the ends makes progress
/// and nothing is left to do at this instant.
pub struct Simulated {
    world: Rc<RefCell<World>>,
    side: usize,
}

/// What lies between the two ends.
pub struct Network {
    world: Rc<RefCell<World>>,
}

/// Two ends that are connected over so many paths, each with this latency.
pub fn pair(
    paths: u8,
    latency: Duration,
    setup: &Setup,
) -> Result<(Network, [Simulated; 2]), NetError> {
    if !(1..=MOST_PATHS).contains(&usize::from(paths)) {
        return Err(NetError::Paths { count: usize::from(paths) });
    }
    let side = |number: u32, peer: u32| {
        let ends = Ends {
            number,
            peer,
            start: 0,
            peer_start: 0,
            packet_bytes: PACKET_BYTES,
            paths,
            leads: number < peer,
        };
        let (connection, manager) = managed::establish(0, setup, &ends)?;
        Ok::<Side, Refusal>(Side {
            connection,
            manager,
            notices: VecDeque::new(),
            is_closed: false,
        })
    };
    let world = World {
        now: 0,
        latency: latency.as_nanos() as Nanos,
        sides: [side(1, 2)?, side(2, 1)?],
        packets: BTreeMap::new(),
        next: 0,
        carries: vec![true; usize::from(paths)],
    };
    let world = Rc::new(RefCell::new(world));
    let ends = [0, 1].map(|side| Simulated { world: Rc::clone(&world), side });
    Ok((Network { world }, ends))
}

impl World {
    /// Moves what is due now, on both sides; false where nothing was.
    fn settle(&mut self) -> bool {
        let (now, mut any) = (self.now, false);
        while let Some(entry) = self.packets.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, path, packet) = entry.remove();
            any = true;
            if !self.sides[to].is_closed {
                self.sides[to].connection.on_packet(now, path, &packet);
            }
        }
        for from in 0..2 {
            let Side { connection, manager, notices, is_closed } = &mut self.sides[from];
            if *is_closed {
                continue;
            }
            managed::on_timeout(now, connection, manager);
            loop {
                let mut packet = Vec::new();
                while let Some(path) = connection.poll_transmit(now, &mut packet) {
                    any = true;
                    if self.carries[usize::from(path.0)] {
                        let key = (now + self.latency, self.next);
                        self.packets.insert(key, (1 - from, path, std::mem::take(&mut packet)));
                        self.next += 1;
                    }
                    packet.clear();
                }
                let Some(event) = managed::poll_event(now, connection, manager) else { break };
                any = true;
                let connection = ConnectionId(connection.number());
                notices.push_back(Notice { connection, what: What::Event(event) });
            }
        }
        any
    }

    /// Moves what is due now, or goes to the next time at which something is, if that is not too
    /// late.
    fn step(&mut self, until: Nanos) -> bool {
        if self.settle() {
            return true;
        }
        let timers = self.sides.iter().filter(|side| !side.is_closed);
        let timers = timers.filter_map(|s| managed::next_timeout(&s.connection, &s.manager));
        let next = timers.chain(self.packets.keys().next().map(|key| key.0)).min();
        match next.filter(|next| *next <= until) {
            Some(next) => {
                self.now = self.now.max(next);
                self.settle()
            }
            None => false,
        }
    }
}

impl Network {
    /// The time of both ends.
    pub fn now(&self) -> Nanos {
        self.world.borrow().now
    }

    /// From now on a path carries packets, or drops them in silence.
    pub fn set_carries(&self, path: PathId, carries: bool) -> Result<(), NetError> {
        let mut world = self.world.borrow_mut();
        let known = world.carries.get_mut(usize::from(path.0));
        *known.ok_or(Refusal::UnknownPath { path })? = carries;
        Ok(())
    }
}

impl Simulated {
    /// The connection that this end has.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId(self.world.borrow().sides[self.side].connection.number())
    }

    fn change(
        &mut self,
        of: &[ConnectionId],
        mut change: impl FnMut(Nanos, &mut Connection) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        for id in of {
            self.status(*id)?;
            let mut world = self.world.borrow_mut();
            let now = world.now;
            change(now, &mut world.sides[self.side].connection)?;
        }
        Ok(())
    }
}

impl Driver for Simulated {
    fn describe(&self) -> String {
        let world = self.world.borrow();
        format!("simulated, software migration, {} paths in virtual time", world.carries.len())
    }

    fn send(&mut self, to: ConnectionId, id: u64, message: Vec<u8>) -> Result<(), NetError> {
        let mut message = Some(message);
        self.change(&[to], |now, c| c.send(now, id, message.take().unwrap_or_default()))
    }

    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        let mut buffer = Some(buffer);
        self.change(&[of], |_, c| c.post_receive(id, buffer.take().unwrap_or_default()))
    }

    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        self.change(of, |_, connection| connection.specify(path))
    }

    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change(of, |now, connection| connection.load(now))
    }

    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.change(of, |now, connection| connection.migrate(now))
    }

    fn status(&self, of: ConnectionId) -> Result<Status, NetError> {
        let world = self.world.borrow();
        let side = &world.sides[self.side];
        match !side.is_closed && side.connection.number() == of.0 {
            true => Ok(Status::from(&side.connection)),
            false => Err(NetError::UnknownConnection { number: of.0 }),
        }
    }

    fn progress(&mut self) -> bool {
        self.world.borrow_mut().step(Nanos::MAX)
    }

    fn wait(&mut self, limit: Duration) -> bool {
        let mut world = self.world.borrow_mut();
        if !world.sides[self.side].notices.is_empty() {
            return world.settle();
        }
        let until = world.now.saturating_add(limit.as_nanos() as Nanos);
        world.step(until)
    }

    fn poll(&mut self) -> Option<Notice> {
        self.world.borrow_mut().sides[self.side].notices.pop_front()
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        self.status(connection)?;
        let mut world = self.world.borrow_mut();
        world.sides[self.side].is_closed = true;
        let peer = &mut world.sides[1 - self.side];
        if !std::mem::replace(&mut peer.is_closed, true) {
            let connection = ConnectionId(peer.connection.number());
            peer.notices.push_back(Notice { connection, what: What::Closed });
        }
        Ok(())
    }
}
