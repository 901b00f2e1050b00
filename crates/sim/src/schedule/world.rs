//! The events of a run: ranks start transfers, messages travel, processors take their time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use laneway_core::{At, Port, Progress, Rank, Run, Schedule, Slot, Step};

use super::matching::{End, Matching};
use super::{Delivery, Outcome, SimError, Simulation, Stuck};
use crate::carrier::{Carrier, MessageId};
use crate::network::{HostCost, HostId, Route};

/// What a processor has done for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    /// The sender's part of a send.
    Send(MessageId),
    /// The local work before a receive.
    Post(MessageId),
    /// The receiver's part of a receive.
    Recv(MessageId),
}

/// Everything but the ranks' own places in the schedule, which borrow it while they go on.
struct Wires<'s, 'a, C> {
    simulation: Simulation<'a>,
    ranks: u32,
    eager_bytes: u64,
    carrier: &'s mut C,
    now: f64,
    hosts: Vec<HostId>,
    costs: Vec<HostCost>,
    /// Until when each host's processor is busy.
    busy: Vec<f64>,
    /// Until when each rank is at a local step: what it starts next starts then.
    local: Vec<f64>,
    matching: Matching,
    /// By time, then in the order of their making. Times are not negative, so that they order as
    /// their bits do.
    events: BinaryHeap<Reverse<(u64, u64, Done)>>,
    sequence: u64,
    /// Transfers that are over and whose ranks have not been told.
    over: Vec<(Rank, Slot)>,
    route: Route,
    outcome: Outcome,
}

/// A run in progress.
pub(super) struct World<'s, 'a, C> {
    runs: Vec<Run<'s, dyn Schedule + 's>>,
    /// Ranks that may be able to go on, each once.
    ready: VecDeque<Rank>,
    is_ready: Vec<bool>,
    wires: Wires<'s, 'a, C>,
}

/// The world as one rank's run sees it.
struct RankPort<'w, 's, 'a, C> {
    wires: &'w mut Wires<'s, 'a, C>,
    rank: Rank,
}

impl<'s, 'a, C: Carrier> World<'s, 'a, C> {
    pub fn new(
        simulation: Simulation<'a>,
        schedule: &'s dyn Schedule,
        hosts: Vec<HostId>,
        costs: Vec<HostCost>,
        carrier: &'s mut C,
    ) -> World<'s, 'a, C> {
        let ranks = schedule.ranks();
        let wires = Wires {
            eager_bytes: simulation.network.eager_bytes(),
            simulation,
            ranks,
            carrier,
            now: 0.0,
            busy: vec![0.0; costs.len()],
            local: vec![0.0; ranks as usize],
            hosts,
            costs,
            matching: Matching::new(ranks),
            events: BinaryHeap::new(),
            sequence: 0,
            over: Vec::new(),
            route: Route::default(),
            outcome: Outcome { per_rank: vec![0.0; ranks as usize], ..Outcome::default() },
        };
        World {
            runs: (0..ranks).map(|rank| Run::new(schedule, rank)).collect(),
            ready: (0..ranks).collect(),
            is_ready: vec![true; ranks as usize],
            wires,
        }
    }

    /// Instant after instant, until nothing is under way.
    pub fn run(mut self) -> Result<Outcome, SimError> {
        let mut arrived = Vec::new();
        loop {
            self.go_on()?;
            let wires = &mut self.wires;
            let paid = wires.events.peek().map(|Reverse((bits, ..))| f64::from_bits(*bits));
            let moved = wires.carrier.next(wires.now);
            let Some(now) = paid.into_iter().chain(moved).min_by(f64::total_cmp) else { break };
            wires.now = now;
            if moved.is_some_and(|time| time <= now) {
                wires.carrier.arrived(now, &mut arrived);
                for id in arrived.drain(..) {
                    wires.arrive(id);
                }
            }
            wires.pay()?;
        }
        self.conclude()
    }

    /// Lets every rank go on that can, within this instant.
    fn go_on(&mut self) -> Result<(), SimError> {
        loop {
            for (rank, slot) in self.wires.over.drain(..) {
                self.runs[rank as usize].done(slot);
                if !std::mem::replace(&mut self.is_ready[rank as usize], true) {
                    self.ready.push_back(rank);
                }
            }
            let Some(rank) = self.ready.pop_front() else { return Ok(()) };
            self.is_ready[rank as usize] = false;
            let run = &mut self.runs[rank as usize];
            if run.poll(&mut RankPort { wires: &mut self.wires, rank })? {
                let wires = &mut self.wires;
                let end = wires.now.max(wires.local[rank as usize]);
                wires.outcome.per_rank[rank as usize] = end;
                wires.outcome.finish = wires.outcome.finish.max(end);
            }
        }
    }

