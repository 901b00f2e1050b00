//! Linear scan: what is joined so far goes from rank to rank, in segments.

use laneway_core::{Buf, Collective, Rank, Round, Schedule, Shape, Span, span};

use crate::even::whole_elements;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scan,
    name: "linear",
    sentence: "each rank joins its vector to what comes from the rank below, in segments",
    source: "Open MPI basic, here with a pipeline of segments",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4)],
    build: |shape, params, _| {
        Ok(Box::new(Linear::new(shape, params.segment(), params.window(), false)))
    },
    ..Algorithm::BASE
};

/// Lane 0 receives what the ranks below have joined, lane 1 joins the own vector and passes it on.
pub struct Linear {
    ranks: u32,
    vector: u64,
    segment: u64,
    window: u64,
    in_place: bool,
    /// Whether Out keeps what came from below, without the own vector.
    exclusive: bool,
}

impl Linear {
    pub fn new(shape: &Shape, segment: u64, window: u32, exclusive: bool) -> Linear {
        let (ranks, vector, in_place) = (shape.ranks, shape.vector(), shape.in_place);
        let segment = whole_elements(shape, segment, vector);
        let window = u64::from(window).min(vector.div_ceil(segment)).max(1);
        Linear { ranks, vector, segment, window, in_place, exclusive }
    }

    fn piece(&self, buf: Buf, k: u64) -> Span {
        span(buf, 0, self.vector).piece(k, self.segment)
    }

    /// A piece in one of two rows of slots.
    fn slot(&self, row: u64, k: u64) -> Span {
        let off = (row * self.window + k % self.window) * self.segment;
        span(Buf::Tmp, off, self.piece(Buf::In, k).len)
    }

    /// Where what the ranks below have joined arrives: in Out, unless the own vector is there.
    fn below(&self, k: u64) -> Span {
        if self.in_place { self.slot(0, k) } else { self.piece(Buf::Out, k) }
    }

    fn last(&self, rank: Rank) -> bool {
        rank + 1 == self.ranks
    }

    fn pass_on(&self, rank: Rank, sum: Span, out: &mut Round) {
        if !self.last(rank) {
            out.send_window(self.window as u32);
            out.send(rank + 1, sum);
        }
    }

    /// Out = below (+) own, which goes on.
    fn join(&self, rank: Rank, k: u64, out: &mut Round) {
        let (own, result) = (self.piece(Buf::In, k), self.piece(Buf::Out, k));
        out.after(0, k);
        if self.in_place {
            out.reduce_left(self.below(k), result);
        } else {
            out.reduce_right(own, result);
        }
        self.pass_on(rank, result, out);
    }

    /// Out = below; below (+) own goes on from a slot.
    fn join_apart(&self, rank: Rank, k: u64, out: &mut Round) {
        let sum = self.slot(u64::from(self.in_place), k);
        if !self.last(rank) {
            if k >= self.window {
                out.after(1, k - self.window);
            }
            out.copy(self.piece(Buf::In, k), sum);
        }
        out.after(0, k);
        if !self.last(rank) {
            out.reduce_left(self.below(k), sum);
            self.pass_on(rank, sum, out);
        }
        out.copy(self.below(k), self.piece(Buf::Out, k));
    }
}

impl Schedule for Linear {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let works = match (lane, rank) {
            (0, rank) => rank > 0,
            (_, rank) if !self.last(rank) => true,
            // A lone rank has its result, or copies it; to the last of an exscan it comes whole.
            (_, 0) => !self.exclusive && !self.in_place,
            _ => !self.exclusive || self.in_place,
        };
        if works { self.vector.div_ceil(self.segment) } else { 0 }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let rows = u64::from(self.in_place) + u64::from(self.exclusive && !self.last(rank));
        if rank == 0 { 0 } else { rows * self.window * self.segment }
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        if lane == 0 {
            if self.in_place && k >= self.window {
                out.after(1, k - self.window);
            }
            out.recv_window(self.window as u32);
            out.recv(rank - 1, self.below(k));
        } else if rank > 0 && self.exclusive {
            self.join_apart(rank, k, out);
        } else if rank > 0 {
            self.join(rank, k, out);
        } else {
            self.pass_on(rank, self.piece(Buf::In, k), out);
            if !self.exclusive && !self.in_place {
                out.copy(self.piece(Buf::In, k), self.piece(Buf::Out, k));
            }
        }
    }
}
