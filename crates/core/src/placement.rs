//! Where ranks are: at which site, on which host, with which card for other sites.
//!
//! An algorithm that knows it sends across the wide area once and by several hosts; one that does
//! not need not ask. Rates are numbers to compare: they order hosts and sites, and predict no time.

use std::cmp::Reverse;

use crate::schedule::Rank;

/// Quarters of a rate that count as equally fast.
const QUARTERS: u128 = 4;

/// The location of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The site number.
    pub site: u32,
    /// The host number; ranks with the same number share a host and its cards.
    pub host: u32,
    /// Whether the host has a separate card for other sites.
    pub wan_card: bool,
}

/// The locations of all ranks of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    locations: Vec<Location>,
    sites: Vec<Vec<Rank>>,
    /// From site to site, row by row: how far, as a number to compare.
    distances: Vec<u64>,
    /// From site to site, row by row: bytes a second.
    rates: Vec<u64>,
    /// Of each rank's host: bytes a second.
    speeds: Vec<u64>,
}

impl Placement {
    /// Distances of sites are latencies in these parts of a second.
    pub const DISTANCES_PER_SECOND: f64 = 1e12;

    /// Places all ranks at one site, each on a host of its own.
    pub fn one_site(ranks: u32) -> Placement {
        let location = |host| Location { host, ..Location::default() };
        Placement::new((0..ranks).map(location).collect())
    }

    /// Ranks at these places; sites without a rank count for nothing. Any two sites are equally far
    /// from each other.
    pub fn new(locations: Vec<Location>) -> Placement {
        let mut numbers: Vec<u32> = locations.iter().map(|location| location.site).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let number = |site: u32| numbers.binary_search(&site).unwrap_or(0);
        let mut sites = vec![Vec::new(); numbers.len()];
        for (rank, location) in locations.iter().enumerate() {
            sites[number(location.site)].push(rank as Rank);
        }
        let renumbered =
            |location: &Location| Location { site: number(location.site) as u32, ..*location };
        let locations: Vec<Location> = locations.iter().map(renumbered).collect();
        let count = sites.len();
        let distances = (0..count * count).map(|at| u64::from(at / count != at % count)).collect();
        let (rates, speeds) = (vec![u64::MAX; count * count], vec![u64::MAX; locations.len()]);
        Placement { locations, sites, distances, rates, speeds }
    }

    /// With how far each site is from each: its latency, in parts of
    /// [`Placement::DISTANCES_PER_SECOND`].
    pub fn with_distances(mut self, distance: impl Fn(u32, u32) -> u64) -> Placement {
        let count = self.sites.len();
        let between = |at: usize| distance((at / count) as u32, (at % count) as u32);
        self.distances = (0..count * count).map(between).collect();
        self
    }

    /// With the bytes a second that all ranks of a site together can send to each other site.
    pub fn with_rates(mut self, rate: impl Fn(u32, u32) -> u64) -> Placement {
        let count = self.sites.len();
        let between = |at: usize| rate((at / count) as u32, (at % count) as u32);
        self.rates = (0..count * count).map(between).collect();
        self
    }

    /// With the bytes a second of the slowest card of each rank's host.
    pub fn with_speeds(mut self, speed: impl Fn(Rank) -> u64) -> Placement {
        self.speeds = (0..self.ranks()).map(speed).collect();
        self
    }

    /// The placement of ranks that take the places of these, in their order.
    pub fn in_order(&self, ranks: &[Rank]) -> Placement {
        let mut placement = self.clone();
        placement.locations = ranks.iter().map(|rank| self.location(*rank)).collect();
        placement.speeds = ranks.iter().map(|rank| self.speed(*rank)).collect();
        placement.sites = vec![Vec::new(); self.sites.len()];
        for (place, location) in (0..).zip(&placement.locations) {
            placement.sites[location.site as usize].push(place);
        }
        placement
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.locations.len() as u32
    }

    /// The location of a rank.
    pub fn location(&self, rank: Rank) -> Location {
        self.locations[rank as usize]
    }

    /// The number of sites with a rank; they are numbered from 0.
    pub fn sites(&self) -> u32 {
        self.sites.len() as u32
    }

    /// The ranks of a site, in their order.
    pub fn members(&self, site: u32) -> &[Rank] {
        &self.sites[site as usize]
    }

