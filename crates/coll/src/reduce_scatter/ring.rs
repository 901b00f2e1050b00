//! Ring reduce-scatter: the sum of each block runs round the circle and ends at its rank.

use laneway_core::{Blocks, Buf, Collective, Phases, Rank, Round, Schedule, Shape, Span, span};

use super::Alone;
use crate::even::whole_elements;
use crate::registry::{Algorithm, Parameter, Params};
use crate::shift::{Neighbour, down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::ReduceScatter,
    name: "ring",
    sentence: "each rank joins its part to what came from the rank before and passes it on, in \
               segments",
    source: "Open MPI tuned; Patarasuk, Yuan 2009",
    parameters: &[(Parameter::Segment, 256 << 10), (Parameter::Window, 8), Parameter::BY_RANK],
    ordered: false,
    build: |shape, params, _| match shape.ranks {
        1 => Ok(Box::new(Alone { vector: shape.blocks().total(1) })),
        _ => Ok(Box::new(Ring::new(shape, params))),
    },
    ..Algorithm::BASE
};

/// Lane 0 receives, lane 1 joins and sends. In hop k a rank sends the sum of the block k + 1 ranks
/// below; a hop's blocks go in pieces, so that one is joined while the next is on its way.
struct Ring {
    pattern: Neighbour,
    blocks: Blocks,
    in_place: bool,
    longest: u64,
    segment: u64,
    /// How many pieces the longest block has: all hops have as many, the last ones empty.
    pieces: u64,
    window: u32,
}

impl Ring {
    fn new(shape: &Shape, params: &Params) -> Ring {
        let blocks = shape.blocks();
        let longest = match &blocks {
            Blocks::Equal(len) => *len,
            differing => differing.longest(shape.ranks),
        };
        let segment = whole_elements(shape, params.segment(), longest);
        let pieces = longest.div_ceil(segment);
        let (pattern, window) = (Neighbour { ranks: shape.ranks }, params.window());
        Ring { pattern, blocks, in_place: shape.in_place, longest, segment, pieces, window }
    }

    /// The block that `rank` sends in hop `k`; in the hop after the last, the one that it keeps.
    fn block(&self, rank: Rank, k: u64) -> Span {
        self.blocks.block(Buf::In, down(self.pattern.ranks, rank, k as u32 + 1))
    }

    /// Where what arrives in hop `k` is joined: two rooms in turn, and Out for the own block. In
    /// place, Out lies over blocks that are yet to be sent.
    fn sum(&self, rank: Rank, k: u64) -> Span {
        let len = self.block(rank, k + 1).len;
        if self.kept_at_once(k) {
            return span(Buf::Out, 0, len);
        }
        span(Buf::Tmp, k % 2 * self.longest, len)
    }

    fn kept_at_once(&self, k: u64) -> bool {
        k + 1 == self.pattern.count() && !self.in_place
    }

    fn receive(&self, rank: Rank, k: u64, piece: u64, out: &mut Round) {
        let sum = self.sum(rank, k).piece(piece, self.segment);
        if sum.len == 0 {
            return;
        }
        if k >= 2 && !self.kept_at_once(k) {
            // The room was sent on a hop ago.
            out.after(1, (k - 1) * self.pieces + piece);
        }
        out.recv_window(self.window);
        out.recv(down(self.pattern.ranks, rank, 1), sum);
    }

    fn pass_on(&self, rank: Rank, k: u64, piece: u64, out: &mut Round) {
        let own = self.block(rank, k).piece(piece, self.segment);
        if own.len == 0 {
            return;
        }
        let mut passed = own;
        if let Some(before) = k.checked_sub(1) {
            passed = self.sum(rank, before).piece(piece, self.segment);
            out.after(0, before * self.pieces + piece);
            out.reduce_right(own, passed);
        }
        if k < self.pattern.count() {
            out.send_window(self.window);
            out.send(up(self.pattern.ranks, rank, 1), passed);
        }
    }
}

impl Schedule for Ring {
    fn ranks(&self) -> u32 {
        self.pattern.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, lane: u32) -> u64 {
        let hops = self.pattern.count() + u64::from(lane);
        hops * self.pieces + u64::from(lane == 1 && self.in_place)
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        2 * self.longest
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let hops = self.pattern.count();
        if k == (hops + 1) * self.pieces {
            let kept = self.sum(rank, hops - 1);
            out.drain();
            return out.copy(kept, span(Buf::Out, 0, kept.len));
        }
        let (hop, piece) = (k / self.pieces, k % self.pieces);
        match lane {
            0 => self.receive(rank, hop, piece, out),
            _ => self.pass_on(rank, hop, piece, out),
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pattern)
    }
}
