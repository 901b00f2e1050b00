//! Runs any schedule on a simulated cluster, by events alone: no thread, no clock, no byte moved.
//!
//! Begin with [`simulate`]; what happens to a message is in `cluster/mod.rs`.

use std::cell::Cell;
use std::collections::VecDeque;

use laneway_core::{At, Port, Progress, Rank, Run, Schedule, Step};

use crate::carrier::{Carrier, MessageId};
use crate::cluster::{Cluster, Cut, Envelope, Label, Observer, Over, Pattern, Rest};
use crate::error::{SimError, Stuck};
use crate::flow::Flows;
use crate::network::{Fairness, HostId, Network};

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The time at which the last rank was done, in seconds.
    pub finish: f64,
    /// The time at which each rank was done, in seconds.
    pub per_rank: Vec<f64>,
    /// The number of received messages.
    pub messages: u64,
    /// The length of all messages, without the headers of the network.
    pub bytes: u64,
    /// The number of messages that crossed the network: the others stayed within a host.
    pub flows: u64,
    /// The number of share computations: the cost of the run, the same on any machine.
    pub shares: u64,
}

/// How much work a simulation may be, and how much it was: equal on any machine.
#[derive(Debug)]
pub struct Effort {
    most: u64,
    spent: Cell<u64>,
}

/// The end of a transfer is about as much work as so many shares of links.
const WORK_OF_TRANSFER: u64 = 8;

impl Effort {
    /// At most so many units, a unit being a flow's share that is worked out.
    pub fn new(most: u64) -> Effort {
        Effort { most, spent: Cell::new(0) }
    }

    /// The units of all simulations that had this limit, also of those that were given up.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }
}

/// The processor time of a copy or a reduction on a rank, in seconds.
pub type LocalCost<'a> = &'a dyn Fn(Rank, &Step) -> f64;

/// The configuration of a run.
pub struct Simulation<'a> {
    network: &'a dyn Network,
    placement: Option<&'a [HostId]>,
    local_cost: Option<LocalCost<'a>>,
    fairness: Fairness,
    /// Virtual seconds after which it is given up.
    limit: f64,
    /// For how long the whole run occupies each resource; empty if that is not known.
    occupied: &'a [f64],
    effort: Option<&'a Effort>,
    /// The part of its length by which a transfer may end early.
    coarse: f64,
    observer: Option<&'a mut (dyn Observer + Send)>,
    progress: &'a dyn laneway_core::Observer,
}

/// Runs a schedule on a network of fluid flows; `placement` gives each rank's host, which is the
/// one of its own number by default.
pub fn simulate(
    network: &dyn Network,
    schedule: &dyn Schedule,
    placement: Option<&[HostId]>,
) -> Result<Outcome, SimError> {
    let mut simulation = Simulation::new(network);
    simulation.placement = placement;
    simulation.run(schedule)
}

