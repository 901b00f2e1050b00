//! Kinds of ways between ranks: only what goes the same kind of way can be compared.
//!
//! A way is within a host, within a site, or from one site to another; the two directions between
//! sites are two kinds, as a site may send faster than it receives. If the sites are unknown
//! they are found from the latencies.

use std::collections::BTreeMap;

use laneway_core::Rank;

use super::survey::Latencies;

/// Ranks that are nearer to each other than to any others by this factor are a site.
const APART: f64 = 3.0;

/// A kind of way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Host,
    Sites { from: u32, to: u32 },
}

/// The host and the site of each rank.
pub(super) struct Places {
    /// The number of each rank's host.
    hosts: Vec<usize>,
    sites: Vec<u32>,
}

impl Places {
    /// Of `ranks` ranks. One whose host has no name is alone on it.
    pub fn new(ranks: usize, names: &[String], sites: &[u32]) -> Places {
        let mut known = BTreeMap::new();
        let mut count = 0;
        let mut number = |rank: usize| {
            let mut new = || {
                count += 1;
                count - 1
            };
            match names.get(rank) {
                Some(name) => *known.entry(name).or_insert_with(new),
                None => new(),
            }
        };
        let hosts = (0..ranks).map(&mut number).collect();
        let site = |rank: usize| sites.get(rank).copied().unwrap_or(0);
        Places { hosts, sites: (0..ranks).map(site).collect() }
    }

    /// Of a message.
    pub fn kind(&self, from: Rank, to: Rank) -> Kind {
        let (a, b) = (from as usize, to as usize);
        match self.hosts[a] == self.hosts[b] {
            true => Kind::Host,
            false => Kind::Sites { from: self.sites[a], to: self.sites[b] },
        }
    }

    /// Of a message and its answer.
    pub fn kind_both_ways(&self, from: Rank, to: Rank) -> Kind {
        self.kind(from, to).min(self.kind(to, from))
    }

    /// Who may be to blame at a rank's end of a way, by number: its host towards other hosts, the
    /// rank alone within one.
    pub fn culprit(&self, rank: Rank, other: Rank) -> usize {
        match self.kind(rank, other) {
            Kind::Host => self.hosts.len() + rank as usize,
            Kind::Sites { .. } => self.hosts[rank as usize],
        }
    }

    /// One more than the largest such number.
    pub fn culprits(&self) -> usize {
        2 * self.hosts.len()
    }

    /// The ranks of such a number.
    pub fn ranks(&self, culprit: usize) -> Vec<Rank> {
        let ranks = self.hosts.len();
        match culprit.checked_sub(ranks) {
            Some(rank) => vec![rank as Rank],
            None => (0..ranks)
                .filter(|&rank| self.hosts[rank] == culprit)
                .map(|rank| rank as Rank)
                .collect(),
        }
    }
}

/// The site of each rank by the latencies alone: the ranks fall apart into sites where the way
/// between any two of them is three times as long as the longest step inside one. A single rank is
/// no site: it is more likely a host whose latency is high, and belongs to what is nearest.
pub fn sites_by_latency(latencies: &Latencies, ranks: u32) -> Vec<u32> {
    let mut steps: Vec<(f64, Rank, Rank)> =
        latencies.0.iter().map(|(&(a, b), latency)| (latency.value, a, b)).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The shortest steps that join all ranks, and those ranks that each of them joins.
    let mut site: Vec<u32> = (0..ranks).collect();
    let mut best = vec![0; ranks as usize];
    let (mut before, mut widest) = (f64::NAN, APART);
    for (latency, a, b) in steps {
        let (Some(&one), Some(&other)) = (site.get(a as usize), site.get(b as usize)) else {
            continue;
        };
        if one == other {
            continue;
        }
        let gap = latency / before;
        if gap >= widest && joins_sites(&site) {
            (widest, best) = (gap, site.clone());
        }
        site.iter_mut().filter(|site| **site == other).for_each(|site| *site = one);
        before = latency;
    }
    numbered(&join_singles(best, latencies))
}

