//! Which ranks of a site carry what crosses, and the trees within sites that begin at them.

use laneway_core::{Placement, Rank, placement::slowness};

use super::ways::Ways;
use crate::tree::{Knomial, Tree};

/// Ranks pass nothing on whose host has less than half the rate of the middle one, in quarters.
const SLOW: u64 = 8;

/// The ranks of each site in the order in which they are taken as lanes: one of each host, the
/// fastest first, then the second ones. Slow ones come last, and are leaves of every tree.
pub struct Lanes {
    pub placement: Placement,
    orders: Vec<Vec<Rank>>,
    /// How many at the front of each order are not slow.
    inner: Vec<usize>,
    /// Where each rank stands in its site's order.
    places: Vec<u32>,
    limit: usize,
    ways: Ways,
}

impl Lanes {
    /// At most `limit` of each site; 0 for all.
    pub fn new(placement: &Placement, limit: u32) -> Lanes {
        let order = |site: u32| {
            let members = placement.members(site);
            let host = |rank: &Rank| placement.location(*rank).host;
            let most = members.iter().map(|rank| placement.speed(*rank)).max().unwrap_or(1);
            let usual = middle(placement, members);
            let mut order = Vec::with_capacity(members.len());
            for (at, rank) in members.iter().enumerate() {
                let before = members[..at].iter().filter(|other| host(other) == host(rank));
                let speed = placement.speed(*rank);
                let is_slow = slowness(usual, speed) > SLOW;
                order.push((is_slow, before.count(), slowness(most, speed), *rank));
            }
            order.sort_unstable();
            order.into_iter().map(|(.., rank)| rank).collect()
        };
        let orders: Vec<Vec<Rank>> = (0..placement.sites()).map(order).collect();
        let limit = if limit == 0 { usize::MAX } else { limit as usize };
        let places = vec![0; placement.ranks() as usize];
        let ways = Ways::new(placement.sites(), 0, false);
        let inner = vec![0; orders.len()];
        Lanes { placement: placement.clone(), orders, inner, places, limit, ways }.placed()
    }

    /// With pieces that pass from site to site, each of which serves at most `fan` others; with 0
    /// the site where they begin serves all. Pieces of `bytes` take the nearest ways if latencies
    /// are most of their time, and the widest otherwise.
    pub fn with_fan(mut self, fan: u32, bytes: u64) -> Lanes {
        self.ways = Ways::new(self.placement.sites(), fan, self.placement.is_short(bytes));
        self
    }

    /// Without a rank that has everything already, unless it is alone at its site.
    pub fn without(mut self, rank: Rank) -> Lanes {
        let site = self.site(rank);
        if self.orders[site].len() > 1 {
            self.orders[site].remove(self.places[rank as usize] as usize);
        }
        self.placed()
    }

    fn placed(mut self) -> Lanes {
        for (site, order) in self.orders.iter().enumerate() {
            for (place, rank) in order.iter().enumerate() {
                self.places[*rank as usize] = place as u32;
            }
            let usual = middle(&self.placement, order);
            let is_fast = |rank: &&Rank| slowness(usual, self.placement.speed(**rank)) <= SLOW;
            self.inner[site] = order.iter().take_while(is_fast).count();
        }
        self
    }

    pub fn site(&self, rank: Rank) -> usize {
        self.placement.location(rank).site as usize
    }

    pub fn sites(&self) -> usize {
        self.orders.len()
    }

    /// The other sites, the farthest first.
    pub fn others(&self, site: usize) -> impl Iterator<Item = usize> {
        self.placement.others(site as u32).into_iter().map(|other| other as usize)
    }

    /// The site that a site has pieces from which begin at `first`; none at that itself.
    pub fn before(&self, first: usize, site: usize) -> Option<usize> {
        self.ways.parent(&self.placement, first, site)
    }

    /// The sites that a site serves with pieces which begin at `first`.
    pub fn after(&self, first: usize, site: usize) -> &[usize] {
        self.ways.children(&self.placement, first, site)
    }

    /// How many crossings a site is from `first`.
    pub fn crossings(&self, first: usize, site: usize) -> u32 {
        self.ways.depth(&self.placement, first, site)
    }

    pub fn order(&self, site: usize) -> &[Rank] {
        &self.orders[site]
    }

    /// The ranks of a site that are not slow, in order.
    pub fn fast(&self, site: usize) -> &[Rank] {
        &self.orders[site][..self.inner[site]]
    }

    /// Where a rank stands in its site's order.
    pub fn place(&self, rank: Rank) -> usize {
        self.places[rank as usize] as usize
    }

    /// How many lanes a site has.
    pub fn count(&self, site: usize) -> usize {
        self.limit.min(self.inner[site])
    }

    /// The lanes of the site that has the most.
    pub fn most(&self) -> u64 {
        (0..self.sites()).map(|site| self.count(site)).max().unwrap_or(1) as u64
    }

    /// The rank of a site that takes the piece of a number: one lane after another.
    pub fn head(&self, site: usize, number: u64) -> Rank {
        self.orders[site][(number % self.count(site) as u64) as usize]
    }

    /// The ranks of a site that pass pieces on, their tree, and the place where it begins: that of
    /// the head, or that of the one rank that a slow head serves.
    fn tree(&self, head: Rank) -> (&[Rank], Knomial, usize) {
        let inner = self.fast(self.site(head));
        let first = self.place(head) % inner.len();
        (inner, Knomial { ranks: inner.len() as u32, radix: 2 }, first)
    }

