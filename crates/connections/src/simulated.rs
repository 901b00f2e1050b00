//! Two ends of connections in this process, in virtual time: for programs that are to be tried
//! without a network, and the same in every run.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use laneway_path::wire::MOST_PATHS;
use laneway_path::{Connection, Manager, Nanos, PathId, Refusal};

use crate::driver::kind::PathKind;
use crate::driver::managed::{self, Ends};
use crate::driver::notice::{ConnectionId, Notice, What};
use crate::driver::setup::Setup;
use crate::driver::turns::{Turned, Turns};
use crate::driver::{Driver, Status};
use crate::error::NetError;

const PACKET_BYTES: usize = 1024;
/// The numbers of queue pairs are shared out among both ends.
const SIDES: u32 = 2;

/// One end of a connection.
struct Link {
    connection: Connection,
    manager: Manager,
    is_closed: bool,
    /// Whether it has something to do.
    is_dirty: bool,
}

struct Side {
    links: Vec<Link>,
    /// Places of those that have something to do, and of those that wait for their turn.
    dirty: Vec<u32>,
    turns: Turns,
    /// Packets under way to this side: by their time of arrival and the order in which they left.
    packets: BTreeMap<(Nanos, u64), (u32, PathId, Vec<u8>)>,
    /// What happened, and from when on it can be polled.
    notices: VecDeque<(Nanos, Notice)>,
    /// Its processor is busy until then.
    free_at: Nanos,
}

struct World {
    now: Nanos,
    latency: Nanos,
    packet_time: Nanos,
    sides: [Side; SIDES as usize],
    next: u64,
    /// Whether each path carries packets.
    carries: Vec<bool>,
}

/// One end of simulated connections; its time stands still unless one of the ends makes progress
/// and nothing is left to do at this instant.
pub struct Simulated {
    world: Rc<RefCell<World>>,
    side: usize,
}

/// What lies between the two ends.
pub struct Network {
    world: Rc<RefCell<World>>,
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    /// Connections between the two ends.
    pub connections: u32,
    /// Paths of each connection.
    pub paths: u8,
    /// Of each path.
    pub latency: Duration,
    /// Processor time that a packet takes at either end.
    pub packet_time: Duration,
}

/// Two ends that are connected over a number of paths, each with this latency; packets take no
/// processor time.
pub fn pair(
    paths: u8,
    latency: Duration,
    setup: &Setup,
) -> Result<(Network, [Simulated; 2]), NetError> {
    Simulation { connections: 1, paths, latency, packet_time: Duration::ZERO }.build(setup)
}

impl Simulation {
    /// The two ends, and what lies between them.
    pub fn build(&self, setup: &Setup) -> Result<(Network, [Simulated; 2]), NetError> {
        let Simulation { connections, paths, .. } = *self;
        if !(1..=MOST_PATHS).contains(&usize::from(paths)) {
            return Err(NetError::Paths { count: usize::from(paths) });
        }
        let side = |side: u32| {
            let link =
                |place: u32| link(setup, paths, number(side, place), number(1 - side, place));
            let links = (0..connections).map(link).collect::<Result<Vec<_>, Refusal>>()?;
            Ok::<Side, Refusal>(Side {
                dirty: (0..connections).collect(),
                links,
                turns: Turns::default(),
                packets: BTreeMap::new(),
                notices: VecDeque::new(),
                free_at: 0,
            })
        };
        let world = World {
            now: 0,
            latency: self.latency.as_nanos() as Nanos,
            packet_time: self.packet_time.as_nanos() as Nanos,
            sides: [side(0)?, side(1)?],
            next: 0,
            carries: vec![true; usize::from(paths)],
        };
        let world = Rc::new(RefCell::new(world));
        let ends = [0, 1].map(|side| Simulated { world: Rc::clone(&world), side });
        Ok((Network { world }, ends))
    }
}

/// The number of a queue pair.
fn number(side: u32, place: u32) -> u32 {
    SIDES * place + side + 1
}

