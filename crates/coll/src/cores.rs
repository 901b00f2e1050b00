//! Any number of ranks folded onto a power of the radix: the cores do the work for their groups.

use std::ops::Range;

use laneway_core::Rank;

/// Ranks in groups of neighbours, as even as can be, with one core each. Core numbers run in the
/// order of the ranks, so that what is joined in their order is joined in the order of the ranks.
#[derive(Clone, Copy, Debug)]
pub struct Cores {
    pub ranks: u32,
    pub count: u32,
    /// The count is this power of the radix.
    pub power: u32,
    /// A rank that is the core of its group, wherever it stands in it.
    kept: Rank,
}

impl Cores {
    /// As many cores as the largest power of `radix` that the ranks fill. `kept` will be a core.
    pub fn new(ranks: u32, radix: u32, kept: Rank) -> Cores {
        let (mut count, mut power) = (1, 0);
        while let Some(more) = u32::checked_mul(count, radix).filter(|&more| more <= ranks) {
            (count, power) = (more, power + 1);
        }
        Cores { ranks, count, power, kept }
    }

    fn start(self, core: u32) -> Rank {
        // Where every rank is a core there is nothing to divide, and division is dear.
        if self.count == self.ranks {
            return core;
        }
        (u64::from(core) * u64::from(self.ranks) / u64::from(self.count)) as Rank
    }

    /// The ranks that a core stands for, itself included; never more than the radix.
    pub fn group(self, core: u32) -> Range<Rank> {
        self.start(core)..self.start(core + 1)
    }

    /// The number of the group that `rank` is in: the last one that begins at it or before.
    pub fn of(self, rank: Rank) -> u32 {
        if self.count == self.ranks {
            return rank;
        }
        let after = (u64::from(rank) + 1) * u64::from(self.count);
        ((after - 1) / u64::from(self.ranks)) as u32
    }

    /// The rank of a core.
    pub fn rank(self, core: u32) -> Rank {
        let group = self.group(core);
        if group.contains(&self.kept) { self.kept } else { group.start }
    }

    /// The core that `rank` folds into; `None` if it is one itself.
    pub fn above(self, rank: Rank) -> Option<Rank> {
        Some(self.rank(self.of(rank))).filter(|&core| core != rank)
    }
}

/// Number `i` of the others in a row of places, seen from `own`: those below it downwards, then
/// those above it upwards. Joining the lower ones on the left and the higher ones on the right in
/// this order keeps the order of the row.
pub fn nearest_first(own: u32, i: u32) -> u32 {
    if i < own { own - 1 - i } else { i + 1 }
}

/// The rounds of a pattern with doubling distances over `ranks` ranks.
pub fn doublings(ranks: u32) -> u32 {
    32 - ranks.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_in_one_group_with_one_core() {
        for ranks in 1..200 {
            for radix in 2..9 {
                for kept in [0, ranks / 2, ranks - 1] {
                    let cores = Cores::new(ranks, radix, kept);
                    assert_eq!(cores.count, radix.pow(cores.power));
                    assert!(cores.count <= ranks && ranks < cores.count * radix);
                    let mut next = 0;
                    for core in 0..cores.count {
                        let group = cores.group(core);
                        assert_eq!(group.start, next);
                        assert!(group.contains(&cores.rank(core)));
                        assert!(group.len() <= radix as usize);
                        assert!(group.clone().all(|rank| cores.of(rank) == core));
                        next = group.end;
                    }
                    assert_eq!(next, ranks);
                    assert_eq!(cores.above(kept), None);
                }
            }
        }
        assert_eq!(Cores::new(u32::MAX, 2, 0).of(u32::MAX - 1), (1 << 31) - 1);
    }

    #[test]
    fn doublings_reach_every_count() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9, u32::MAX].map(doublings), [0, 1, 2, 2, 3, 3, 4, 32]);
    }

    #[test]
    fn the_others_come_nearest_first() {
        assert_eq!([0, 1, 2, 3].map(|i| nearest_first(2, i)), [1, 0, 3, 4]);
        assert_eq!([0, 1].map(|i| nearest_first(0, i)), [1, 2]);
    }
}