    /// Nothing moves any more: is everybody done and everything received?
    fn conclude(self) -> Result<Outcome, SimError> {
        let mut stuck = Vec::new();
        for (rank, run) in self.runs.iter().enumerate() {
            let rank = rank as Rank;
            stuck.extend(run.blocked().map(|(lane, round, gate)| {
                let gate = gate.copied();
                Stuck { rank, lane, round, gate }
            }));
        }
        let Wires { matching, now, mut outcome, .. } = self.wires;
        if !stuck.is_empty() {
            return Err(SimError::Deadlock { at: now, stuck });
        }
        if let Some(message) = matching.unreceived() {
            let (from, to, chan, bytes) = (message.from, message.to, message.chan, message.bytes);
            return Err(SimError::Unreceived { from, to, chan, bytes });
        }
        outcome.messages = matching.matched;
        Ok(outcome)
    }
}

impl<C: Carrier> Wires<'_, '_, C> {
    /// Gives a host's processor something to do, from `from` on; when it is done.
    fn work(&mut self, host: HostId, from: f64, seconds: f64) -> f64 {
        let busy = &mut self.busy[host as usize];
        *busy = busy.max(from) + seconds;
        *busy
    }

    fn later(&mut self, time: f64, done: Done) {
        self.sequence += 1;
        self.events.push(Reverse((time.to_bits(), self.sequence, done)));
    }

    /// Takes every event of this instant.
    fn pay(&mut self) -> Result<(), SimError> {
        while let Some(&Reverse((bits, _, done))) = self.events.peek() {
            if f64::from_bits(bits) > self.now {
                break;
            }
            self.events.pop();
            match done {
                Done::Send(id) => {
                    self.end_eager_send(id);
                    self.paid(id)?;
                }
                Done::Post(id) => self.post(id)?,
                Done::Recv(id) => self.complete(id),
            }
        }
        Ok(())
    }

    fn is_eager(&self, id: MessageId) -> bool {
        self.matching.messages[id as usize].bytes <= self.eager_bytes
    }

    fn is_within_a_host(&self, id: MessageId) -> bool {
        let message = &self.matching.messages[id as usize];
        self.hosts[message.from as usize] == self.hosts[message.to as usize]
    }

    /// The sender's part is done: the message leaves as soon as it may.
    fn paid(&mut self, id: MessageId) -> Result<(), SimError> {
        self.matching.messages[id as usize].ready = true;
        self.depart(id)
    }

    fn end_eager_send(&mut self, id: MessageId) {
        let message = &self.matching.messages[id as usize];
        if let (true, Some(slot)) = (self.is_eager(id), message.send) {
            self.over.push((message.from, slot));
        }
    }

    fn post(&mut self, id: MessageId) -> Result<(), SimError> {
        let message = &mut self.matching.messages[id as usize];
        message.posted = true;
        if message.arrived {
            self.receive(id);
            return Ok(());
        }
        self.depart(id)
    }

    /// Sends the message on its way, if it may leave now.
    fn depart(&mut self, id: MessageId) -> Result<(), SimError> {
        let eager = self.is_eager(id);
        let message = &mut self.matching.messages[id as usize];
        if !message.ready || message.departed || !(eager || message.posted) {
            return Ok(());
        }
        message.departed = true;
        let (from, to, bytes) = (message.from, message.to, message.bytes);
        self.outcome.bytes += bytes;
        if self.is_within_a_host(id) {
            self.arrive(id);
            return Ok(());
        }
        self.outcome.flows += 1;
        self.find_route(self.hosts[from as usize], self.hosts[to as usize])?;
        self.carrier.start(self.now, id, bytes, &self.route);
        Ok(())
    }

    fn find_route(&mut self, from: HostId, to: HostId) -> Result<(), SimError> {
        let route = &mut self.route;
        route.resources.clear();
        (route.latency, route.most) = (0.0, f64::INFINITY);
        self.simulation.network.route(from, to, route);
        let resources = self.simulation.network.resources().len();
        let why = if route.resources.iter().any(|&resource| resource as usize >= resources) {
            "passes a resource that there is not"
        } else if !route.latency.is_finite() || route.latency < 0.0 {
            "has a latency that cannot be"
        } else if route.most.is_nan() || route.most <= 0.0 {
            "has no rate"
        } else {
            return Ok(());
        };
        Err(SimError::Network { what: format!("the way from host {from} to {to} {why}") })
    }