impl<'a> Simulation<'a> {
    /// The defaults: rank r on host r, local steps without cost, no limit and no observer.
    pub fn new(network: &'a dyn Network) -> Simulation<'a> {
        let fairness = network.fairness();
        let (placement, local_cost, observer, limit) = (None, None, None, f64::INFINITY);
        let (progress, effort, coarse, occupied) = (&(), None, 0.0, &[][..]);
        Simulation {
            network,
            placement,
            local_cost,
            fairness,
            limit,
            occupied,
            effort,
            coarse,
            observer,
            progress,
        }
    }

    /// Places rank r on host `hosts[r]`.
    pub fn placed(mut self, hosts: &'a [HostId]) -> Simulation<'a> {
        self.placement = Some(hosts);
        self
    }

    /// Sets the cost of copies and reductions; by default 0.
    pub fn local_cost(mut self, cost: LocalCost<'a>) -> Simulation<'a> {
        self.local_cost = Some(cost);
        self
    }

    /// Sets another fairness than the network's.
    pub fn fairness(mut self, fairness: Fairness) -> Simulation<'a> {
        self.fairness = fairness;
        self
    }

    /// Sets a limit of virtual time, after which the run fails with [`SimError::Limit`].
    pub fn within(mut self, seconds: f64) -> Simulation<'a> {
        self.limit = seconds;
        self
    }

    /// Says for how many seconds the whole run occupies each resource at its full rate, so that a
    /// run with a limit also fails as soon as what has not left yet cannot arrive within it. Only
    /// for networks whose rates do not change.
    pub fn occupying(mut self, seconds: &'a [f64]) -> Simulation<'a> {
        self.occupied = seconds;
        self
    }

    /// Counts the work, and gives it up with [`SimError::Effort`] when it is more than is allowed.
    pub fn effort(mut self, effort: &'a Effort) -> Simulation<'a> {
        self.effort = Some(effort);
        self
    }

    /// Lets a transfer, or its latency, end early by up to this part of it, so that ends that are
    /// near each other are worked out together: less work, and times that are about as much too
    /// short. By default 0, which is exact.
    pub fn coarse(mut self, part: f64) -> Simulation<'a> {
        self.coarse = part;
        self
    }

    /// Sets an observer of received messages and, where it asks for them, of loads.
    pub fn observed(mut self, observer: &'a mut (dyn Observer + Send)) -> Simulation<'a> {
        self.observer = Some(observer);
        self
    }

    /// Sets an observer of progress, in rounds of all ranks.
    pub fn progress(mut self, observer: &'a dyn laneway_core::Observer) -> Simulation<'a> {
        self.progress = observer;
        self
    }

    /// Runs with the fluid engine.
    pub fn run(self, schedule: &dyn Schedule) -> Result<Outcome, SimError> {
        let mut flows = Flows::with(self.network.resources(), self.fairness).coarse(self.coarse);
        let mut outcome = self.run_on(schedule, &mut flows)?;
        outcome.shares = flows.shares();
        Ok(outcome)
    }

    /// Runs with another engine.
    pub fn run_on<C: Carrier>(
        self,
        schedule: &dyn Schedule,
        carrier: &mut C,
    ) -> Result<Outcome, SimError> {
        let hosts = self.hosts(schedule.ranks())?;
        let mut cluster = Cluster::new(self.network, hosts, carrier, self.observer)?;
        if self.limit.is_finite() && !self.occupied.is_empty() {
            cluster.rest = Some(Rest::new(self.occupied, self.limit, self.coarse));
        }
        let limits = Limits { seconds: self.limit, effort: self.effort };
        World::new(cluster, self.local_cost, schedule).run(limits, self.progress)
    }

    fn hosts(&self, ranks: u32) -> Result<Vec<HostId>, SimError> {
        let placed: Vec<HostId> = match self.placement {
            Some(hosts) => hosts.to_vec(),
            None => (0..ranks).collect(),
        };
        match placed.len() == ranks as usize {
            true => Ok(placed),
            false => Err(SimError::Placement { ranks, placed: placed.len() as u32 }),
        }
    }
}

/// When a run is given up.
#[derive(Clone, Copy)]
struct Limits<'a> {
    /// Of virtual time.
    seconds: f64,
    effort: Option<&'a Effort>,
}

/// The number of transfers after which progress is reported.
const REPORT_EVERY: u64 = 1 << 16;

/// What the ranks act on while they go on.
struct Stage<'a, C> {
    cluster: Cluster<'a, C>,
    local_cost: Option<LocalCost<'a>>,
    /// Until when each rank is at a local step: what it starts next starts then.
    local: Vec<f64>,
}

/// A run in progress.
struct World<'s, 'a, C> {
    runs: Vec<Run<'s, dyn Schedule + 's>>,
    /// Ranks that may be able to go on, each once.
    ready: VecDeque<Rank>,
    is_ready: Vec<bool>,
    stage: Stage<'a, C>,
    outcome: Outcome,
    /// Transfers that are over since the last report of progress.
    over_unreported: u64,
    /// Transfers that are over, and the work that was counted before.
    over: u64,
    counted: u64,
}

impl<'s, 'a, C: Carrier> World<'s, 'a, C> {
    fn new(
        cluster: Cluster<'a, C>,
        local_cost: Option<LocalCost<'a>>,
        schedule: &'s dyn Schedule,
    ) -> World<'s, 'a, C> {
        let ranks = schedule.ranks();
        World {
            runs: (0..ranks).map(|rank| Run::new(schedule, rank)).collect(),
            ready: (0..ranks).collect(),
            is_ready: vec![true; ranks as usize],
            stage: Stage { cluster, local_cost, local: vec![0.0; ranks as usize] },
            outcome: Outcome { per_rank: vec![0.0; ranks as usize], ..Outcome::default() },
            over_unreported: 0,
            over: 0,
            counted: 0,
        }
    }

    /// Adds the work since the last time; an error if it is too much.
    fn count(&mut self, effort: &Effort) -> Result<(), SimError> {
        let work = WORK_OF_TRANSFER * self.over + self.stage.cluster.carrier.work();
        effort.spent.set(effort.spent.get() + work - self.counted);
        self.counted = work;
        match effort.spent.get() > effort.most {
            true => Err(SimError::Effort { most: effort.most }),
            false => Ok(()),
        }
    }

    /// Instant after instant, until nothing is under way.
    fn run(
        mut self,
        limits: Limits,
        progress: &dyn laneway_core::Observer,
    ) -> Result<Outcome, SimError> {
        self.go_on()?;
        while self.stage.cluster.step()? {
            if self.over_unreported > REPORT_EVERY {
                let rounds = self.runs.iter().map(Run::rounds);
                let (done, all) = rounds.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                progress.progress(done, all, "rounds simulated");
                self.over_unreported = 0;
            }
            if let Some(effort) = limits.effort {
                self.count(effort)?;
            }
            if self.stage.cluster.now > limits.seconds {
                return Err(SimError::Limit { seconds: limits.seconds });
            }
            self.go_on()?;
        }
        self.conclude()
    }

    /// Lets every rank go on that can, within this instant.
    fn go_on(&mut self) -> Result<(), SimError> {
        loop {
            let Cluster { over, matching, sights, .. } = &mut self.stage.cluster;
            // A schedule does not look.
            sights.clear();
            for Over { rank, slot, received, .. } in over.drain(..) {
                if let Some(message) = received {
                    matching.remove(message);
                }
                self.over_unreported += 1;
                self.over += 1;
                self.runs[rank as usize].done(slot);
                if !std::mem::replace(&mut self.is_ready[rank as usize], true) {
                    self.ready.push_back(rank);
                }
            }
            let Some(rank) = self.ready.pop_front() else { return Ok(()) };
            self.is_ready[rank as usize] = false;
            let run = &mut self.runs[rank as usize];
            if run.poll(&mut RankPort { stage: &mut self.stage, rank })? {
                let end = self.stage.cluster.now.max(self.stage.local[rank as usize]);
                self.outcome.per_rank[rank as usize] = end;
                self.outcome.finish = self.outcome.finish.max(end);
            }
        }
    }

    /// Nothing moves any more: are all ranks done and all messages received?
    fn conclude(mut self) -> Result<Outcome, SimError> {
        let mut stuck = Vec::new();
        for (rank, run) in self.runs.iter().enumerate() {
            let rank = rank as Rank;
            stuck.extend(run.blocked().map(|(lane, round, gate)| {
                let gate = gate.copied();
                Stuck { rank, lane, round, gate }
            }));
        }
        let cluster = &mut self.stage.cluster;
        let at = cluster.now;
        if let Some(Cut { dead, pairs }) = cluster.cut() {
            let mut ranks: Vec<Rank> = stuck.iter().map(|stuck| stuck.rank).collect();
            ranks.dedup();
            return Err(SimError::Partition { at, dead, cut: pairs, ranks });
        }
        if !stuck.is_empty() {
            return Err(SimError::Deadlock { at, stuck });
        }
        if let Some(message) = cluster.matching.unreceived() {
            let Envelope { from, to, label } = message.envelope;
            let bytes = message.bytes;
            return Err(SimError::Unreceived { from, to, chan: label as u16, bytes });
        }
        let (messages, carried) = (cluster.matching.matched, cluster.carried);
        Ok(Outcome { messages, bytes: carried.bytes, flows: carried.flows, ..self.outcome })
    }
}

/// The cluster as one rank's run sees it.
struct RankPort<'w, 'a, C> {
    stage: &'w mut Stage<'a, C>,
    rank: Rank,
}

impl<C: Carrier> RankPort<'_, '_, C> {
    /// When this rank can start something: it may be at a local step until then.
    fn from(&self) -> f64 {
        self.stage.cluster.now.max(self.stage.local[self.rank as usize])
    }

    fn local(&mut self, step: &Step) -> Result<(), SimError> {
        let Some(cost) = self.stage.local_cost else { return Ok(()) };
        let seconds = cost(self.rank, step);
        if !seconds.is_finite() || seconds < 0.0 {
            let what = format!("rank {} takes {seconds} s for {step:?}", self.rank);
            return Err(SimError::Network { what });
        }
        let (me, from, cluster) = (self.rank as usize, self.from(), &mut self.stage.cluster);
        self.stage.local[me] = cluster.work(cluster.hosts[me], from, seconds);
        Ok(())
    }

    fn known(&self, peer: Rank) -> Result<(), SimError> {
        let (rank, ranks) = (self.rank, self.stage.cluster.hosts.len() as u32);
        if peer < ranks { Ok(()) } else { Err(SimError::Peer { rank, peer, ranks }) }
    }

    /// In a schedule both ends know the length.
    fn agreed(&self, id: MessageId) -> Result<(), SimError> {
        let message = &self.stage.cluster.matching.messages[id as usize];
        let Envelope { from, to, label } = message.envelope;
        let (sent, received) = (message.bytes, message.room);
        match (message.send, message.recv) {
            (Some(_), Some(_)) if sent != received => {
                Err(SimError::Length { from, to, chan: label as u16, sent, received })
            }
            _ => Ok(()),
        }
    }
}

impl<C: Carrier> Port for RankPort<'_, '_, C> {
    type Error = SimError;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, SimError> {
        let (from, rank) = (self.from(), self.rank);
        match *step {
            Step::Send { to, chan, span } => {
                self.known(to)?;
                let envelope = Envelope { from: rank, to, label: Label::from(chan) };
                let (id, progress) = self.stage.cluster.send(from, envelope, span.len, at.slot)?;
                self.agreed(id)?;
                Ok(progress)
            }
            Step::Recv { from: peer, chan, span } => {
                self.known(peer)?;
                let label = Label::from(chan);
                let pattern = Pattern { from: Some(peer), label, mask: Label::MAX };
                let id = self.stage.cluster.recv(from, rank, pattern, span.len, at.slot)?;
                self.agreed(id)?;
                Ok(Progress::Pending)
            }
            _ => {
                self.local(step)?;
                Ok(Progress::Done)
            }
        }
    }
}
