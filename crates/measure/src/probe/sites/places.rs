//! Which hosts there are, how far apart, and which of them are a site.

use std::collections::BTreeMap;

use laneway_core::{Comm, CommError, Rank};
use laneway_stats::median;

use crate::p2p::{Estimate, Lab, Latencies, Plan, Prober, Sizes, sites_by_latency};
use crate::repeat::Rule;
use crate::talk::broadcast;

/// Round trips of each pair of hosts.
const REPS: u32 = 5;
/// Bytes of a message that tells a latency.
pub const SHORT: usize = 8;
/// Other sites are at least this many times as far as the hosts of one site from each other.
pub const APART: f64 = 3.0;
/// Hosts of a group are at least this many times as far from others as from each other.
const CLEAR: f64 = 1.5;
/// A group falls apart into no more parts than this at once.
const MOST_PARTS: usize = 32;

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

/// Collective: the latency between two ranks while no other pair sends, on every rank.
pub fn latency_alone(comm: &dyn Comm, pair: [Rank; 2], alive: &dyn Fn()) -> Result<f64, CommError> {
    let [a, b] = pair;
    let found = latencies(comm, &[a.min(b), a.max(b)], alive)?;
    Ok(found.0.values().next().map_or(f64::NAN, |latency| latency.value))
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
        if parts.len() == 1
            && let Some(groups) = split(latencies, &group)
        {
            waiting.extend(groups);
            continue;
        }
        match parts.len() {
            1 => sites.extend(parts.into_values()),
            _ => waiting.extend(parts.into_values()),
        }
    }
    sites = alone_apart(latencies, sites);
    sites.sort();
    let site = |host: Rank| sites.iter().position(|site| site.contains(&host)).unwrap_or(0);
    (0..hosts).map(|host| site(host) as u32).collect()
}

fn between(latencies: &Latencies, a: Rank, b: Rank) -> Option<f64> {
    latencies.0.get(&(a.min(b), a.max(b))).map(|latency| latency.value)
}

/// The middle of the latencies between some hosts and others, or of those among one group.
fn middle(latencies: &Latencies, some: &[Rank], others: &[Rank]) -> Option<f64> {
    let pairs = some.iter().flat_map(|a| others.iter().map(move |b| (*a, *b)));
    let values: Vec<f64> =
        pairs.filter(|(a, b)| a != b).filter_map(|(a, b)| between(latencies, a, b)).collect();
    median(&values)
}

/// How many times as far others are as the hosts of a group from each other.
fn gap(latencies: &Latencies, group: &[Rank], others: &[Vec<Rank>]) -> f64 {
    let far = others.iter().filter(|other| other[..] != *group);
    let far = far.filter_map(|other| middle(latencies, group, other));
    let nearest = far.fold(f64::INFINITY, f64::min);
    middle(latencies, group, group).map_or(f64::INFINITY, |inside| nearest / inside)
}

/// Groups of hosts that are clearly nearer to each other than to the rest, of which one is a site.
/// The others may be none by the rule, and belong to it still less.
fn split(latencies: &Latencies, group: &[Rank]) -> Option<Vec<Vec<Rank>>> {
    let mut parts: Vec<Vec<Rank>> = group.iter().map(|host| vec![*host]).collect();
    let mut steps: Vec<(f64, Rank, Rank)> = Vec::new();
    for (place, &a) in group.iter().enumerate() {
        let others = group[place + 1..].iter();
        steps.extend(others.filter_map(|&b| Some((between(latencies, a, b)?, a, b))));
    }
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The parts before each of the last steps that join them.
    let mut tried: Vec<Vec<Vec<Rank>>> = Vec::new();
    for (_, a, b) in steps {
        let of = |host: Rank| parts.iter().position(|part| part.contains(&host));
        let Some((one, other)) = of(a).zip(of(b)).filter(|(one, other)| one != other) else {
            continue;
        };
        if parts.len() <= MOST_PARTS && parts.iter().all(|part| part.len() > 1) {
            tried.push(parts.clone());
        }
        let joined = parts.swap_remove(one.max(other));
        parts[one.min(other)].extend(joined);
    }
    tried.into_iter().rev().find(|parts| {
        let gaps: Vec<f64> = parts.iter().map(|part| gap(latencies, part, parts)).collect();
        gaps.iter().all(|gap| *gap >= CLEAR) && gaps.iter().any(|gap| *gap >= APART)
    })
}

