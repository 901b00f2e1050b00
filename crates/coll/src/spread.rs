//! Every rank sends to every other directly: to the next rank first, from the one before first, so
//! that no rank is the target of all at once.

use laneway_core::{Blocks, Buf, Matrix, Phases, Rank, Round, Schedule, Span, span};

use crate::shift::{Widening, down, up};

/// Where a block lies at its two ends.
pub trait Ends: Send + Sync {
    fn sent(&self, source: Rank, destination: Rank) -> Span;
    fn received(&self, source: Rank, destination: Rank) -> Span;
}

impl Ends for Matrix {
    fn sent(&self, source: Rank, destination: Rank) -> Span {
        Matrix::sent(self, source, destination)
    }

    fn received(&self, source: Rank, destination: Rank) -> Span {
        Matrix::received(self, source, destination)
    }
}

/// An allgather's: all ranks get the same.
impl Ends for Blocks {
    fn sent(&self, source: Rank, _destination: Rank) -> Span {
        span(Buf::In, 0, self.len(source))
    }

    fn received(&self, source: Rank, _destination: Rank) -> Span {
        self.block(Buf::Out, source)
    }
}

/// Lane 0 receives, lane 1 sends, each with `window` transfers outstanding: neither waits for the
/// other, so a slow partner on one side holds up that side alone.
pub struct Spread<E> {
    pub pattern: Widening,
    pub window: u32,
    pub ends: E,
}

impl<E: Ends> Schedule for Spread<E> {
    fn ranks(&self) -> u32 {
        self.pattern.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, lane: u32) -> u64 {
        u64::from(self.pattern.ranks - 1) + u64::from(lane)
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let (ranks, far) = (self.pattern.ranks, k as u32 + 1);
        if lane == 0 {
            let from = down(ranks, rank, far);
            out.recv_window(self.window);
            out.recv(from, self.ends.received(from, rank));
        } else if far < ranks {
            let to = up(ranks, rank, far);
            out.send_window(self.window);
            out.send(to, self.ends.sent(rank, to));
        } else {
            out.copy(self.ends.sent(rank, rank), self.ends.received(rank, rank));
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pattern)
    }
}
