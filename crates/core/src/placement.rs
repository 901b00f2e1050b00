//! Where ranks are: at which site, on which host, with which card for other sites.
//!
//! An algorithm that knows it sends across the wide area once and by several hosts; one that does
//! not need not ask. A placement says nothing of rates: these are for who chooses an algorithm.

use crate::schedule::Rank;

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
}

impl Placement {
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
        let locations = locations.iter().map(renumbered).collect();
        let count = sites.len();
        let distances = (0..count * count).map(|at| u64::from(at / count != at % count)).collect();
        Placement { locations, sites, distances }
    }

    /// With how far each site is from each, as any number that is larger for what is farther.
    pub fn with_distances(mut self, distance: impl Fn(u32, u32) -> u64) -> Placement {
        let count = self.sites.len();
        let between = |at: usize| distance((at / count) as u32, (at % count) as u32);
        self.distances = (0..count * count).map(between).collect();
        self
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
        let distance = |other: &u32| self.distances[(site * self.sites() + other) as usize];
        all.sort_by_key(|other| std::cmp::Reverse(distance(other)));
        all
    }
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
}
