//! Ring allreduce: each block goes round once to be joined, and once more to be known to all.

use laneway_core::{ANY, Buf, Collective, Phases, Rank, Round, Schedule, Shape, Span, span};

use crate::even::{Even, whole_elements};
use crate::registry::{Algorithm, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "ring",
    sentence: "a ring reduce-scatter of p blocks, then a ring allgather",
    source: "Patarasuk, Yuan 2009; Open MPI tuned; MPICH",
    parameters: &[Parameter::BY_RANK],
    ordered: false,
    build: |shape, _, _| Ok(Box::new(Ring::new(shape, u64::MAX, ANY))),
    ..Algorithm::BASE
};

/// In turn t a rank sends block rank - t to the rank above, all of it in `pieces` messages; what
/// arrives in a turn is what it sends in the next. A round is one message each way.
pub struct Ring {
    ranks: u32,
    blocks: Even,
    segment: u64,
    pieces: u64,
    window: u32,
    in_place: bool,
}

impl Ring {
    /// Blocks go in pieces of `segment` bytes, `window` of them outstanding each way.
    pub fn new(shape: &Shape, segment: u64, window: u32) -> Ring {
        let blocks = Even::new(shape, shape.ranks);
        let longest = blocks.longest();
        let segment = whole_elements(shape, segment, longest);
        let pieces = longest.div_ceil(segment);
        let (ranks, in_place) = (shape.ranks, shape.in_place);
        Ring { ranks, blocks, segment, pieces, window, in_place }
    }

    /// Piece `q` of the block that `rank` sends in a turn.
    fn piece(&self, buf: Buf, rank: Rank, turn: u64, q: u64) -> Span {
        let p = u64::from(self.ranks);
        let block = (u64::from(rank) + 2 * p - turn) % p;
        self.blocks.part(buf, block as u32).piece(q, self.segment)
    }

    /// Where message `n` arrives. Where Out holds the caller's vector, what is to be joined with it
    /// waits in a slot until it is sent on.
    fn arrives(&self, rank: Rank, n: u64) -> Span {
        let (turn, q) = (n / self.pieces, n % self.pieces);
        let piece = self.piece(Buf::Out, rank, turn + 1, q);
        if self.in_place && turn + 1 < u64::from(self.ranks) {
            span(Buf::Tmp, n % (self.pieces + 1) * self.segment, piece.len)
        } else {
            piece
        }
    }
}

impl Schedule for Ring {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        match self.ranks {
            1 => u64::from(!self.in_place),
            p => u64::from(p - 1) * 2 * self.pieces,
        }
    }

    fn tmp_len(&self, _rank: Rank) -> u64 {
        let slots = if self.in_place && self.pieces > 0 { self.pieces + 1 } else { 0 };
        if self.ranks > 1 { slots * self.segment } else { 0 }
    }

    fn round(&self, rank: Rank, _lane: u32, n: u64, out: &mut Round) {
        let p = self.ranks;
        if p == 1 {
            return out.copy(self.blocks.part(Buf::In, 0), self.blocks.part(Buf::Out, 0));
        }
        let (turn, q) = (n / self.pieces, n % self.pieces);
        let (below, above) = (down(p, rank, 1), up(p, rank, 1));
        // With two ranks in place, the block that arrives last lies where the first is sent from.
        let receive_late = p == 2 && self.in_place && turn == 1;
        let receive = |out: &mut Round| {
            out.recv_window(self.window);
            out.recv(below, self.arrives(rank, n));
        };
        if !receive_late {
            receive(out);
        }
        let sent = self.piece(Buf::Out, rank, turn, q);
        if turn > 0 {
            out.after(0, n - self.pieces);
        }
        if (1..u64::from(p)).contains(&turn) {
            if self.in_place {
                out.reduce_left(self.arrives(rank, n - self.pieces), sent);
            } else {
                out.reduce_left(self.piece(Buf::In, rank, turn, q), sent);
            }
        }
        if receive_late {
            receive(out);
        }
        out.send_window(self.window);
        out.send(above, if turn == 0 { Span { buf: Buf::In, ..sent } } else { sent });
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(self)
    }
}

impl Phases for Ring {
    fn count(&self) -> u64 {
        u64::from(self.ranks - 1) * 2
    }

    fn partner(&self, rank: Rank, _phase: u64) -> Rank {
        up(self.ranks, rank, 1)
    }
}
