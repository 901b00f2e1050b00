//! Trees over places 0 to p - 1, each a pure formula for parents and children.

/// A tree rooted at place 0 (but for the in-order one). Its nodes need not know their subtrees.
pub trait Tree: Send + Sync {
    /// None for the root.
    fn parent(&self, place: u32) -> Option<u32>;

    /// Calls `visit` for each child, in the order in which a parent should feed them.
    fn children(&self, place: u32, visit: &mut dyn FnMut(u32));

    fn child_count(&self, place: u32) -> u32 {
        let mut count = 0;
        self.children(place, &mut |_| count += 1);
        count
    }
}

/// All ranks are children of the root.
pub struct Flat(pub u32);

impl Tree for Flat {
    fn parent(&self, place: u32) -> Option<u32> {
        (place > 0).then_some(0)
    }

    fn children(&self, place: u32, visit: &mut dyn FnMut(u32)) {
        if place == 0 {
            (1..self.0).for_each(visit);
        }
    }
}

/// Chains of near-equal length that all begin at the root.
pub struct Chains {
    ranks: u32,
    chains: u32,
}

impl Chains {
    pub fn new(ranks: u32, chains: u32) -> Chains {
        Chains { ranks, chains: chains.min(ranks.saturating_sub(1)).max(1) }
    }

    /// First place of chain c; the places after 0 are shared out evenly.
    fn head(&self, chain: u32) -> u32 {
        let others = u64::from(self.ranks - 1);
        1 + (u64::from(chain) * others / u64::from(self.chains)) as u32
    }

    fn is_head(&self, place: u32) -> bool {
        let (others, chains) = (u64::from(self.ranks - 1), u64::from(self.chains));
        // The only chain that could begin here.
        let chain = (u64::from(place - 1) * chains).div_ceil(others) as u32;
        chain < self.chains && self.head(chain) == place
    }
}

impl Tree for Chains {
    fn parent(&self, place: u32) -> Option<u32> {
        match place {
            0 => None,
            _ if self.is_head(place) => Some(0),
            _ => Some(place - 1),
        }
    }

    fn children(&self, place: u32, visit: &mut dyn FnMut(u32)) {
        if place == 0 {
            if self.ranks > 1 {
                (0..self.chains).map(|chain| self.head(chain)).for_each(visit);
            }
        } else if place + 1 < self.ranks && !self.is_head(place + 1) {
            visit(place + 1);
        }
    }
}

/// The complete binary tree: children 2v + 1 and 2v + 2.
pub struct Binary(pub u32);

impl Tree for Binary {
    fn parent(&self, place: u32) -> Option<u32> {
        (place > 0).then(|| (place - 1) / 2)
    }

    fn children(&self, place: u32, visit: &mut dyn FnMut(u32)) {
        let first = u64::from(place) * 2 + 1;
        (first..first + 2)
            .filter(|&child| child < u64::from(self.0))
            .for_each(|child| visit(child as u32));
    }
}

/// The k-nomial tree, binomial for radix 2: a place's parent has the place's lowest non-zero digit
/// cleared, so that every subtree is a run of places. Children with the largest subtrees first.
pub struct Knomial {
    pub ranks: u32,
    pub radix: u32,
}

impl Knomial {
    /// The weight of the place's lowest non-zero digit; for the root the first power that holds
    /// all.
    pub fn weight(&self, place: u32) -> u64 {
        if self.radix.is_power_of_two() {
            // Digits are groups of bits: the same without a division for each.
            let bits = self.radix.trailing_zeros();
            let digits = (32 - (self.ranks - 1).leading_zeros()).div_ceil(bits);
            let zeros = if place == 0 { digits } else { place.trailing_zeros() / bits };
            return 1 << (zeros.min(digits) * bits);
        }
        let (radix, place) = (u64::from(self.radix), u64::from(place));
        let mut weight = 1;
        while weight < u64::from(self.ranks) && place % (weight * radix) == 0 {
            weight *= radix;
        }
        weight
    }

