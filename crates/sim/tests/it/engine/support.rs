//! Small clusters, small schedules, and figures that must agree but for rounding.

use laneway_coll::find;
use laneway_core::{Buf, Chan, Collective, Rank, Round, Schedule, Shape, Step, span};
use laneway_sim::{
    Background, Change, HostClock, HostCost, HostId, Network, Overflow, Resource, ResourceId, Route,
};

pub const LATENCY: f64 = 10e-6;
pub const RATE: f64 = 1e9;

/// Every host has a link up and a link down.
pub struct Flat {
    resources: Vec<Resource>,
    pub cost: HostCost,
    pub eager_bytes: u64,
    pub header_bytes: u64,
    pub most: f64,
    pub in_order: bool,
    pub overflow: Option<Overflow>,
    pub changes: Vec<Change>,
    pub background: Vec<Background>,
    pub clocks: Vec<HostClock>,
}

impl Flat {
    /// Shared links, no eager messages, no cost of hosts, messages of a pair in order.
    pub fn new(hosts: u32) -> Flat {
        Flat::with_links(hosts, true)
    }

    pub fn with_links(hosts: u32, shared: bool) -> Flat {
        let link = |number| Resource {
            name: format!("link {number}"),
            rate: RATE,
            shared,
            congestion: Default::default(),
        };
        Flat {
            resources: (0..2 * hosts).map(link).collect(),
            cost: HostCost::default(),
            eager_bytes: 0,
            header_bytes: 0,
            most: f64::INFINITY,
            in_order: true,
            overflow: None,
            changes: Vec::new(),
            background: Vec::new(),
            clocks: Vec::new(),
        }
    }

    pub fn eager(mut self) -> Flat {
        self.eager_bytes = u64::MAX;
        self
    }

    /// Messages of a pair share the links beside each other, as in SimGrid.
    pub fn beside(mut self) -> Flat {
        self.in_order = false;
        self
    }
}

impl Network for Flat {
    fn hosts(&self) -> u32 {
        self.resources.len() as u32 / 2
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.resources.extend([2 * from, 2 * to + 1]);
        route.latency = LATENCY;
        route.most = self.most;
    }

    fn cost(&self, _host: HostId) -> HostCost {
        self.cost
    }

    fn eager_bytes(&self) -> u64 {
        self.eager_bytes
    }

    fn header_bytes(&self) -> u64 {
        self.header_bytes
    }

    fn in_order(&self) -> bool {
        self.in_order
    }

    fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn background(&self) -> &[Background] {
        &self.background
    }

    fn clock(&self, host: HostId) -> HostClock {
        self.clocks.get(host as usize).copied().unwrap_or_default()
    }
}

/// The link of a host that leads up, and the one that leads down.
pub fn up(host: HostId) -> ResourceId {
    2 * host
}

pub fn down(host: HostId) -> ResourceId {
    2 * host + 1
}

/// Resources of these rates, all shared.
pub fn links(rates: &[f64]) -> Vec<Resource> {
    let link = |(i, rate): (usize, &f64)| Resource {
        name: format!("link {i}"),
        rate: *rate,
        shared: true,
        congestion: Default::default(),
    };
    rates.iter().enumerate().map(link).collect()
}

pub fn route(resources: &[ResourceId], latency: f64, most: f64) -> Route {
    Route { resources: resources.to_vec(), latency, most }
}

/// The steps of each rank, in one lane and one round.
pub struct Script(pub Vec<Vec<Step>>);

impl Schedule for Script {
    fn ranks(&self) -> u32 {
        self.0.len() as u32
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        out.steps.extend(&self.0[rank as usize]);
    }
}

pub fn send(to: Rank, len: u64) -> Step {
    send_on(to, 0, len)
}

pub fn send_on(to: Rank, chan: Chan, len: u64) -> Step {
    Step::Send { to, chan, span: span(Buf::In, 0, len) }
}

pub fn recv(from: Rank, len: u64) -> Step {
    recv_on(from, 0, len)
}

pub fn recv_on(from: Rank, chan: Chan, len: u64) -> Step {
    Step::Recv { from, chan, span: span(Buf::Out, 0, len) }
}

pub fn copy(len: u64) -> Step {
    Step::Copy { from: span(Buf::In, 0, len), to: span(Buf::Out, 0, len) }
}

pub const DRAIN: Step = Step::AtMost { sends: 0, recvs: 0 };

/// A registered algorithm for `size` bytes.
pub fn algorithm(
    collective: Collective,
    spelled: &str,
    ranks: u32,
    size: u64,
) -> Box<dyn Schedule> {
    let (algorithm, params) = find(collective, spelled).expect("a registered algorithm");
    algorithm.schedule(&Shape::new(collective, ranks, size), &params).expect("a fit shape")
}

/// Equal but for the rounding of a few thousand sums.
#[track_caller]
pub fn assert_close(found: f64, wanted: f64) {
    let error = (found - wanted).abs();
    // Instants lie on a grid of picoseconds.
    assert!(error <= 1e-12 + 1e-11 * wanted.abs(), "found {found:e}, wanted {wanted:e}");
}