    /// The last byte is there.
    fn arrive(&mut self, id: MessageId) {
        let eager = self.is_eager(id);
        let message = &mut self.matching.messages[id as usize];
        message.arrived = true;
        if let (false, Some(slot)) = (eager, message.send) {
            self.over.push((message.from, slot));
        }
        if message.posted {
            self.receive(id);
        }
    }

    /// Both ends are there: the receiver's processor takes the message in.
    fn receive(&mut self, id: MessageId) {
        let message = &self.matching.messages[id as usize];
        let (to, bytes) = (self.hosts[message.to as usize], message.bytes);
        let cost = self.costs[to as usize];
        if self.is_within_a_host(id) {
            return self.complete(id);
        }
        let end = self.work(to, self.now, cost.per_recv + bytes as f64 * cost.per_byte);
        if end > self.now { self.later(end, Done::Recv(id)) } else { self.complete(id) }
    }

    fn complete(&mut self, id: MessageId) {
        let message = self.matching.messages[id as usize];
        if let Some(slot) = message.recv {
            self.over.push((message.to, slot));
        }
        if let Some(observer) = &mut self.simulation.observer {
            observer.delivered(&Delivery {
                from: message.from,
                to: message.to,
                chan: message.chan,
                bytes: message.bytes,
                start: message.start,
                end: self.now,
            });
        }
        self.matching.remove(id);
    }
}

impl<C: Carrier> RankPort<'_, '_, '_, C> {
    /// When this rank can start something: it may be at a local step until then.
    fn from(&self) -> f64 {
        self.wires.now.max(self.wires.local[self.rank as usize])
    }

    fn local(&mut self, step: &Step) -> Result<(), SimError> {
        let Some(cost) = self.wires.simulation.local_cost else { return Ok(()) };
        let seconds = cost(self.rank, step);
        if !seconds.is_finite() || seconds < 0.0 {
            let what = format!("rank {} takes {seconds} s for {step:?}", self.rank);
            return Err(SimError::Network { what });
        }
        let (me, from) = (self.rank as usize, self.from());
        self.wires.local[me] = self.wires.work(self.wires.hosts[me], from, seconds);
        Ok(())
    }

    /// Adds this rank's end of a message.
    fn meet(&mut self, end: End, at: At, step: &Step) -> Result<MessageId, SimError> {
        let (peer, chan, bytes) = match *step {
            Step::Send { to, chan, span } => (to, chan, span.len),
            Step::Recv { from, chan, span } => (from, chan, span.len),
            _ => (Rank::MAX, 0, 0),
        };
        let (rank, ranks) = (self.rank, self.wires.ranks);
        if peer >= ranks {
            return Err(SimError::Peer { rank, peer, ranks });
        }
        let (from, to) = if end == End::Send { (rank, peer) } else { (peer, rank) };
        let (id, met) = self.wires.matching.add(end, (from, to, chan), bytes, at.slot);
        let other = self.wires.matching.messages[id as usize].bytes;
        if met && other != bytes {
            let (sent, received) = if end == End::Send { (bytes, other) } else { (other, bytes) };
            return Err(SimError::Length { from, to, chan, sent, received });
        }
        Ok(id)
    }

    fn send(&mut self, at: At, step: &Step) -> Result<Progress, SimError> {
        let id = self.meet(End::Send, at, step)?;
        let (from, wires) = (self.from(), &mut *self.wires);
        let message = &mut wires.matching.messages[id as usize];
        message.start = from;
        let bytes = message.bytes as f64;
        let host = wires.hosts[self.rank as usize];
        let HostCost { per_send, per_byte, .. } = wires.costs[host as usize];
        let end = match wires.is_within_a_host(id) {
            true => from,
            false => wires.work(host, from, per_send + bytes * per_byte),
        };
        if end > wires.now {
            wires.later(end, Done::Send(id));
            return Ok(Progress::Pending);
        }
        let eager = wires.is_eager(id);
        wires.paid(id)?;
        Ok(if eager { Progress::Done } else { Progress::Pending })
    }

    fn recv(&mut self, at: At, step: &Step) -> Result<Progress, SimError> {
        let id = self.meet(End::Recv, at, step)?;
        let from = self.from();
        if from > self.wires.now {
            self.wires.later(from, Done::Post(id));
        } else {
            self.wires.post(id)?;
        }
        Ok(Progress::Pending)
    }
}

impl<C: Carrier> Port for RankPort<'_, '_, '_, C> {
    type Error = SimError;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, SimError> {
        match step {
            Step::Send { .. } => self.send(at, step),
            Step::Recv { .. } => self.recv(at, step),
            _ => {
                self.local(step)?;
                Ok(Progress::Done)
            }
        }
    }
}