    /// The weight of the next lower digit; 0 below the lowest.
    fn under(&self, weight: u64) -> u64 {
        if self.radix.is_power_of_two() {
            return weight >> self.radix.trailing_zeros();
        }
        weight / u64::from(self.radix)
    }

    /// How many places are above a place: its digits that are not zero.
    pub fn depth(&self, mut place: u32) -> u32 {
        if self.radix == 2 {
            return place.count_ones();
        }
        let mut depth = 0;
        while place > 0 {
            depth += u32::from(!place.is_multiple_of(self.radix));
            place /= self.radix;
        }
        depth
    }

    /// How many places the subtree has, itself included.
    pub fn subtree(&self, place: u32) -> u32 {
        self.weight(place).min(u64::from(self.ranks - place)) as u32
    }
}

impl Tree for Knomial {
    fn parent(&self, place: u32) -> Option<u32> {
        (place > 0).then(|| {
            let weight = self.weight(place);
            if self.radix.is_power_of_two() {
                return place & !(u64::from(self.radix - 1) * weight) as u32;
            }
            (u64::from(place) - u64::from(place) / weight % u64::from(self.radix) * weight) as u32
        })
    }

    fn children(&self, place: u32, visit: &mut dyn FnMut(u32)) {
        let mut weight = self.under(self.weight(place));
        while weight > 0 {
            for digit in (1..u64::from(self.radix)).rev() {
                let child = u64::from(place) + digit * weight;
                if child < u64::from(self.ranks) {
                    visit(child as u32);
                }
            }
            weight = self.under(weight);
        }
    }
}

/// A binary tree in which every subtree is a run of places and a node is the last of its own, so
/// that left subtree, right subtree, node is the order of the places. The root is place p - 1.
pub struct InOrder(pub u32);

impl InOrder {
    /// Goes down from the top to `place`: its run of places and its parent.
    fn descend(&self, place: u32) -> (u32, u32, Option<u32>) {
        let (mut low, mut node, mut parent) = (0, self.0 - 1, None);
        while node != place {
            parent = Some(node);
            let middle = low + (node - low) / 2;
            if place < middle { node = middle - 1 } else { (low, node) = (middle, node - 1) }
        }
        (low, node, parent)
    }
}

impl Tree for InOrder {
    fn parent(&self, place: u32) -> Option<u32> {
        self.descend(place).2
    }

    fn children(&self, place: u32, visit: &mut dyn FnMut(u32)) {
        let (low, node, _) = self.descend(place);
        let middle = low + (node - low) / 2;
        if middle > low {
            visit(middle - 1);
        }
        if node > middle {
            visit(node - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_a_tree(tree: &dyn Tree, ranks: u32, root: u32) {
        let mut seen = vec![0; ranks as usize];
        for place in 0..ranks {
            tree.children(place, &mut |child| {
                assert_eq!(tree.parent(child), Some(place));
                seen[child as usize] += 1;
            });
            let mut top = place;
            for _ in 0..ranks {
                top = tree.parent(top).unwrap_or(top);
            }
            assert_eq!(top, root);
        }
        let expected: Vec<u32> = (0..ranks).map(|place| u32::from(place != root)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn every_place_has_one_way_to_the_root() {
        for p in 1..80 {
            is_a_tree(&Flat(p), p, 0);
            is_a_tree(&Binary(p), p, 0);
            is_a_tree(&InOrder(p), p, p - 1);
            for k in 2..9 {
                let knomial = Knomial { ranks: p, radix: k };
                is_a_tree(&knomial, p, 0);
                for place in 1..p {
                    let parent = knomial.parent(place).expect("a place below the root");
                    assert_eq!(knomial.depth(place), knomial.depth(parent) + 1);
                }
                is_a_tree(&Chains::new(p, k - 1), p, 0);
            }
        }
    }
}
