//! What a fabric takes: switches, ports, cables, and what follows from them for who pays.

pub mod budget;

use laneway_core::units::counted_grouped;
use laneway_core::{Observer, Row, Stage};
use laneway_stats::distribution::normal_quantile;

use crate::wiring::graph::{FAR, Graph};
use crate::wiring::{End, Port, Reach, Switch, Wiring};

/// The parts of a fabric.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Parts {
    /// Hosts with a cable.
    pub hosts: u32,
    /// Switches with a cable.
    pub switches: u32,
    /// Switches without a cable: failed, or not plugged yet. Their ports do not count.
    pub switches_unplugged: u32,
    /// Ports of all switches with a cable.
    pub ports: u64,
    /// Ports with a cable.
    pub ports_used: u64,
    /// Cables by [`Reach`], in the order of [`Reach::ALL`].
    pub cables: [u64; 3],
}

impl Parts {
    /// Counts the parts of a fabric.
    pub fn of(wiring: &dyn Wiring) -> Parts {
        let hosts = (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some());
        let hosts = hosts.count() as u32;
        let mut parts = Parts { hosts, ..Parts::default() };
        for switch in 0..wiring.switches() {
            let mut ends = (0..wiring.ports(switch) as Port).map(|port| wiring.end(switch, port));
            if ends.all(|end| end == End::Nothing) {
                parts.switches_unplugged += 1;
                continue;
            }
            parts.switches += 1;
            parts.ports += u64::from(wiring.ports(switch));
            for port in 0..wiring.ports(switch) as Port {
                let once = match wiring.end(switch, port) {
                    End::Nothing => continue,
                    End::Host(_) => true,
                    End::Switch(other, its) => (switch, port) < (other, its),
                };
                parts.ports_used += 1;
                parts.cables[wiring.reach(switch, port) as usize] += u64::from(once);
            }
        }
        parts
    }

    /// paper: fullmesh 2: ports with a host over all ports.
    pub fn port_efficiency(&self) -> f64 {
        f64::from(self.hosts) / self.ports.max(1) as f64
    }

    /// The fabric in one row: how many there are of everything, and how they are called.
    pub fn row(&self, spec: &str, wiring: &dyn Wiring) -> Row {
        let names = |count: u32, name: &dyn Fn(u32) -> String| match count {
            0 => String::new(),
            count => format!("{} to {}", name(0), name(count - 1)),
        };
        Row::new()
            .with("topology", spec)
            .with("nodes", self.hosts)
            .with("switches", self.switches)
            .with("ports_used", self.ports_used)
            .with("cables", self.all_cables())
            .with("node_names", names(wiring.hosts(), &|host| wiring.host_name(host)))
            .with("switch_names", names(wiring.switches(), &|switch| wiring.switch_name(switch)))
    }

    /// How many there are of everything, in words.
    pub fn sentence(&self, spec: &str) -> String {
        format!(
            "{spec}: {}, {} and {}.",
            counted_grouped(self.hosts, "node"),
            counted_grouped(self.switches, "switch"),
            counted_grouped(self.all_cables(), "cable"),
        )
    }

    /// The number of cables.
    pub fn all_cables(&self) -> u64 {
        self.cables.iter().sum()
    }
}

/// The distances between switches with hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distances {
    /// Switches on the longest of the shortest ways between hosts; `None` if some are disconnected.
    pub diameter: Option<u32>,
    /// Shortest ways between two such switches that see each other: the fewest, and on average.
    pub shortest_least: f64,
    /// The same on average.
    pub shortest_mean: f64,
    /// The least number of link-disjoint ways between two such switches.
    pub disjoint: u32,
    /// Pairs of such switches that are disconnected.
    pub apart: u64,
    /// Whether the figures are of a sample of the switches.
    pub is_sampled: bool,
}

/// Links that may be looked at: a few seconds.
const EFFORT: u64 = 1 << 31;

/// Switches that are looked at whatever the effort.
const LEAST_LOOKED_AT: u64 = 8;

/// Distances between all switches with hosts, or as many of them as the effort allows, evenly
/// spread. Where all are alike, as they are in a topology by formula, one sees what all see.
pub fn distances(wiring: &dyn Wiring, are_alike: bool) -> Distances {
    distances_observed(wiring, are_alike, &())
}

