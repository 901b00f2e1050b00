//! Pairwise reduce-scatter: each rank sends every other its block of the vector, which joins
//! what it receives in the order of the ranks.

use laneway_core::{Blocks, Buf, Collective, Phases, Rank, Round, Schedule, Span, span};

use super::Alone;
use crate::registry::{Algorithm, Parameter};
use crate::shift::{Widening, down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::ReduceScatter,
    name: "pairwise",
    sentence: "round k sends a block k ranks up and joins one from k below, `window` at a time",
    source: "MPICH",
    parameters: &[(Parameter::Window, 2), Parameter::BY_RANK],
    build: |shape, params, _| {
        let (ranks, blocks, in_place) = (shape.ranks, shape.blocks(), shape.in_place);
        if ranks == 1 {
            return Ok(Box::new(Alone { vector: blocks.total(1) }));
        }
        let window = u64::from(params.window().clamp(1, ranks - 1));
        Ok(Box::new(Pairwise { pattern: Widening { ranks }, blocks, window, in_place }))
    },
    ..Algorithm::BASE
};

/// Lane 0 receives and joins, lane 1 sends.
///
/// Contributions come from the ranks below downwards, then from the last rank downwards to the one
/// above. Each joins on the left of a sum: the first sum is that of the ranks up to the own, the
/// second that of the ranks above, which joins the first on its right in the end.
struct Pairwise {
    pattern: Widening,
    blocks: Blocks,
    window: u64,
    in_place: bool,
}

impl Pairwise {
    /// Room number `n` of scratch: first those of the window, then the two sums.
    fn room(&self, rank: Rank, n: u64) -> Span {
        let len = self.blocks.len(rank);
        span(Buf::Tmp, n * len, len)
    }

    /// The sum of the ranks up to the own. In place, Out lies over blocks that are yet to be sent.
    fn first(&self, rank: Rank) -> Span {
        match self.in_place {
            true => self.room(rank, self.window + 1),
            false => span(Buf::Out, 0, self.blocks.len(rank)),
        }
    }

    /// The sum of the ranks above; the only one of rank 0.
    fn second(&self, rank: Rank) -> Span {
        if rank == 0 { self.first(rank) } else { self.room(rank, self.window) }
    }

    /// Where contribution `k` arrives: the first of a sum is where the sum will be.
    fn arrives(&self, rank: Rank, k: u64) -> Span {
        match k {
            _ if k == u64::from(rank) => self.second(rank),
            0 => self.first(rank),
            _ => self.room(rank, k % self.window),
        }
    }

    fn join(&self, rank: Rank, k: u64, out: &mut Round) {
        let (own, at) = (self.blocks.block(Buf::In, rank), self.arrives(rank, k));
        let (first, second) = (self.first(rank), self.second(rank));
        match k.cmp(&u64::from(rank)) {
            std::cmp::Ordering::Less if k == 0 => out.reduce_right(own, first),
            std::cmp::Ordering::Less => out.reduce_left(at, first),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => out.reduce_left(at, second),
        }
        if k + 1 == self.pattern.count() {
            match rank {
                0 => out.reduce_left(own, first),
                _ if rank + 1 < self.pattern.ranks => out.reduce_right(second, first),
                _ => {}
            }
        }
    }
}

impl Schedule for Pairwise {
    fn ranks(&self) -> u32 {
        self.pattern.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, lane: u32) -> u64 {
        let sends = self.pattern.count();
        if lane == 1 { sends } else { sends + self.window + u64::from(self.in_place) }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        (self.window + 1 + u64::from(self.in_place)) * self.blocks.len(rank)
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let (ranks, count) = (self.pattern.ranks, self.pattern.count());
        if lane == 1 {
            let to = up(ranks, rank, k as u32 + 1);
            out.send_window(self.window as u32);
            return out.send(to, self.blocks.block(Buf::In, to));
        }
        if k == count + self.window {
            out.after(1, count - 1);
            return out.copy(self.first(rank), span(Buf::Out, 0, self.blocks.len(rank)));
        }
        if let Some(old) = k.checked_sub(self.window) {
            out.after(0, old);
            self.join(rank, old, out);
        }
        if k < count {
            out.recv(down(ranks, rank, k as u32 + 1), self.arrives(rank, k));
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pattern)
    }
}