    /// The ranks of a rank's own site, beginning with it.
    pub fn neighbours(&self, rank: Rank) -> Vec<Rank> {
        let mut all = self.members(self.location(rank).site).to_vec();
        let own = all.iter().position(|one| *one == rank).unwrap_or(0);
        all.rotate_left(own);
        all
    }

    /// The other sites, the farthest from this one first.
    pub fn others(&self, site: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.sites()).filter(|other| *other != site).collect();
        all.sort_by_key(|other| Reverse(self.distances[self.between(site, *other)]));
        all
    }

    /// How far a site is from another one, as [`Placement::with_distances`] has it.
    pub fn distance(&self, from: u32, to: u32) -> u64 {
        self.distances[self.between(from, to)]
    }

    fn between(&self, from: u32, to: u32) -> usize {
        (from * self.sites() + to) as usize
    }

    /// Bytes a second from one site to another; `u64::MAX` without a limit.
    pub fn rate(&self, from: u32, to: u32) -> u64 {
        self.rates[self.between(from, to)]
    }

    /// Bytes a second of the slowest card of a rank's host; `u64::MAX` without a limit.
    pub fn speed(&self, rank: Rank) -> u64 {
        self.speeds[rank as usize]
    }

    /// How many times slower a rank's host is than the fastest of its site, in quarters: 4 for all
    /// hosts that are less than a quarter slower.
    pub fn slowness(&self, rank: Rank) -> u64 {
        let site = self.members(self.location(rank).site);
        slowness(site.iter().map(|one| self.speed(*one)).max().unwrap_or(1), self.speed(rank))
    }

    /// Some ranks of one site with the fast hosts first; equally fast ones stay in their order.
    pub fn fastest_first(&self, mut ranks: Vec<Rank>) -> Vec<Rank> {
        let most = ranks.iter().map(|rank| self.speed(*rank)).max().unwrap_or(1);
        ranks.sort_by_key(|rank| slowness(most, self.speed(*rank)));
        ranks
    }

    /// The parent of each site in a tree from one site to all others: a site joins by the widest
    /// way from a site in the tree, and of equal ones by the one with the fewest sites before it.
    /// No site has more than `fan` children.
    pub fn site_tree(&self, root: u32, fan: u32) -> Vec<Option<u32>> {
        let sites = self.sites() as usize;
        let widest = |from: u32| {
            let others = (0..self.sites()).filter(move |to| *to != from);
            others.map(|to| self.rate(from, to)).max().unwrap_or(0)
        };
        let onward: Vec<u64> = (0..self.sites()).map(widest).collect();
        let most = onward.iter().copied().max().unwrap_or(1);
        let (mut parents, mut children) = (vec![None; sites], vec![0; sites]);
        let mut depths = vec![0; sites];
        let mut tree = vec![root];
        while tree.len() < sites {
            let open = tree.iter().filter(|from| children[**from as usize] < fan.max(1));
            let ways = open.flat_map(|from| {
                let outside = (0..self.sites()).filter(|to| !tree.contains(to));
                outside.map(move |to| (*from, to))
            });
            let best = ways.min_by_key(|(from, to)| {
                let rate = slowness(most, self.rate(*from, *to));
                let next = slowness(most, onward[*to as usize]);
                let distance = self.distances[self.between(*from, *to)];
                let number = (*to + self.sites() - root) % self.sites();
                (rate, depths[*from as usize], next, distance, number)
            });
            let Some((from, to)) = best else { break };
            parents[to as usize] = Some(from);
            children[from as usize] += 1;
            depths[to as usize] = depths[from as usize] + 1;
            tree.push(to);
        }
        parents
    }

    /// The same by latencies: a site joins by the way on which it is reached earliest, over the
    /// sites before it.
    pub fn nearest_site_tree(&self, root: u32, fan: u32) -> Vec<Option<u32>> {
        let sites = self.sites() as usize;
        let (mut parents, mut children) = (vec![None; sites], vec![0; sites]);
        let mut reached = vec![0_u64; sites];
        let mut tree = vec![root];
        while tree.len() < sites {
            let open = tree.iter().filter(|from| children[**from as usize] < fan.max(1));
            let ways = open.flat_map(|from| {
                let outside = (0..self.sites()).filter(|to| !tree.contains(to));
                outside.map(move |to| (*from, to))
            });
            let best = ways.map(|(from, to)| {
                let way = self.distances[self.between(from, to)];
                (reached[from as usize].saturating_add(way), from, to)
            });
            let Some((end, from, to)) = best.min() else { break };
            parents[to as usize] = Some(from);
            children[from as usize] += 1;
            reached[to as usize] = end;
            tree.push(to);
        }
        parents
    }

    /// Whether this number of bytes takes less time on most ways between sites than the latencies
    /// there.
    pub fn is_short(&self, bytes: u64) -> bool {
        let sites = || 0..self.sites();
        let pairs = sites().flat_map(|from| sites().map(move |to| (from, to)));
        let ways = || pairs.clone().filter(|(from, to)| from != to);
        let is_short = |(from, to): &(u32, u32)| {
            let seconds = bytes as f64 / self.rate(*from, *to).max(1) as f64;
            seconds * Placement::DISTANCES_PER_SECOND < self.distance(*from, *to) as f64
        };
        2 * ways().filter(is_short).count() > ways().count()
    }

    /// All ranks by site and host, so that neighbours are near each other: a chain of sites, each
    /// with its fast hosts first. A root is the first of its host, its host of its site, and its
    /// site of all; what lies before it in these comes last.
    pub fn by_site(&self, root: Option<Rank>) -> Vec<Rank> {
        let first = root.map_or(0, |root| self.location(root).site);
        let chain = self.site_tree(first, 1);
        let after = |here: &u32| {
            let next = chain.iter().position(|parent| *parent == Some(*here));
            next.map(|next| next as u32)
        };
        let sites = std::iter::successors((self.sites() > 0).then_some(first), after);
        self.in_sites(sites.collect(), root)
    }

    /// The same with the sites in the order of their numbers.
    pub fn by_site_number(&self, root: Option<Rank>) -> Vec<Rank> {
        let mut sites: Vec<u32> = (0..self.sites()).collect();
        sites.sort_by_key(|site| root.is_some_and(|root| self.location(root).site != *site));
        self.in_sites(sites, root)
    }

    /// The same with the largest sites first, after that of a root.
    pub fn by_site_size(&self, root: Option<Rank>) -> Vec<Rank> {
        let mut sites: Vec<u32> = (0..self.sites()).collect();
        sites.sort_by_key(|site| {
            let is_other = root.is_some_and(|root| self.location(root).site != *site);
            (is_other, Reverse(self.members(*site).len()))
        });
        self.in_sites(sites, root)
    }

    /// All ranks, site by site.
    fn in_sites(&self, sites: Vec<u32>, root: Option<Rank>) -> Vec<Rank> {
        let home = root.map(|root| self.location(root));
        let mut order = Vec::with_capacity(self.locations.len());
        for here in sites {
            let members = self.members(here);
            let most = members.iter().map(|rank| self.speed(*rank)).max().unwrap_or(1);
            let mut ranks = members.to_vec();
            let first = home.filter(|home| home.site == here).map(|home| home.host);
            ranks.sort_by_key(|rank| {
                let host = self.location(*rank).host;
                let is_before = first.is_some_and(|first| host < first);
                let slowness = slowness(most, self.speed(*rank));
                let in_host = (first == Some(host) && root.is_some_and(|root| *rank < root), *rank);
                (first != Some(host), slowness, is_before, host, in_host)
            });
            order.extend(ranks);
        }
        order
    }
}