/// Whether most ranks are in groups, two of them at least.
fn joins_sites(site: &[u32]) -> bool {
    let sizes = sizes(site);
    let alone = sizes.values().filter(|size| **size == 1).count();
    sizes.len() - alone >= 2 && alone * 4 <= site.len()
}

fn sizes(site: &[u32]) -> BTreeMap<u32, usize> {
    let mut sizes = BTreeMap::new();
    site.iter().for_each(|site| *sizes.entry(*site).or_insert(0) += 1);
    sizes
}

/// Each rank that is alone goes to the site of the one that is nearest to it.
fn join_singles(site: Vec<u32>, latencies: &Latencies) -> Vec<u32> {
    let sizes = sizes(&site);
    let is_alone = |rank: Rank| sizes.get(&site[rank as usize]) == Some(&1);
    let nearest = |rank: Rank| {
        let others = latencies.0.iter().filter_map(|(&(a, b), latency)| match rank {
            _ if a == rank && !is_alone(b) => Some((latency.value, b)),
            _ if b == rank && !is_alone(a) => Some((latency.value, a)),
            _ => None,
        });
        others.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(rank, |(_, other)| other)
    };
    let joined = |rank: usize| match is_alone(rank as Rank) {
        true => site[nearest(rank as Rank) as usize],
        false => site[rank],
    };
    (0..site.len()).map(joined).collect()
}

/// From 0, in the order in which they appear.
fn numbered(site: &[u32]) -> Vec<u32> {
    let mut known: Vec<u32> = Vec::new();
    let number = |site: &u32| {
        known.iter().position(|known| known == site).unwrap_or_else(|| {
            known.push(*site);
            known.len() - 1
        }) as u32
    };
    site.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::disjoint::Estimate;
    use super::*;

    fn sites(ranks: u32, latency: impl Fn(Rank, Rank) -> f64) -> Vec<u32> {
        let estimate =
            |value: f64| Estimate { value, interval: None, error: None, reps: 6, reached: true };
        let pairs = (0..ranks).flat_map(|a| (a + 1..ranks).map(move |b| (a, b)));
        let all = pairs.map(|(a, b)| ((a, b), estimate(latency(a, b)))).collect();
        sites_by_latency(&Latencies(all), ranks)
    }

    #[test]
    fn sites_are_what_is_far_apart() {
        let given = [0, 1, 0, 1, 1, 2, 2];
        let site = |rank: Rank| given[rank as usize];
        let found = sites(7, |a, b| if site(a) == site(b) { 50.0 } else { 5000.0 });
        assert_eq!(found, given);
        // The way to the third is longer still.
        let far = |a: Rank, b: Rank| if site(a).max(site(b)) == 2 { 20_000.0 } else { 5000.0 };
        assert_eq!(sites(7, |a, b| if site(a) == site(b) { 50.0 } else { far(a, b) }), given);
    }

    #[test]
    fn a_late_host_or_link_makes_no_site() {
        let one = |a: Rank, b: Rank| if a == 2 || b == 2 { 500.0 } else { 50.0 };
        assert_eq!(sites(6, one), [0; 6]);
        let two = |a: Rank, b: Rank| 50.0 + [a, b].map(|r| if r < 2 { 500.0 } else { 0.0 })[0];
        assert_eq!(sites(6, two), [0; 6]);
        assert_eq!(sites(5, |a, b| if (a, b) == (1, 3) { 900.0 } else { 50.0 }), [0; 5]);
        // Beside real sites it stays at its own.
        let late = |a: Rank, b: Rank| {
            let way = if (a < 4) == (b < 4) { 50.0 } else { 5000.0 };
            way + if a == 1 || b == 1 { 400.0 } else { 0.0 }
        };
        assert_eq!(sites(8, late), [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn steps_of_a_switch_make_no_sites() {
        let rack = |rank: Rank| rank / 4;
        assert_eq!(sites(12, |a, b| if rack(a) == rack(b) { 1.0 } else { 1.8 }), [0; 12]);
        assert_eq!(sites(1, |_, _| 1.0), [0]);
        assert_eq!(sites(0, |_, _| 1.0), []);
        assert_eq!(sites(2, |_, _| 1.0), [0; 2]);
    }
}