fn link(setup: &Setup, paths: u8, number: u32, peer: u32) -> Result<Link, Refusal> {
    let ends = Ends {
        number,
        peer,
        start: 0,
        peer_start: 0,
        packet_bytes: PACKET_BYTES,
        paths,
        leads: number < peer,
        kind: PathKind::Datagram,
    };
    let (connection, manager) = managed::establish(0, setup, &ends)?;
    Ok(Link { connection, manager, is_closed: false, is_dirty: true })
}

impl Link {
    fn next_timeout(&self) -> Option<Nanos> {
        managed::next_timeout(&self.connection, &self.manager).filter(|_| !self.is_closed)
    }
}

impl Turned for Vec<Link> {
    fn waits(&self, place: u32) -> bool {
        self[place as usize].connection.is_held()
    }

    fn is_settled(&self, place: u32) -> bool {
        self[place as usize].connection.is_settled()
    }
}

impl Side {
    fn mark(&mut self, place: u32) {
        if !std::mem::replace(&mut self.links[place as usize].is_dirty, true) {
            self.dirty.push(place);
        }
    }

    /// Something was requested of a connection: it waits for its turn, and messages go on.
    fn wait_for_turn(&mut self, place: u32) {
        let connection = &mut self.links[place as usize].connection;
        if !connection.is_held() {
            connection.hold();
            self.turns.push(place);
        }
        if !connection.is_idle() {
            self.mark(place);
        }
    }

    /// What has something to do at this time, besides what was marked; the packets that arrived.
    fn look(&mut self, now: Nanos) -> u64 {
        let mut arrived = 0;
        while let Some(entry) = self.packets.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), (place, path, packet)) = entry.remove_entry();
            arrived += 1;
            let link = &mut self.links[place as usize];
            if !link.is_closed {
                link.connection.on_packet(at, path, &packet);
                self.mark(place);
            }
        }
        for place in 0..self.links.len() {
            if self.links[place].next_timeout().is_some_and(|at| at <= now) {
                self.mark(place as u32);
            }
        }
        if let Some(place) = self.turns.begin(now, &self.links) {
            self.links[place as usize].connection.resume();
            self.mark(place);
        }
        arrived
    }

    /// When it has something to do, if nothing else arrives.
    fn next_at(&mut self, now: Nanos) -> Option<Nanos> {
        let turn = self.turns.next_at(now, &self.links);
        let timers = self.links.iter().filter_map(Link::next_timeout);
        let arrival = self.packets.keys().next().map(|key| key.0);
        let marked = (!self.dirty.is_empty()).then_some(now);
        let next = timers.chain(arrival).chain(turn).chain(marked).min();
        next.map(|at| at.max(self.free_at))
    }
}

impl World {
    /// Moves what is due now, on both sides; false where nothing was.
    fn settle(&mut self) -> bool {
        [0, 1].map(|side| self.turn(side)).contains(&true)
    }

    /// One turn of the progress engine of a side whose processor is free.
    fn turn(&mut self, from: usize) -> bool {
        let (now, latency, packet_time) = (self.now, self.latency, self.packet_time);
        if self.sides[from].free_at > now {
            return false;
        }
        let arrived = self.sides[from].look(now);
        let mut at = now + arrived * packet_time;
        let mut any = arrived > 0;
        for place in std::mem::take(&mut self.sides[from].dirty) {
            let [side, peer] = both(&mut self.sides, from);
            let link = &mut side.links[place as usize];
            link.is_dirty = false;
            let Link { connection, manager, is_closed: false, .. } = link else { continue };
            managed::on_timeout(now, connection, manager);
            loop {
                let mut packet = Vec::new();
                while let Some(path) = connection.poll_transmit(now, &mut packet) {
                    any = true;
                    at += packet_time;
                    if self.carries[usize::from(path.0)] {
                        let packet = std::mem::take(&mut packet);
                        peer.packets.insert((at + latency, self.next), (place, path, packet));
                        self.next += 1;
                    }
                    packet.clear();
                }
                let Some(event) = managed::poll_event(now, connection, manager) else { break };
                any = true;
                let connection = ConnectionId(connection.number());
                side.notices.push_back((at, Notice { connection, what: What::Event(event) }));
            }
        }
        self.sides[from].free_at = at;
        any
    }

