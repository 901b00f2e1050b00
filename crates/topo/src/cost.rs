//! What a fabric takes: switches, ports, cables, and what follows from them for who pays.

use crate::wiring::{End, Port, Reach, Switch, Wiring};

/// What can be counted on any fabric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    pub hosts: u32,
    pub switches: u32,
    /// Of all switches together, and those with a cable.
    pub ports: u64,
    pub ports_used: u64,
    /// Cables by [`Reach`], in the order of [`Reach::ALL`].
    pub cables: [u64; 3],
}

impl Parts {
    pub fn of(wiring: &dyn Wiring) -> Parts {
        let (hosts, switches) = (wiring.hosts(), wiring.switches());
        let mut parts = Parts { hosts, switches, ..Parts::default() };
        for switch in 0..wiring.switches() {
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
        f64::from(self.hosts) / self.ports as f64
    }

    pub fn all_cables(&self) -> u64 {
        self.cables.iter().sum()
    }
}

/// How switches with hosts see each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distances {
    /// Switches on the longest of the shortest ways between hosts.
    pub diameter: u32,
    /// Shortest ways between two such switches: the fewest, and on average.
    pub shortest_least: f64,
    pub shortest_mean: f64,
    /// Ways between two such switches that share no link, at least.
    pub disjoint: u32,
    /// Pairs of such switches that do not see each other.
    pub apart: u64,
}

/// So many switches are looked from, and so many looked at for ways that share no link; where a
/// fabric has more, some spread evenly.
const LOOKED_FROM: usize = 64;
const LOOKED_AT: usize = 64;

/// Distances from some of the switches with hosts, evenly spread, to all of them.
pub fn distances(wiring: &dyn Wiring) -> Distances {
    let graph = Graph::of(wiring);
    let mut leaves: Vec<Switch> =
        (0..wiring.hosts()).filter_map(|host| wiring.attached(host)).map(|at| at.0).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let mut found =
        Distances { diameter: 1, shortest_least: f64::INFINITY, ..Distances::default() };
    let (mut sum, mut pairs) = (0.0, 0u64);
    found.disjoint = u32::MAX;
    for &from in leaves.iter().step_by(leaves.len().div_ceil(LOOKED_FROM).max(1)) {
        let (far, ways) = graph.shortest(from);
        for &to in leaves.iter().filter(|&&to| to != from) {
            if far[to as usize] == u32::MAX {
                found.apart += 1;
                continue;
            }
            found.diameter = found.diameter.max(far[to as usize] + 1);
            found.shortest_least = found.shortest_least.min(ways[to as usize]);
            sum += ways[to as usize];
            pairs += 1;
        }
    }
    if let Some((&from, others)) = leaves.split_first() {
        for &to in others.iter().step_by(others.len().div_ceil(LOOKED_AT).max(1)) {
            found.disjoint = found.disjoint.min(graph.disjoint(from, to));
        }
    }
    if pairs == 0 {
        return Distances { apart: found.apart, diameter: 1, ..Distances::default() };
    }
    found.shortest_mean = sum / pairs as f64;
    found
}

/// The switches as a graph; parallel cables are one entry each.
struct Graph {
    first: Vec<u32>,
    next: Vec<Switch>,
}

impl Graph {
    fn of(wiring: &dyn Wiring) -> Graph {
        let (mut first, mut next) = (vec![0], Vec::new());
        for switch in 0..wiring.switches() {
            for port in 0..wiring.ports(switch) as Port {
                if let End::Switch(other, _) = wiring.end(switch, port) {
                    next.push(other);
                }
            }
            first.push(next.len() as u32);
        }
        Graph { first, next }
    }

    fn cables(&self, switch: Switch) -> std::ops::Range<usize> {
        self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize
    }

    /// How far every switch is, and by how many shortest ways.
    fn shortest(&self, from: Switch) -> (Vec<u32>, Vec<f64>) {
        let count = self.first.len() - 1;
        let (mut far, mut ways) = (vec![u32::MAX; count], vec![0.0; count]);
        (far[from as usize], ways[from as usize]) = (0, 1.0);
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(switch) = queue.pop_front() {
            for cable in self.cables(switch) {
                let other = self.next[cable] as usize;
                if far[other] == u32::MAX {
                    far[other] = far[switch as usize] + 1;
                    queue.push_back(other as Switch);
                }
                if far[other] == far[switch as usize] + 1 {
                    ways[other] += ways[switch as usize];
                }
            }
        }
        (far, ways)
    }

    /// Ways from one switch to another that share no cable in one direction: a flow of Ford and
    /// Fulkerson with every cable of capacity 1.
    fn disjoint(&self, from: Switch, to: Switch) -> u32 {
        let mut used = vec![false; self.next.len()];
        let mut found = 0;
        while let Some(way) = self.free_way(from, to, &used) {
            for (cable, forward) in way {
                used[cable] = forward;
            }
            found += 1;
        }
        found
    }

    /// A way over cables that are free, or back over those that are used.
    fn free_way(&self, from: Switch, to: Switch, used: &[bool]) -> Option<Vec<(usize, bool)>> {
        let mut before: Vec<Option<(Switch, usize, bool)>> = vec![None; self.first.len() - 1];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(switch) = queue.pop_front() {
            if switch == to {
                let mut way = Vec::new();
                let mut at = to;
                while at != from {
                    let (earlier, cable, forward) = before[at as usize]?;
                    way.push((cable, forward));
                    at = earlier;
                }
                return Some(way);
            }
            for cable in self.cables(switch) {
                let other = self.next[cable];
                let is_new = other != from && before[other as usize].is_none();
                if !used[cable] && is_new {
                    before[other as usize] = Some((switch, cable, true));
                    queue.push_back(other);
                    continue;
                }
                // Giving back a used cable of the other direction undoes a part of another way.
                let back = self.cables(other).find(|&b| self.next[b] == switch && used[b]);
                if let (Some(back), true) = (back, is_new) {
                    before[other as usize] = Some((switch, back, false));
                    queue.push_back(other);
                }
            }
        }
        None
    }
}

/// Spares to hold so that parts that fail at random while new ones are under way can be replaced,
/// with the given confidence: the quantile of a Poisson distribution.
pub fn spares(expected: f64, confidence: f64) -> u64 {
    let (mut term, mut sum, mut count) = ((-expected).exp(), (-expected).exp(), 0);
    // For many expected failures the first terms vanish; then the normal quantile is as good.
    if expected > 500.0 {
        return (expected + 4.0 * expected.sqrt()).ceil() as u64;
    }
    while sum < confidence && count < 10_000 {
        count += 1;
        term *= expected / count as f64;
        sum += term;
    }
    count
}

/// The order of [`Reach::ALL`] is the order of its numbers.
const _: () = assert!(Reach::Rack as usize == 0 && Reach::Hall as usize == 2);
