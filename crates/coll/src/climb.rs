//! Trees as a reduction climbs them: in which order a node joins what its children bring.

use crate::cores::nearest_first;
use crate::tree::{Binary, Chains, InOrder, Knomial, Tree};

/// A tree whose nodes join their children nearest first. Where every subtree is a run of places, a
/// node that joins lower children on the left and higher ones on the right keeps their order.
pub trait Climb: Send + Sync {
    /// The place that everything ends at.
    fn top(&self) -> u32 {
        0
    }

    /// None for the top.
    fn parent(&self, place: u32) -> Option<u32>;

    fn child_count(&self, place: u32) -> u32;

    /// Child number `i`, nearest first; `i` is below the count.
    fn child(&self, place: u32, i: u32) -> u32;
}

/// All ranks are children of one place.
pub struct Star {
    pub ranks: u32,
    pub centre: u32,
}

impl Climb for Star {
    fn top(&self) -> u32 {
        self.centre
    }

    fn parent(&self, place: u32) -> Option<u32> {
        (place != self.centre).then_some(self.centre)
    }

    fn child_count(&self, place: u32) -> u32 {
        if place == self.centre { self.ranks - 1 } else { 0 }
    }

    fn child(&self, place: u32, i: u32) -> u32 {
        nearest_first(place, i)
    }
}

/// Chains with their heads at hand, because the top asks for them by number.
pub struct Strands {
    chains: Chains,
    heads: Vec<u32>,
}

impl Strands {
    pub fn new(ranks: u32, chains: u32) -> Strands {
        let chains = Chains::new(ranks, chains);
        let mut heads = Vec::new();
        chains.children(0, &mut |head| heads.push(head));
        Strands { chains, heads }
    }
}

impl Climb for Strands {
    fn parent(&self, place: u32) -> Option<u32> {
        self.chains.parent(place)
    }

    fn child_count(&self, place: u32) -> u32 {
        if place == 0 { self.heads.len() as u32 } else { self.chains.child_count(place) }
    }

    fn child(&self, place: u32, i: u32) -> u32 {
        if place == 0 { self.heads[i as usize] } else { place + 1 }
    }
}

/// Its subtrees are no runs of places, so it keeps no order.
impl Climb for Binary {
    fn parent(&self, place: u32) -> Option<u32> {
        Tree::parent(self, place)
    }

    fn child_count(&self, place: u32) -> u32 {
        Tree::child_count(self, place)
    }

    fn child(&self, place: u32, i: u32) -> u32 {
        2 * place + 1 + i
    }
}

impl Climb for Knomial {
    fn parent(&self, place: u32) -> Option<u32> {
        Tree::parent(self, place)
    }

    fn child_count(&self, place: u32) -> u32 {
        let (radix, above) = (u64::from(self.radix), u64::from(self.ranks - 1 - place));
        if self.radix.is_power_of_two() {
            // The same by shifts: reductions ask this for every round.
            let bits = self.radix.trailing_zeros();
            let (mut shift, mut count) = (self.weight(place).trailing_zeros(), 0);
            while shift > 0 {
                shift -= bits;
                count += (radix - 1).min(above >> shift);
            }
            return count as u32;
        }
        let (mut weight, mut count) = (self.weight(place) / radix, 0);
        while weight > 0 {
            count += (radix - 1).min(above / weight);
            weight /= radix;
        }
        count as u32
    }

    fn child(&self, place: u32, i: u32) -> u32 {
        let digits = self.radix - 1;
        place + (1 + i % digits) * self.radix.pow(i / digits)
    }
}

impl Climb for InOrder {
    fn top(&self) -> u32 {
        self.0 - 1
    }

    fn parent(&self, place: u32) -> Option<u32> {
        Tree::parent(self, place)
    }

    fn child_count(&self, place: u32) -> u32 {
        Tree::child_count(self, place)
    }

    fn child(&self, place: u32, i: u32) -> u32 {
        // Both children are lower, and the tree names the farther one first.
        let mut nearest_first = [place; 2];
        self.children(place, &mut |child| nearest_first = [child, nearest_first[0]]);
        nearest_first[i as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of a subtree in the order in which they are joined.
    fn joined(tree: &dyn Climb, place: u32) -> Vec<u32> {
        let mut all = vec![place];
        for i in 0..tree.child_count(place) {
            let child = tree.child(place, i);
            assert_eq!(tree.parent(child), Some(place));
            let subtree = joined(tree, child);
            all = if child < place { [subtree, all].concat() } else { [all, subtree].concat() };
        }
        all
    }

    fn climbs(tree: &dyn Climb, ranks: u32, in_order: bool) {
        assert_eq!(tree.parent(tree.top()), None);
        let mut all = joined(tree, tree.top());
        if !in_order {
            all.sort_unstable();
        }
        assert_eq!(all, (0..ranks).collect::<Vec<_>>());
    }

    #[test]
    fn every_tree_joins_its_places_and_the_ordered_ones_in_order() {
        for p in 1..80 {
            climbs(&Binary(p), p, false);
            climbs(&InOrder(p), p, true);
            for k in 2..9 {
                climbs(&Knomial { ranks: p, radix: k }, p, true);
                climbs(&Strands::new(p, k - 1), p, true);
                climbs(&Star { ranks: p, centre: p / k }, p, true);
            }
        }
    }
}
