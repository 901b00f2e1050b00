//! Which ranks of a site carry what crosses, and the trees within sites that begin at them.

use laneway_core::{Placement, Rank};

use crate::tree::{Knomial, Tree};

/// The ranks of each site in the order in which they are taken as lanes: one of each host, then
/// the second ones.
pub struct Lanes {
    pub placement: Placement,
    orders: Vec<Vec<Rank>>,
    /// Where each rank stands in its site's order.
    places: Vec<u32>,
    limit: usize,
}

impl Lanes {
    /// At most `limit` of each site; 0 for all.
    pub fn new(placement: &Placement, limit: u32) -> Lanes {
        let order = |site: u32| {
            let members = placement.members(site);
            let host = |rank: &Rank| placement.location(*rank).host;
            let mut order: Vec<(usize, Rank)> = Vec::with_capacity(members.len());
            for (at, rank) in members.iter().enumerate() {
                let before = members[..at].iter().filter(|other| host(other) == host(rank));
                order.push((before.count(), *rank));
            }
            order.sort_unstable();
            order.into_iter().map(|(_, rank)| rank).collect()
        };
        let orders = (0..placement.sites()).map(order).collect();
        let limit = if limit == 0 { usize::MAX } else { limit as usize };
        let places = vec![0; placement.ranks() as usize];
        Lanes { placement: placement.clone(), orders, places, limit }.placed()
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
        for order in &self.orders {
            for (place, rank) in order.iter().enumerate() {
                self.places[*rank as usize] = place as u32;
            }
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

    pub fn order(&self, site: usize) -> &[Rank] {
        &self.orders[site]
    }

    /// Where a rank stands in its site's order.
    pub fn place(&self, rank: Rank) -> usize {
        self.places[rank as usize] as usize
    }

    /// How many lanes a site has.
    pub fn count(&self, site: usize) -> usize {
        self.limit.min(self.orders[site].len())
    }

    /// The lanes of the site that has the most.
    pub fn most(&self) -> u64 {
        (0..self.sites()).map(|site| self.count(site)).max().unwrap_or(1) as u64
    }

    /// The rank of a site that takes the piece of a number: one lane after another.
    pub fn head(&self, site: usize, number: u64) -> Rank {
        self.orders[site][(number % self.count(site) as u64) as usize]
    }

    fn tree(&self, head: Rank) -> (&[Rank], Knomial) {
        let order = self.order(self.site(head));
        (order, Knomial { ranks: order.len() as u32, radix: 2 })
    }

    /// A rank's place in the tree that begins at a head of its site. Trees of different heads are
    /// the same one turned round, so that all ranks together pass on equally much.
    fn turned(&self, head: Rank, rank: Rank) -> u32 {
        let ranks = self.order(self.site(head)).len();
        ((self.place(rank) + ranks - self.place(head)) % ranks) as u32
    }

    /// The next rank towards the head; none for the head.
    pub fn parent(&self, head: Rank, rank: Rank) -> Option<Rank> {
        let (order, tree) = self.tree(head);
        let parent = tree.parent(self.turned(head, rank))?;
        Some(order[(parent as usize + self.place(head)) % order.len()])
    }

    pub fn children(&self, head: Rank, rank: Rank) -> Vec<Rank> {
        let (order, tree) = self.tree(head);
        let mut children = Vec::new();
        tree.children(self.turned(head, rank), &mut |child| {
            children.push(order[(child as usize + self.place(head)) % order.len()]);
        });
        children
    }

    /// How many ranks lie between a rank and the head of its tree, the head included.
    pub fn depth(&self, head: Rank, rank: Rank) -> u32 {
        let (_, tree) = self.tree(head);
        let above = |place: &u32| tree.parent(*place);
        std::iter::successors(Some(self.turned(head, rank)), above).count() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Location;

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
    fn a_tree_is_the_same_from_above_and_from_below() {
        let placement = Placement::one_site(11);
        let lanes = Lanes::new(&placement, 0);
        for head in 0..11 {
            assert_eq!((lanes.parent(head, head), lanes.depth(head, head)), (None, 0));
            for rank in 0..11 {
                for child in lanes.children(head, rank) {
                    assert_eq!(lanes.parent(head, child), Some(rank));
                    assert_eq!(lanes.depth(head, child), lanes.depth(head, rank) + 1);
                }
            }
        }
    }
}
