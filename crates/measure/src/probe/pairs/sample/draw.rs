//! Which pairs are measured: random partners, within each host, within each site, and between
//! sites.

use std::collections::{BTreeMap, BTreeSet};

use laneway_core::Rank;
use laneway_stats::SplitMix64;

use super::{PARTNERS, Sample};
use crate::p2p::Plan;

/// How far apart the ranks of a pair are: pairs of one kind can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    Host,
    Site,
    Far,
}

/// Random pairs by a seed.
pub(super) struct Draw {
    random: SplitMix64,
    partners: u32,
    /// Of each rank.
    numbers: Vec<u32>,
    sites: Vec<u32>,
    /// The ranks of each host, by its number, and the hosts of each site.
    hosts: BTreeMap<u32, Vec<Rank>>,
    by_site: BTreeMap<u32, Vec<u32>>,
    drawn: BTreeSet<(Rank, Rank)>,
}

/// Each host has this part of its partners at other sites, and two at least: their ways are shared,
/// so that they are measured one after another.
const FAR_PART: u32 = 4;

impl Draw {
    pub fn new(numbers: &[u32], sites: &[u32], sample: Sample) -> Draw {
        let mut hosts: BTreeMap<u32, Vec<Rank>> = BTreeMap::new();
        for (&host, rank) in numbers.iter().zip(0..) {
            hosts.entry(host).or_default().push(rank);
        }
        let mut by_site: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&host, ranks) in &hosts {
            by_site.entry(sites[ranks[0] as usize]).or_default().push(host);
        }
        Draw {
            random: SplitMix64::new(sample.seed),
            partners: sample.partners.unwrap_or(PARTNERS),
            numbers: numbers.to_vec(),
            sites: sites.to_vec(),
            hosts,
            by_site,
            drawn: BTreeSet::new(),
        }
    }

    pub fn distance(&self, a: Rank, b: Rank) -> Distance {
        let [a, b] = [a as usize, b as usize];
        match (self.numbers[a] == self.numbers[b], self.sites[a] == self.sites[b]) {
            (true, _) => Distance::Host,
            (false, true) => Distance::Site,
            (false, false) => Distance::Far,
        }
    }

    /// The pairs that a sample begins with.
    pub fn pairs(&mut self) -> Vec<Vec<Rank>> {
        let mut pairs = Vec::new();
        for ranks in self.hosts.clone().into_values() {
            pairs
                .extend(self.matched(ranks, self.partners).into_iter().map(|[a, b]| ordered(a, b)));
        }
        for hosts in self.by_site.clone().into_values() {
            for pair in self.matched(hosts, self.partners) {
                pairs.push(self.ranks_of(pair));
            }
        }
        for _ in 0..(self.partners / FAR_PART).max(2) {
            for pair in self.far() {
                pairs.push(self.ranks_of(pair));
            }
        }
        let new = |pair: &(Rank, Rank)| self.drawn.insert(*pair);
        pairs.into_iter().filter(new).map(|(from, to)| vec![from, to]).collect()
    }

    /// Each of them with a number of others, by rounds in which all meet.
    fn matched(&mut self, mut all: Vec<u32>, partners: u32) -> Vec<[u32; 2]> {
        let count = all.len() as u32;
        self.random.shuffle(&mut all);
        let mut pairs = Vec::new();
        // Where their number is odd one rests in each round.
        let rounds = (partners + count % 2).min(Plan::rounds_of_pairs(count));
        for turn in 0..rounds {
            for place in 0..count {
                let other = Plan::partner(count, turn, place).filter(|&other| other > place);
                pairs.extend(other.map(|other| [all[place as usize], all[other as usize]]));
            }
        }
        pairs
    }

    /// Every host with one of another site at least.
    fn far(&mut self) -> Vec<[u32; 2]> {
        if self.by_site.len() < 2 {
            return Vec::new();
        }
        let mut open: Vec<Vec<u32>> = self.by_site.values().cloned().collect();
        open.iter_mut().for_each(|hosts| self.random.shuffle(hosts));
        let mut pairs = Vec::new();
        loop {
            // The two sites with most hosts left; equal ones in a random order.
            self.random.shuffle(&mut open);
            open.sort_by_key(|hosts| std::cmp::Reverse(hosts.len()));
            let (first, rest) = open.split_at_mut(1);
            let Some(one) = first[0].pop() else { return pairs };
            let other = rest[0].pop().or_else(|| self.far_host(one));
            pairs.extend(other.map(|other| [one, other]));
        }
    }

    /// A host of another site.
    fn far_host(&mut self, host: u32) -> Option<u32> {
        let site = self.sites[*self.hosts.get(&host)?.first()? as usize];
        let others = self.by_site.iter().filter(|(other, _)| **other != site);
        let others: Vec<u32> = others.flat_map(|(_, hosts)| hosts).copied().collect();
        others.get(self.random.index(others.len())).copied()
    }

    /// A rank of each, the lower one first.
    fn ranks_of(&mut self, pair: [u32; 2]) -> (Rank, Rank) {
        let [a, b] = pair.map(|host| {
            let own = self.hosts.get(&host).map_or(&[][..], Vec::as_slice);
            own.get(self.random.index(own.len())).copied().unwrap_or_default()
        });
        ordered(a, b)
    }

    /// A number of further partners of a rank's host, or of the rank within its host, that are none
    /// of those to `avoid` and were not measured with this rank.
    pub fn further(
        &mut self,
        rank: Rank,
        distance: Distance,
        count: usize,
        avoid: &BTreeSet<u32>,
    ) -> Vec<(Rank, Rank)> {
        let mut others: Vec<Rank> = (0..self.numbers.len() as Rank)
            .filter(|&other| other != rank && self.distance(rank, other) == distance)
            .filter(|&other| distance == Distance::Host || !avoid.contains(&self.host(other)))
            .filter(|&other| !self.drawn.contains(&ordered(rank, other)))
            .collect();
        self.random.shuffle(&mut others);
        // Of each other host one rank.
        let mut hosts = BTreeSet::new();
        if distance != Distance::Host {
            others.retain(|&other| hosts.insert(self.numbers[other as usize]));
        }
        others.truncate(count);
        let pairs: Vec<_> = others.into_iter().map(|other| ordered(rank, other)).collect();
        self.drawn.extend(&pairs);
        pairs
    }

    /// Takes a pair, unless it was drawn before.
    pub fn take(&mut self, a: Rank, b: Rank) -> Option<(Rank, Rank)> {
        let pair = ordered(a, b);
        self.drawn.insert(pair).then_some(pair)
    }

    /// A pair that was taken and is not measured.
    pub fn give_back(&mut self, pair: (Rank, Rank)) {
        self.drawn.remove(&pair);
    }

    pub fn is_drawn(&self, a: Rank, b: Rank) -> bool {
        self.drawn.contains(&ordered(a, b))
    }

    /// The number of a rank's host.
    pub fn host(&self, rank: Rank) -> u32 {
        self.numbers[rank as usize]
    }

    /// Pairs of hosts, and ranks of one host.
    pub fn count_all(&self) -> u64 {
        let pairs = |count: usize| count as u64 * (count as u64).saturating_sub(1) / 2;
        pairs(self.hosts.len()) + self.hosts.values().map(|ranks| pairs(ranks.len())).sum::<u64>()
    }
}