/// A host that is as far from its own site as from another is a site by itself.
fn alone_apart(latencies: &Latencies, sites: Vec<Vec<Rank>>) -> Vec<Vec<Rank>> {
    if sites.len() < 2 {
        return sites;
    }
    let is_apart = |host: Rank, own: &[Rank]| {
        let others = sites.iter().filter(|site| !site.contains(&host));
        let nearest = others.filter_map(|site| middle(latencies, &[host], site));
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        middle(latencies, &[host], own).is_some_and(|inside| APART * inside > nearest)
            && own.len() > 2
            && middle(latencies, &[host], own) > middle(latencies, own, own).map(|own| APART * own)
    };
    let mut all = Vec::new();
    for site in &sites {
        let (apart, own): (Vec<Rank>, Vec<Rank>) =
            site.iter().copied().partition(|&host| is_apart(host, site));
        all.extend(apart.into_iter().map(|host| vec![host]));
        all.extend((!own.is_empty()).then_some(own));
    }
    all
}

/// The first site whose hosts are farther from each other than a third of what they are from
/// another: what they have to each other, and to the nearest other site.
pub fn torn_site(latencies: &Latencies, site: &[u32]) -> Option<(u32, [f64; 2])> {
    let mut sites: BTreeMap<u32, Vec<Rank>> = BTreeMap::new();
    for (host, site) in (0..).zip(site) {
        sites.entry(*site).or_default().push(host);
    }
    let groups: Vec<Vec<Rank>> = sites.values().cloned().collect();
    sites.iter().find_map(|(&site, own)| {
        let inside = middle(latencies, own, own)?;
        let gap = gap(latencies, own, &groups);
        (gap < APART).then_some((site, [inside, gap * inside]))
    })
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

    /// The latencies of sites of some hosts each, in microseconds: inside, and between two.
    fn far(given: &[u32], inside: &[f64], between: impl Fn(u32, u32) -> f64) -> Latencies {
        let hosts = given.len() as Rank;
        let pairs = (0..hosts).flat_map(|a| (a + 1..hosts).map(move |b| (a, b)));
        let latency = |(a, b): (Rank, Rank)| {
            let (a, b) = (given[a as usize], given[b as usize]);
            if a == b { inside[a as usize] } else { between(a.min(b), a.max(b)) }
        };
        let estimate =
            |value| Estimate { value, interval: None, error: None, reps: 5, reached: true };
        Latencies(pairs.map(|pair| (pair, estimate(1e-6 * latency(pair)))).collect())
    }

    #[test]
    fn a_site_is_found_beside_hosts_that_are_none() {
        let given = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        let all = far(&given, &[5.0, 25.0, 20.0], |_, b| if b == 2 { 5000.0 } else { 60.0 });
        let found = sites_of_hosts(&all, 12);
        assert_eq!(found, given);
        let (site, [inside, outside]) = torn_site(&all, &found).expect("25 us beside 60 us");
        assert!(site == 1 && inside > 24e-6 && outside < 61e-6, "{site}: {inside}, {outside}");
        let all = far(&given, &[5.0, 15.0, 20.0], |_, b| if b == 2 { 5000.0 } else { 60.0 });
        assert_eq!((sites_of_hosts(&all, 12), torn_site(&all, &given)), (given.to_vec(), None));
    }

    #[test]
    fn a_slow_host_stays_and_a_far_one_is_a_site() {
        let given = [0, 0, 0, 0, 1, 1, 1, 1, 2];
        for (own, other, wanted) in [(5000.0, 5000.0, 2), (100.0, 5000.0, 0)] {
            let latency = |a: u32, b: u32| match (a, b) {
                (0, 2) => own,
                (1, 2) => other,
                _ => 5000.0,
            };
            let all = far(&given, &[20.0, 20.0, 0.0], latency);
            let found = sites_of_hosts(&all, 9);
            assert_eq!(found[8], wanted, "{found:?}");
            assert_eq!(torn_site(&all, &found), None);
        }
    }

    #[test]
    fn one_rank_measures_for_its_host() {
        let hosts = ["a", "b", "a", "c", "b"].map(String::from);
        assert_eq!(first_ranks(&hosts), [0, 1, 3]);
        assert_eq!(first_ranks(&[]), []);
    }
}