    /// Moves what is due now, or goes to the next time at which something is, if that is not too
    /// late.
    fn step(&mut self, until: Nanos) -> bool {
        if self.settle() {
            return true;
        }
        let now = self.now;
        let notice_at =
            self.sides.iter().filter_map(|side| side.notices.front().map(|(at, _)| *at));
        let notice_at = notice_at.filter(|at| *at > now).min();
        let due = self.sides.iter_mut().filter_map(|side| side.next_at(now));
        match due.chain(notice_at).min().filter(|next| *next <= until) {
            Some(next) => {
                self.now = now.max(next);
                self.settle() || notice_at.is_some_and(|at| at <= self.now)
            }
            None => false,
        }
    }
}

/// A side, and the other one.
fn both(sides: &mut [Side; 2], from: usize) -> [&mut Side; 2] {
    let [first, second] = sides;
    if from == 0 { [first, second] } else { [second, first] }
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
    /// The first connection that this end has.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId(number(self.side as u32, 0))
    }

    /// All connections that this end has.
    pub fn connections(&self) -> Vec<ConnectionId> {
        let count = self.world.borrow().sides[self.side].links.len() as u32;
        (0..count).map(|place| ConnectionId(number(self.side as u32, place))).collect()
    }

    /// The place of a connection that is open.
    fn place(&self, of: ConnectionId) -> Result<u32, NetError> {
        let world = self.world.borrow();
        let place = of.0.saturating_sub(1) / SIDES;
        let link = world.sides[self.side].links.get(place as usize);
        let is_open = link.is_some_and(|link| !link.is_closed && link.connection.number() == of.0);
        if is_open { Ok(place) } else { Err(NetError::UnknownConnection { number: of.0 }) }
    }

    /// Hands something in, which is seen to at once.
    fn hand_in(
        &mut self,
        to: ConnectionId,
        change: impl FnOnce(Nanos, &mut Connection) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        let place = self.place(to)?;
        let mut world = self.world.borrow_mut();
        let now = world.now;
        let side = &mut world.sides[self.side];
        change(now, &mut side.links[place as usize].connection)?;
        side.mark(place);
        Ok(())
    }

    /// Requests something, which is seen to in turn.
    fn request(
        &mut self,
        of: &[ConnectionId],
        change: impl Fn(Nanos, &mut Connection) -> Result<(), Refusal>,
    ) -> Result<(), NetError> {
        for id in of {
            let place = self.place(*id)?;
            let mut world = self.world.borrow_mut();
            let now = world.now;
            let side = &mut world.sides[self.side];
            change(now, &mut side.links[place as usize].connection)?;
            side.wait_for_turn(place);
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
        self.hand_in(to, |now, connection| connection.send(now, id, message))?;
        let mut world = self.world.borrow_mut();
        let now = world.now;
        world.sides[self.side].turns.on_message(now);
        Ok(())
    }

    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        self.hand_in(of, |_, connection| connection.post_receive(id, buffer))
    }

    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        self.request(of, |_, connection| connection.specify(path))
    }

    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.request(of, |now, connection| connection.load(now))
    }

    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        self.request(of, |now, connection| connection.migrate(now))
    }

    fn status(&self, of: ConnectionId) -> Result<Status, NetError> {
        let place = self.place(of)?;
        let world = self.world.borrow();
        Ok(Status::from(&world.sides[self.side].links[place as usize].connection))
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
        let mut world = self.world.borrow_mut();
        let now = world.now;
        let notices = &mut world.sides[self.side].notices;
        notices.front().filter(|(at, _)| *at <= now)?;
        notices.pop_front().map(|(_, notice)| notice)
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        let place = self.place(connection)?;
        let mut world = self.world.borrow_mut();
        let now = world.now;
        let [side, other] = both(&mut world.sides, self.side);
        side.links[place as usize].is_closed = true;
        let peer = &mut other.links[place as usize];
        if !std::mem::replace(&mut peer.is_closed, true) {
            let connection = ConnectionId(peer.connection.number());
            other.notices.push_back((now, Notice { connection, what: What::Closed }));
        }
        Ok(())
    }
}
