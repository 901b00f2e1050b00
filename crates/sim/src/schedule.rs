//! Runs any schedule on a simulated cluster, by events alone: no thread, no clock, no byte moved.
//!
//! A message costs its sender's processor `per_send` and `per_byte`, then travels (latency, then
//! the engine's sharing), then costs its receiver's processor `per_recv` and `per_byte`. A
//! processor does one thing after another. Up to the network's eager size a message leaves at once,
//! and its send is over when the sender's cost is paid; a longer one leaves when its receive has
//! begun as well, and its send is over when the last byte has arrived. Between ranks of one host a
//! message takes no time.
//!
//! Begin with [`simulate`], then `world.rs` for the events and `matching.rs` for the messages.

mod error;
mod matching;
mod world;

use laneway_core::{Chan, Rank, Schedule, Step};

use crate::carrier::Carrier;
use crate::flow::{Fairness, Flows};
use crate::network::{HostCost, HostId, Network};

pub use error::{SimError, Stuck};
use world::World;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Seconds until the last rank was done.
    pub finish: f64,
    /// Seconds until each rank was done.
    pub per_rank: Vec<f64>,
    pub messages: u64,
    pub bytes: u64,
    /// Messages that crossed the network: the others stayed within a host.
    pub flows: u64,
    /// How many times a flow's share was worked out: the cost of the run, on any machine the same.
    pub shares: u64,
}

/// A message that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    pub from: Rank,
    pub to: Rank,
    pub chan: Chan,
    pub bytes: u64,
    /// When the send was started, in seconds.
    pub start: f64,
    /// When the receive was complete.
    pub end: f64,
}

/// Sees every message as it is completed: for timelines.
pub trait Observer {
    fn delivered(&mut self, delivery: &Delivery);
}

impl Observer for Vec<Delivery> {
    fn delivered(&mut self, delivery: &Delivery) {
        self.push(*delivery);
    }
}

/// The seconds that a copy or a reduction takes a rank's processor.
pub type LocalCost<'a> = &'a dyn Fn(Rank, &Step) -> f64;

/// A run that is being prepared.
pub struct Simulation<'a> {
    network: &'a dyn Network,
    placement: Option<&'a [HostId]>,
    local_cost: Option<LocalCost<'a>>,
    fairness: Fairness,
    observer: Option<&'a mut dyn Observer>,
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
    pub fn new(network: &'a dyn Network) -> Simulation<'a> {
        let fairness = Fairness::Equal;
        Simulation { network, placement: None, local_cost: None, fairness, observer: None }
    }

    /// Puts rank r on host `hosts[r]`.
    pub fn placed(mut self, hosts: &'a [HostId]) -> Simulation<'a> {
        self.placement = Some(hosts);
        self
    }

    /// Lets copies and reductions take time; they take none by default.
    pub fn local_cost(mut self, cost: LocalCost<'a>) -> Simulation<'a> {
        self.local_cost = Some(cost);
        self
    }

    /// Lets flows part full links otherwise than equally.
    pub fn fairness(mut self, fairness: Fairness) -> Simulation<'a> {
        self.fairness = fairness;
        self
    }

    pub fn observed(mut self, observer: &'a mut dyn Observer) -> Simulation<'a> {
        self.observer = Some(observer);
        self
    }

    /// Runs with fluid flows.
    pub fn run(self, schedule: &dyn Schedule) -> Result<Outcome, SimError> {
        let mut flows = Flows::with(self.network.resources(), self.fairness);
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
        validate_resources(self.network)?;
        let hosts = self.hosts(schedule.ranks())?;
        let costs = costs(self.network)?;
        World::new(self, schedule, hosts, costs, carrier).run()
    }

    fn hosts(&self, ranks: u32) -> Result<Vec<HostId>, SimError> {
        let placed: Vec<HostId> = match self.placement {
            Some(hosts) => hosts.to_vec(),
            None => (0..ranks).collect(),
        };
        if placed.len() != ranks as usize {
            return Err(SimError::Placement { ranks, placed: placed.len() as u32 });
        }
        let hosts = self.network.hosts();
        match placed.iter().position(|&host| host >= hosts) {
            Some(rank) => Err(SimError::Host { rank: rank as Rank, host: placed[rank], hosts }),
            None => Ok(placed),
        }
    }
}

/// The hosts' costs, each a time that can be.
fn costs(network: &dyn Network) -> Result<Vec<HostCost>, SimError> {
    let can_be = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
    let cost = |host: HostId| {
        let cost = network.cost(host);
        if can_be(cost.per_send) && can_be(cost.per_recv) && can_be(cost.per_byte) {
            return Ok(cost);
        }
        Err(SimError::Network { what: format!("host {host} costs {cost:?}") })
    };
    (0..network.hosts()).map(cost).collect()
}

fn validate_resources(network: &dyn Network) -> Result<(), SimError> {
    match network.resources().iter().find(|resource| resource.rate.is_nan() || resource.rate <= 0.0)
    {
        Some(r) => {
            let what = format!("`{}` carries {} bytes a second", r.name, r.rate);
            Err(SimError::Network { what })
        }
        None => Ok(()),
    }
}
