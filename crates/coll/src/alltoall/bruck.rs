//! Bruck's all-to-all: a block for j ranks up takes the hops of j's binary digits, the widest
//! first, so that log2 p messages a rank carry everything.
//!
//! In the hop of digit h a rank receives one message, the *batch* h: the blocks of every distance j
//! that has the digit, by ascending j. Distances that agree in the digits from h up form a *run*:
//! what one rank sends to up to 2^h neighbours, so that a run's length is a difference of two
//! offsets. Blocks start from In and go from their last batch to Out; nothing is rotated.

use laneway_core::{Buf, Collective, Matrix, Phases, Rank, Round, Schedule, Span, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Counts, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "bruck",
    sentence: "log2 p messages a rank, each with the blocks that still have to go 2^k ranks up",
    source: "Bruck et al. 1997; MPICH",
    parameters: &[Parameter::BY_RANK],
    // Blocks arrive for good before those that lie in their places have left.
    in_place: false,
    counts: Counts::All,
    build: |shape, _, _| {
        let digits = u64::from(shape.ranks).next_power_of_two().trailing_zeros();
        Ok(Box::new(Bruck { ranks: shape.ranks, digits, matrix: shape.matrix() }))
    },
    ..Algorithm::BASE
};

struct Bruck {
    ranks: u32,
    /// How many binary digits a distance has.
    digits: u32,
    matrix: Matrix,
}

impl Bruck {
    /// What `origin` has in In for the ranks at places a to b from `rank` on, which may wrap.
    fn row(&self, origin: Rank, rank: Rank, a: u32, b: u32) -> [Span; 2] {
        Circle { ranks: self.ranks, root: rank }.runs(a, b).map(|run| {
            if run.is_empty() {
                return span(Buf::In, 0, 0);
            }
            let from = self.matrix.sent(origin, run.start).off;
            span(Buf::In, from, self.matrix.sent(origin, run.end - 1).end() - from)
        })
    }

    /// How many bytes that is; the places end at the distance where there are no more ranks.
    fn bytes(&self, origin_below: u32, rank: Rank, a: u32, b: u32) -> u64 {
        let (origin, b) = (down(self.ranks, rank, origin_below), b.min(self.ranks - origin_below));
        self.row(origin, rank, a.min(b), b).iter().map(|run| run.len).sum()
    }

    /// The first distance of each run of a batch.
    fn runs(&self, digit: u32) -> impl Iterator<Item = u32> {
        let ranks = u64::from(self.ranks);
        (1u64 << digit..ranks).step_by(2 << digit).map(|first| first as u32)
    }

    /// The length of a batch that `rank` receives.
    fn batch(&self, rank: Rank, digit: u32) -> u64 {
        self.runs(digit).map(|first| self.bytes(first, rank, 0, 1 << digit)).sum()
    }

    /// Where a batch begins in Tmp, behind the batches of the wider digits.
    fn base(&self, rank: Rank, digit: u32) -> u64 {
        (digit + 1..self.digits).map(|wider| self.batch(rank, wider)).sum()
    }

    /// What a rank sends of its own in the hop of a digit.
    fn fresh(&self, rank: Rank, digit: u32) -> [Span; 2] {
        let end = (2u64 << digit).min(u64::from(self.ranks)) as u32;
        self.row(rank, rank, 1 << digit, end)
    }

    /// The first hop: all blocks are the senders' own and go straight from In.
    fn first_hop(&self, rank: Rank, digit: u32, out: &mut Round) {
        let from = down(self.ranks, rank, 1 << digit);
        let [x, y] = self.fresh(from, digit).map(|run| run.len);
        out.recv(from, span(Buf::Tmp, 0, x));
        out.recv(from, span(Buf::Tmp, x, y));
        let to = up(self.ranks, rank, 1 << digit);
        self.fresh(rank, digit).into_iter().for_each(|run| out.send(to, run));
    }

    /// Another hop: the own blocks and those of the wider batches that go on with this digit are
    /// packed behind the batch that comes in, where the next batch will be.
    fn hop(&self, rank: Rank, digit: u32, out: &mut Round) {
        let mut batches = [0; 32];
        let mut base = 0;
        for wider in (digit + 1..self.digits).rev() {
            batches[wider as usize] = base;
            base += self.batch(rank, wider);
        }
        let room = self.batch(rank, digit);
        out.recv(down(self.ranks, rank, 1 << digit), span(Buf::Tmp, base, room));

        let packed = base + room;
        let mut end = packed;
        let mut pack = |out: &mut Round, from: Span| {
            out.copy(from, span(Buf::Tmp, end, from.len));
            end += from.len;
        };
        self.fresh(rank, digit).into_iter().for_each(|run| pack(out, run));
        for first in self.runs(digit).skip(1) {
            // The run that these come from: the same distances without this digit.
            let run = first - (1 << digit);
            let wider = run.trailing_zeros();
            let at = &mut batches[wider as usize];
            let before = self.bytes(run, rank, 0, 1 << digit);
            let len = self.bytes(run, rank, 1 << digit, 2 << digit);
            pack(out, span(Buf::Tmp, *at + before, len));
            *at += self.bytes(run, rank, 0, 1 << wider);
        }
        out.send(up(self.ranks, rank, 1 << digit), span(Buf::Tmp, packed, end - packed));
    }

    /// The blocks of a batch that have no hop left: the first of each run.
    fn arrive(&self, rank: Rank, digit: u32, out: &mut Round) {
        let mut at = self.base(rank, digit);
        for first in self.runs(digit) {
            let place = self.matrix.received(down(self.ranks, rank, first), rank);
            out.copy(span(Buf::Tmp, at, place.len), place);
            at += self.bytes(first, rank, 0, 1 << digit);
        }
    }
}

impl Schedule for Bruck {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        u64::from(self.digits) + 1
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let mut base = 0;
        let mut most = 0;
        for digit in (0..self.digits).rev() {
            base += self.batch(rank, digit);
            let first = digit + 1 == self.digits;
            let packed = self.batch(up(self.ranks, rank, 1 << digit), digit);
            most = most.max(base + if first { 0 } else { packed });
        }
        most
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let left = self.digits - k as u32;
        if k == 0 {
            if left > 0 {
                self.first_hop(rank, left - 1, out);
            }
            return out.copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
        }
        // What was packed lies where the next batch comes in: the send must be over as well.
        out.drain();
        if left > 0 {
            self.hop(rank, left - 1, out);
        }
        self.arrive(rank, left, out);
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(self)
    }
}

impl Phases for Bruck {
    fn count(&self) -> u64 {
        u64::from(self.digits)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        up(self.ranks, rank, 1 << (self.digits - 1 - phase as u32))
    }
}