fn ordered(a: Rank, b: Rank) -> (Rank, Rank) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(numbers: &[u32], sites: &[u32], partners: u32) -> Vec<Vec<Rank>> {
        let sample = Sample { partners: Some(partners), seed: 7 };
        Draw::new(numbers, sites, sample).pairs()
    }

    fn partners(pairs: &[Vec<Rank>], rank: Rank) -> usize {
        pairs.iter().filter(|pair| pair.contains(&rank)).count()
    }

    #[test]
    fn each_host_has_its_partners() {
        for count in [2u32, 3, 7, 16, 33] {
            let numbers: Vec<u32> = (0..count).collect();
            let pairs = draw(&numbers, &vec![0; count as usize], 4);
            for rank in 0..count {
                let own = partners(&pairs, rank);
                assert!((4.min(count as usize - 1)..=5).contains(&own), "{count} {rank}: {own}");
            }
        }
    }

    #[test]
    fn sites_and_hosts_have_pairs_of_their_own() {
        // Three sites of 6, 3 and 1 hosts, two ranks on each.
        let numbers: Vec<u32> = (0..20).map(|rank| rank / 2).collect();
        let site = |host: &u32| if *host < 6 { 0 } else { 1 + u32::from(*host == 9) };
        let sites: Vec<u32> = numbers.iter().map(site).collect();
        let pairs = draw(&numbers, &sites, 2);
        let far = |pair: &&Vec<Rank>| sites[pair[0] as usize] != sites[pair[1] as usize];
        let of_host =
            |host: u32, pair: &Vec<Rank>| pair.iter().any(|r| numbers[*r as usize] == host);
        for host in 0..10 {
            let own = pairs.iter().filter(far).filter(|pair| of_host(host, pair)).count();
            assert!(own >= 2, "{host}: {own}");
        }
        let inside = pairs.iter().filter(|p| numbers[p[0] as usize] == numbers[p[1] as usize]);
        assert_eq!(inside.count(), 10);
        let mut distinct = pairs.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), pairs.len());
    }
}
