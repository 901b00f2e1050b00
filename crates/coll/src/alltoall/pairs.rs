//! Rounds of one send and one receive, a few under way: what pairwise and linear-sync share.

use laneway_core::{Matrix, Phases, Rank, Round, Schedule, Shape};

use super::swaps::Swaps;
use crate::shift::{Widening, down, up};

/// Round k sends k + 1 places up and receives from k + 1 places below.
struct Pairs {
    pattern: Widening,
    matrix: Matrix,
    window: u32,
}

/// The schedule with at most `window` rounds under way, in place or apart.
pub fn schedule(shape: &Shape, window: u32) -> Box<dyn Schedule> {
    if shape.in_place {
        return Box::new(Swaps::new(shape, window));
    }
    Box::new(Pairs { pattern: Widening { ranks: shape.ranks }, matrix: shape.matrix(), window })
}

impl Schedule for Pairs {
    fn ranks(&self) -> u32 {
        self.pattern.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        u64::from(self.pattern.ranks)
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let (ranks, far) = (self.pattern.ranks, k as u32 + 1);
        if far == ranks {
            return out.copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
        }
        let (from, to) = (down(ranks, rank, far), up(ranks, rank, far));
        out.send_window(self.window);
        out.recv_window(self.window);
        out.recv(from, self.matrix.received(from, rank));
        out.send(to, self.matrix.sent(rank, to));
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pattern)
    }
}
