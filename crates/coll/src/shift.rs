//! Patterns in which every rank reaches equally far round the circle.

use laneway_core::{Phases, Rank};

use crate::place::Circle;

/// The rank `by` places above, `by` at most the number of ranks.
pub fn up(ranks: u32, rank: Rank, by: u32) -> Rank {
    Circle { ranks, root: rank }.rank(by)
}

/// The rank `by` places below, `by` at most the number of ranks.
pub fn down(ranks: u32, rank: Rank, by: u32) -> Rank {
    up(ranks, rank, ranks - by)
}

/// One place further in each phase: every rank meets every other once.
#[derive(Clone, Copy, Debug)]
pub struct Widening {
    pub ranks: u32,
}

impl Phases for Widening {
    fn count(&self) -> u64 {
        u64::from(self.ranks - 1)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        up(self.ranks, rank, phase as u32 + 1)
    }
}

/// Always the next rank, as often as there are others.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    pub ranks: u32,
}

impl Phases for Neighbour {
    fn count(&self) -> u64 {
        u64::from(self.ranks - 1)
    }

    fn partner(&self, rank: Rank, _phase: u64) -> Rank {
        up(self.ranks, rank, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_and_down_undo_each_other_without_overflow() {
        for ranks in [1, 2, 3, 7, 8, u32::MAX] {
            for rank in [0, 1, ranks / 2, ranks - 1].into_iter().filter(|rank| *rank < ranks) {
                for by in [0, 1, ranks / 2, ranks - 1, ranks].into_iter().filter(|by| *by <= ranks)
                {
                    assert!(up(ranks, rank, by) < ranks);
                    assert_eq!(down(ranks, up(ranks, rank, by), by), rank);
                }
            }
        }
    }

    #[test]
    fn widening_meets_every_other_rank_once() {
        for ranks in 1..20 {
            let phases = Widening { ranks };
            for rank in 0..ranks {
                let mut met: Vec<Rank> =
                    (0..phases.count()).map(|phase| phases.partner(rank, phase)).collect();
                met.sort_unstable();
                assert_eq!(met, (0..ranks).filter(|other| *other != rank).collect::<Vec<_>>());
            }
        }
    }
}