    /// The rank that a slow one hangs at: each at another one.
    fn above_slow(&self, inner: &[Rank], first: usize, rank: Rank) -> Rank {
        inner[(first + self.place(rank)) % inner.len()]
    }

    /// The next rank towards the head; none for the head. Trees of different heads are the same one
    /// turned round, so that all ranks together pass on equally much.
    pub fn parent(&self, head: Rank, rank: Rank) -> Option<Rank> {
        if rank == head {
            return None;
        }
        let (inner, tree, first) = self.tree(head);
        let (place, count) = (self.place(rank), inner.len());
        if place >= count {
            return Some(self.above_slow(inner, first, rank));
        }
        let parent = tree.parent(((place + count - first) % count) as u32);
        Some(parent.map_or(head, |parent| inner[(parent as usize + first) % count]))
    }

    /// Adds the ranks that have `rank` as their parent.
    pub fn children(&self, head: Rank, rank: Rank, children: &mut Vec<Rank>) {
        let (inner, tree, first) = self.tree(head);
        let (place, count) = (self.place(rank), inner.len());
        if place >= count {
            return children.extend((rank == head).then_some(inner[first]));
        }
        tree.children(((place + count - first) % count) as u32, &mut |child| {
            children.push(inner[(child as usize + first) % count]);
        });
        let slow = self.orders[self.site(head)][count..].iter();
        let slow = slow.filter(|one| **one != head && self.above_slow(inner, first, **one) == rank);
        children.extend(slow);
    }

    /// How many ranks lie between a rank and the head of its tree, the head included.
    pub fn depth(&self, head: Rank, rank: Rank) -> u32 {
        if rank == head {
            return 0;
        }
        let (inner, tree, first) = self.tree(head);
        let count = inner.len();
        // A slow head serves the tree's first rank, and slow ranks hang at others.
        let below_head = u32::from(self.place(head) >= count);
        let depth = |rank: Rank| {
            let place = (self.place(rank) + count - first) % count;
            tree.depth(place as u32) + below_head
        };
        match self.place(rank) >= count {
            true => 1 + depth(self.above_slow(inner, first, rank)),
            false => depth(rank),
        }
    }
}

/// The middle one of the rates of some ranks' hosts: a single fast host makes no other one slow.
fn middle(placement: &Placement, ranks: &[Rank]) -> u64 {
    let mut speeds: Vec<u64> = ranks.iter().map(|rank| placement.speed(*rank)).collect();
    speeds.sort_unstable();
    speeds.get(speeds.len() / 2).copied().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Location;

    fn children(lanes: &Lanes, head: Rank, rank: Rank) -> Vec<Rank> {
        let mut children = Vec::new();
        lanes.children(head, rank, &mut children);
        children
    }

    #[test]
    fn lanes_are_on_hosts_of_their_own_while_there_are_any() {
        let hosts = [(0, 0), (0, 0), (0, 1), (0, 1), (1, 2), (0, 1)];
        let place = |(site, host)| Location { site, host, wan_card: false };
        let placement = Placement::new(hosts.map(place).to_vec());
        let lanes = Lanes::new(&placement, 0);
        assert_eq!(lanes.order(0), [0, 2, 1, 3, 5]);
        assert_eq!((lanes.head(0, 6), lanes.head(1, 6), lanes.most()), (2, 4, 5));
        let two = Lanes::new(&placement, 2);
        assert_eq!([0, 1, 2].map(|number| two.head(0, number)), [0, 2, 0]);
        assert_eq!(Lanes::new(&placement, 0).without(2).order(0), [0, 1, 3, 5]);
        assert_eq!(Lanes::new(&placement, 0).without(4).order(1), [4]);
    }

    #[test]
    fn slow_hosts_are_no_lanes_and_pass_nothing_on() {
        let placement = Placement::one_site(6);
        let placement = placement.with_speeds(|rank| [5, 9, 1, 9, 2, 9][rank as usize]);
        let lanes = Lanes::new(&placement, 0);
        assert_eq!((lanes.order(0), lanes.count(0)), (&[1, 3, 5, 0, 4, 2][..], 4));
        assert!(children(&lanes, 1, 4).is_empty());
        assert_eq!(children(&lanes, 2, 2).len(), 1);
        let alone = Lanes::new(&placement, 0).without(1).without(3).without(5).without(0);
        assert_eq!((alone.order(0), alone.count(0)), (&[4, 2][..], 2));
        let fat = Placement::one_site(4).with_speeds(|rank| if rank == 2 { 100 } else { 10 });
        let lanes = Lanes::new(&fat, 0);
        assert_eq!((lanes.order(0), lanes.count(0)), (&[2, 0, 1, 3][..], 4));
    }

    #[test]
    fn a_tree_is_the_same_from_above_and_from_below() {
        let same = Placement::one_site(11);
        let slow = same.clone().with_speeds(|rank| if rank % 4 == 1 { 10 } else { 90 });
        [same, slow].iter().for_each(is_a_tree);
    }

    fn is_a_tree(placement: &Placement) {
        let lanes = Lanes::new(placement, 0);
        for head in 0..11 {
            let counts = (0..11).map(|rank| children(&lanes, head, rank).len());
            assert_eq!(counts.sum::<usize>(), 10);
            assert_eq!((lanes.parent(head, head), lanes.depth(head, head)), (None, 0));
            for rank in 0..11 {
                for child in children(&lanes, head, rank) {
                    assert_eq!(lanes.parent(head, child), Some(rank));
                    assert_eq!(lanes.depth(head, child), lanes.depth(head, rank) + 1);
                }
            }
        }
    }
}