/// How many times slower `rate` is than `most`, in quarters.
pub fn slowness(most: u64, rate: u64) -> u64 {
    (QUARTERS * u128::from(most) / u128::from(rate.max(1))).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sites: &[u32]) -> Placement {
        let location = |(host, site): (usize, &u32)| Location {
            site: *site,
            host: host as u32,
            wan_card: false,
        };
        Placement::new(sites.iter().enumerate().map(location).collect())
    }

    #[test]
    fn sites_are_numbered_without_gaps_and_know_their_ranks() {
        let placement = at(&[7, 3, 7, 9, 3]);
        assert_eq!((placement.sites(), placement.ranks()), (3, 5));
        assert_eq!(placement.members(0), [1, 4]);
        assert_eq!(placement.members(1), [0, 2]);
        assert_eq!(placement.location(3).site, 2);
        assert_eq!(placement.neighbours(2), [2, 0]);
        assert_eq!(Placement::one_site(3).members(0), [0, 1, 2]);
    }

    #[test]
    fn the_farthest_site_is_first() {
        let placement = at(&[0, 1, 2, 3]).with_distances(|a, b| [9, 5, 30, 5][(a ^ b) as usize]);
        assert_eq!(placement.others(0), [2, 1, 3]);
        assert_eq!(placement.others(3), [1, 0, 2]);
    }

    #[test]
    fn ranks_by_site_begin_with_the_root_and_end_with_slow_hosts() {
        let placement = at(&[0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(placement.by_site(None), [0, 3, 6, 1, 4, 2, 5]);
        assert_eq!(placement.by_site(Some(4)), [4, 1, 2, 5, 0, 3, 6]);
        assert_eq!(Placement::one_site(4).by_site(Some(2)), [2, 3, 0, 1]);
        assert_eq!(placement.by_site_number(Some(4)), [4, 1, 0, 3, 6, 2, 5]);
        assert_eq!(placement.by_site_number(None), [0, 3, 6, 1, 4, 2, 5]);
        let unequal = at(&[0, 1, 2, 2, 1, 2]);
        assert_eq!(unequal.by_site_size(None), [2, 3, 5, 1, 4, 0]);
        assert_eq!(unequal.by_site_size(Some(0)), [0, 2, 3, 5, 1, 4]);
        let slow = placement.with_speeds(|rank| if rank == 3 { 10 } else { 90 + u64::from(rank) });
        assert_eq!(slow.by_site(Some(0)), [0, 6, 3, 1, 4, 2, 5]);
        assert_eq!(slow.fastest_first(vec![3, 0, 6]), [0, 6, 3]);
        assert_eq!((slow.slowness(0), slow.slowness(3)), (4, 38));
    }

    #[test]
    fn ranks_of_a_host_are_neighbours() {
        let hosts = [5, 7, 5, 7, 5];
        let location = |host| Location { site: 0, host, wan_card: false };
        let placement = Placement::new(hosts.map(location).to_vec());
        assert_eq!(placement.by_site(Some(3)), [3, 1, 0, 2, 4]);
    }

    #[test]
    fn ranks_take_the_places_of_others() {
        let placement = at(&[1, 0, 1, 0]).with_speeds(|rank| 10 + u64::from(rank));
        let turned = placement.in_order(&[3, 1, 0, 2]);
        assert_eq!((turned.members(0), turned.members(1)), (&[0, 1][..], &[2, 3][..]));
        assert_eq!((turned.location(2), turned.speed(0)), (placement.location(0), 13));
        assert_eq!(turned.in_order(&[2, 1, 3, 0]), placement);
    }

    #[test]
    fn a_tree_of_sites_takes_the_widest_ways() {
        // From 0 to 1 the way over 2 is wider.
        let wide = |a: u32, b: u32| if a + b == 1 { 10 } else { 1000 };
        let placement = at(&[0, 1, 2]).with_rates(wide);
        assert_eq!(placement.site_tree(0, 9), [None, Some(2), Some(0)]);
        let equal = at(&[0, 1, 2, 3, 4]);
        assert_eq!(equal.site_tree(1, 9), [Some(1), None, Some(1), Some(1), Some(1)]);
        assert_eq!(equal.site_tree(1, 1), [Some(4), None, Some(1), Some(2), Some(3)]);
        assert_eq!(equal.site_tree(0, 2), [None, Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn a_tree_of_sites_takes_the_nearest_ways_for_short_pieces() {
        // From 0 to 1 the way over 2 is nearer, though it is narrower.
        let far = |a: u32, b: u32| if a + b == 1 { 9_000_000 } else { 2_000_000 };
        let wide = |a: u32, b: u32| if a + b == 1 { 1000 } else { 10 };
        let placement = at(&[0, 1, 2]).with_distances(far).with_rates(wide);
        assert_eq!(placement.nearest_site_tree(0, 9), [None, Some(2), Some(0)]);
        assert_eq!(placement.site_tree(0, 9), [None, Some(0), Some(0)]);
        let equal = at(&[0, 1, 2, 3]);
        assert_eq!(equal.nearest_site_tree(1, 1), [Some(1), None, Some(0), Some(2)]);
        // A byte takes 0.1 s or a millisecond, and 2 or 9 us of latency.
        assert!(!placement.is_short(1));
        let fast = placement.with_rates(|_, _| 1 << 30);
        assert!(fast.is_short(1000) && !fast.is_short(10_000));
    }
}
