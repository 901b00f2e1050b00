//! Which hosts there are, how far apart, and which of them are a site.

use std::collections::BTreeMap;

use laneway_core::{Comm, CommError, Rank};

use crate::p2p::{Estimate, Lab, Latencies, Plan, Prober, Sizes, sites_by_latency};
use crate::repeat::Rule;
use crate::talk::broadcast;

/// Round trips of each pair of hosts.
const REPS: u32 = 5;
/// Bytes of a message that tells a latency.
const SHORT: usize = 8;

/// A host, and the rank on it that measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The lowest one there.
    pub rank: Rank,
    /// As the communicator gives it.
    pub name: String,
    /// An index of the sites.
    pub site: usize,
}

/// The first rank on each host, in the order of ranks.
pub fn first_ranks(hosts: &[String]) -> Vec<Rank> {
    let is_first = |rank: &usize| !hosts[..*rank].contains(&hosts[*rank]);
    (0..hosts.len()).filter(is_first).map(|rank| rank as Rank).collect()
}

/// Collective: the latency between any two of some ranks, on every rank. The keys are places among
/// those ranks.
pub fn latencies(
    comm: &dyn Comm,
    ranks: &[Rank],
    alive: &dyn Fn(),
) -> Result<Latencies, CommError> {
    let count = ranks.len() as u32;
    let places: Vec<(Rank, Rank)> =
        (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
    let rank = |place: &Rank| ranks[*place as usize];
    let pairs = Plan::pairs(count);
    let plan = Plan::of(pairs.subsets().map(|pair| pair.iter().map(rank).collect()).collect())?;
    let each_round = |_: usize, _: usize| alive();
    let lab = Lab { each_round: &each_round, ..Lab::new(comm, Rule::fixed(REPS)) };
    let mut prober = Prober::new(Sizes { latency: SHORT, bandwidth: 2 * SHORT });
    let found = prober.latencies(&lab, &plan)?;
    let latency = |(a, b): &(Rank, Rank)| {
        let (a, b) = (rank(a), rank(b));
        let known = found.as_ref().and_then(|found| found.0.get(&(a.min(b), a.max(b))));
        known.map_or(f64::NAN, |estimate| estimate.value)
    };
    let mut values: Vec<f64> = places.iter().map(latency).collect();
    broadcast(comm, &mut values)?;
    let estimate =
        |value: f64| Estimate { value, interval: None, error: None, reps: REPS, reached: true };
    Ok(Latencies(places.into_iter().zip(values.into_iter().map(estimate)).collect()))
}

/// The site of each host. Sites may be far apart by different measures, and what falls
/// apart at the widest gap may do so again inside.
pub fn sites_of_hosts(latencies: &Latencies, hosts: u32) -> Vec<u32> {
    let mut waiting: Vec<Vec<Rank>> = vec![(0..hosts).collect()];
    let mut sites: Vec<Vec<Rank>> = Vec::new();
    while let Some(group) = waiting.pop() {
        let place = |host: Rank| group.iter().position(|one| *one == host).map(|at| at as Rank);
        let inside = latencies
            .0
            .iter()
            .filter_map(|(&(a, b), latency)| Some(((place(a)?, place(b)?), *latency)));
        let found = sites_by_latency(&Latencies(inside.collect()), group.len() as u32);
        let mut parts: BTreeMap<u32, Vec<Rank>> = BTreeMap::new();
        for (host, site) in group.iter().zip(found) {
            parts.entry(site).or_default().push(*host);
        }
        match parts.len() {
            1 => sites.extend(parts.into_values()),
            _ => waiting.extend(parts.into_values()),
        }
    }
    sites.sort();
    let site = |host: Rank| sites.iter().position(|site| site.contains(&host)).unwrap_or(0);
    (0..hosts).map(|host| site(host) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(given: &[u32], between: impl Fn(u32, u32) -> f64) -> Vec<u32> {
        let hosts = given.len() as Rank;
        let pairs = (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| (a, b)));
        let latency = |(a, b): (Rank, Rank)| {
            let (a, b) = (given[a as usize], given[b as usize]);
            if a == b { 50e-6 } else { between(a.min(b), a.max(b)) }
        };
        let estimate =
            |value| Estimate { value, interval: None, error: None, reps: 5, reached: true };
        let all = pairs.map(|pair| (pair, estimate(latency(pair)))).collect();
        sites_of_hosts(&Latencies(all), hosts)
    }

    #[test]
    fn near_sites_are_distinguished_beside_far_ones() {
        let given = [0, 1, 2, 0, 1, 2, 0, 1];
        let found = sites(&given, |_, b| if b == 2 { 50e-3 } else { 0.5e-3 });
        assert_eq!(found, given);
        assert_eq!(sites(&given, |_, _| 5e-3), given);
        assert_eq!(sites(&[0; 6], |_, _| 5e-3), [0; 6]);
        assert_eq!(sites(&[0, 1], |_, _| 5e-3), [0, 0]);
    }

    #[test]
    fn one_rank_measures_for_its_host() {
        let hosts = ["a", "b", "a", "c", "b"].map(String::from);
        assert_eq!(first_ranks(&hosts), [0, 1, 3]);
        assert_eq!(first_ranks(&[]), []);
    }
}