/// The same, with progress reports.
pub fn distances_observed(
    wiring: &dyn Wiring,
    are_alike: bool,
    observer: &dyn Observer,
) -> Distances {
    let graph = Graph::of(wiring);
    let leaves: Vec<Switch> = graph.leaves().collect();
    let mut found = Distances { apart: disconnected_pairs(&graph), ..Distances::default() };
    let sources = if are_alike { &leaves[..leaves.len().min(1)] } else { &leaves };
    let links = u64::from(graph.links.count());
    let step = step(sources.len(), links);
    found.is_sampled = step > 1;
    found.shortest_least = f64::INFINITY;
    let (mut farthest, mut sum, mut pairs) = (0, 0.0, 0u64);
    let sources = sources.iter().step_by(step);
    let stage = Stage::new(observer, "distances from switches", sources.len() as u64);
    for &from in stage.over(sources) {
        let (far, ways) = graph.shortest(from);
        let seen = |&to: &Switch| to != from && far[to as usize] != FAR;
        for to in leaves.iter().copied().filter(seen) {
            farthest = farthest.max(far[to as usize]);
            found.shortest_least = found.shortest_least.min(ways[to as usize]);
            sum += ways[to as usize];
            pairs += 1;
        }
    }
    found.diameter = (found.apart == 0).then_some(farthest + 1);
    if pairs == 0 {
        found.shortest_least = 0.0;
        return found;
    }
    found.shortest_mean = sum / pairs as f64;
    if found.apart == 0 {
        let (disjoint, is_sampled) = least_disjoint(&graph, &leaves, observer);
        found.disjoint = disjoint;
        found.is_sampled |= is_sampled;
    }
    found
}

/// The fewest ways that share no link, and whether some were not looked at. Two switches have at
/// least as many as the fewer of those that each has to a third; so one and all others are enough.
fn least_disjoint(graph: &Graph, leaves: &[Switch], observer: &dyn Observer) -> (u32, bool) {
    let cables = leaves.iter().map(|&leaf| graph.cables(leaf).len() as u32);
    let mut least = cables.min().unwrap_or(0);
    let Some((&from, others)) = leaves.split_first() else { return (least, false) };
    let step = step(others.len(), u64::from(graph.links.count()) * u64::from(least));
    let others = others.iter().step_by(step);
    let stage = Stage::new(observer, "disjoint paths to switches", others.len() as u64);
    for &to in stage.over(others) {
        least = least.min(graph.disjoint(from, to));
    }
    (least, step > 1)
}

/// The sampling step over switches, where one of them costs this number of links.
fn step(switches: usize, links: u64) -> usize {
    let looks = (EFFORT / links.max(1)).max(LEAST_LOOKED_AT);
    switches.div_ceil(looks as usize).max(1)
}

/// Pairs of switches with hosts between which there is no way.
fn disconnected_pairs(graph: &Graph) -> u64 {
    let pieces = graph.pieces();
    let mut leaves = vec![0u64; graph.switches()];
    graph.leaves().for_each(|leaf| leaves[pieces[leaf as usize] as usize] += 1);
    let pairs = |leaves: u64| leaves * leaves.saturating_sub(1) / 2;
    pairs(leaves.iter().sum()) - leaves.iter().copied().map(pairs).sum::<u64>()
}

/// More expected failures than this are not added up one by one.
const MOST_ADDED: f64 = 1e6;

/// Spares to hold so that parts that fail at random while new ones are under way can be replaced,
/// with the given confidence: the quantile of a Poisson distribution.
pub fn spares(expected: f64, confidence: f64) -> u64 {
    if expected > MOST_ADDED {
        // Cornish and Fisher 1938; accurate to one part in this number.
        let normal = normal_quantile(confidence).unwrap_or(0.0);
        let skew = (normal * normal - 1.0) / 6.0;
        return (expected + normal * expected.sqrt() + skew - 0.5).ceil() as u64;
    }
    // In parts of the likeliest count's share, since the share of none may be too small a number.
    let likeliest = expected as u64;
    let (mut below, mut term, mut count) = (0.0, 1.0, likeliest);
    while term > 0.0 && count > 0 {
        term *= count as f64 / expected;
        below += term;
        count -= 1;
    }
    let (mut all, mut term, mut count) = (below, 1.0, likeliest);
    while term > 0.0 {
        all += term;
        count += 1;
        term *= expected / count as f64;
    }
    let wanted = confidence * all;
    let (mut term, mut count) = (1.0, likeliest);
    while below >= wanted && count > 0 {
        term *= count as f64 / expected;
        below -= term;
        count -= 1;
    }
    while below + term < wanted && term > 0.0 {
        below += term;
        count += 1;
        term *= expected / count as f64;
    }
    count
}

/// The order of [`Reach::ALL`] is the order of its numbers.
const _: () = assert!(Reach::Rack as usize == 0 && Reach::Hall as usize == 2);
