//! Jobs on a part of a machine: which nodes they take, and in which order they send.
//!
//! Forwarding stays what is installed. A job that is a box of a full mesh has an order by formula
//! (`shape.rs`). For any other set the phases are searched for: no two messages of a phase use the
//! same link, so there are at least as many phases as messages on the busiest link (`flows.rs`);
//! the machine's own order and others, made free of conflict (`split.rs`), and a search
//! (`search.rs`) are tried, and the shortest is taken.

mod flows;
mod intact;
mod place;
mod search;
mod shape;
mod split;

use laneway_core::{Observer, Phases, Rank, own_partners};

use crate::routing::Routing;
use crate::topologies::mlfm::FullMesh;
use crate::traffic::order::{Listed, Shift};
use crate::wiring::{Host, Wiring};
use flows::Flows;
pub use flows::Unreached;
pub use place::place;
pub use shape::{Board, Boxed, Shape};

/// The machine under a job.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The cables that there are.
    pub wiring: &'a dyn Wiring,
    /// The forwarding that is installed.
    pub routing: &'a dyn Routing,
    /// The order of the all-to-all on the whole machine.
    pub order: &'a (dyn Phases + Sync),
    /// The full mesh that it was planned as.
    pub mesh: Option<&'a FullMesh>,
    /// Whether all cables and the forwarding are the mesh's own; else a box is looked at before it
    /// is believed.
    pub is_whole: bool,
}

/// A job: nodes and the order of their all-to-all.
pub struct Job {
    /// Where each rank runs.
    pub hosts: Vec<Host>,
    /// The smallest box of the mesh that the job fits into.
    pub shape: Option<Shape>,
    /// The least number of phases of an order without conflict.
    pub bound: u64,
    /// The receiver of each rank in each phase.
    pub order: Box<dyn Phases + Send + Sync>,
}

/// Why a job has no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// One of its nodes does not reach another.
    Unreached(Unreached),
    /// More nodes than the phases can be written down for.
    TooLarge,
}

/// Nodes of the largest job whose phases are written down, and of the largest that is searched for.
pub const MOST_LISTED: usize = 8192;
const MOST_SEARCHED: usize = 1024;

/// Pairs of holders that the search may look at: a few seconds.
const EFFORT: u64 = 1 << 32;

impl Job {
    /// Finds an order for hosts, which are given in order and once each.
    pub fn new(ground: &Ground, hosts: Vec<Host>, seed: u64) -> Result<Job, Refused> {
        Job::observed(ground, hosts, seed, &())
    }

    /// The same, with progress reports.
    pub fn observed(
        ground: &Ground,
        hosts: Vec<Host>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Job, Refused> {
        let boxed = ground.mesh.map(|mesh| Boxed::around(mesh, &hosts));
        let shape = boxed.as_ref().map(Boxed::shape);
        let is_intact = || ground.mesh.is_some_and(|mesh| ground.intact(mesh, &hosts).is_ok());
        if let Some(boxed) = boxed.clone().filter(|boxed| boxed.is_full() && is_intact()) {
            let bound = hosts.len() as u64;
            return Ok(Job { hosts, shape, bound, order: Box::new(boxed) });
        }
        if hosts.len() > MOST_LISTED {
            return Err(Refused::TooLarge);
        }
        let flows =
            Flows::new(ground.wiring, ground.routing, &hosts).map_err(Refused::Unreached)?;
        let bound = flows.bound();
        let whole = Inside::new(ground, &hosts);
        let shift = Shift::new(hosts.len() as u32);
        let mut orders: Vec<&dyn Phases> = vec![&shift, &whole];
        orders.extend(boxed.as_ref().map(|boxed| boxed as &dyn Phases));
        let found = orders.into_iter().filter_map(|order| split::split(&flows, order));
        // A shift leaves out no message.
        let mut best = found.min_by_key(|found| found.0).expect("the shift");
        if best.0 as u64 > bound {
            best = search::list(&flows, best.0 - 1).unwrap_or(best);
        }
        if best.0 as u64 > bound && hosts.len() <= MOST_SEARCHED {
            let (least, most) = (bound as usize, best.0 - 1);
            let found = search::search(&flows, least, most, seed, EFFORT, observer);
            best = found.unwrap_or(best);
        }
        let order = Box::new(listed(hosts.len(), best));
        Ok(Job { hosts, shape, bound, order })
    }

    /// The number of phases of its all-to-all.
    pub fn phases(&self) -> u64 {
        self.order.count()
    }

    /// Whether the job is a box, and so as short as can be.
    pub fn is_shaped(&self) -> bool {
        let size = self.hosts.len() as u64;
        self.shape.is_some_and(|shape| shape.size() == size) && self.phases() == size
    }

    /// The same order on the whole machine, on which all others rest.
    pub fn on_machine(&self, hosts: u32) -> OnMachine<'_> {
        let mut rank = vec![None; hosts as usize];
        for (own, &host) in self.hosts.iter().enumerate() {
            rank[host as usize] = Some(own as Rank);
        }
        OnMachine { job: self, rank }
    }
}

/// Messages with their phases, of which each has one, written down. The schedule ends only after
/// all have rested once, for the message to themselves.
fn listed(ranks: usize, (phases, phase_of): (usize, Vec<u32>)) -> Listed {
    let mut pairs: Vec<Vec<(Rank, Rank)>> = vec![Vec::new(); phases.max(ranks)];
    for (message, &phase) in phase_of.iter().enumerate() {
        let (from, to) = (message / ranks, message % ranks);
        if from != to {
            pairs[phase as usize].push((from as Rank, to as Rank));
        }
    }
    // A sender is something that a message needs, so it has one message in a phase.
    Listed::new(ranks as u32, &pairs).expect("one message for each sender and phase")
}

/// The whole machine's order, among some of its hosts.
struct Inside<'a> {
    order: &'a (dyn Phases + Sync),
    hosts: &'a [Host],
    rank: Vec<Option<Rank>>,
}

impl<'a> Inside<'a> {
    fn new(ground: &Ground<'a>, hosts: &'a [Host]) -> Inside<'a> {
        let mut rank = vec![None; ground.wiring.hosts() as usize];
        for (own, &host) in hosts.iter().enumerate() {
            rank[host as usize] = Some(own as Rank);
        }
        Inside { order: ground.order, hosts, rank }
    }
}

impl Phases for Inside<'_> {
    fn count(&self) -> u64 {
        self.order.count()
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        let to = self.order.partner(self.hosts[rank as usize], phase);
        self.rank[to as usize].unwrap_or(rank)
    }
}

/// A job's order, by hosts.
pub struct OnMachine<'j> {
    job: &'j Job,
    rank: Vec<Option<Rank>>,
}

impl Phases for OnMachine<'_> {
    fn count(&self) -> u64 {
        self.job.phases()
    }

    fn partner(&self, host: Rank, phase: u64) -> Rank {
        let to = |rank| self.job.hosts[self.job.order.partner(rank, phase) as usize];
        self.rank[host as usize].map_or(host, to)
    }

    fn resting(&self, _phase: u64, partners: &[Rank]) -> u64 {
        own_partners(partners)
    }
}
