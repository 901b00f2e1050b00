//! Split binary broadcast: each half of the vector goes down a binary tree of half of the ranks,
//! and pairs across the trees exchange their halves.

use laneway_core::{Buf, Chan, Collective, Rank, Round, Schedule, Span, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Parameter};
use crate::tree::{Binary, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "split-binary",
    sentence: "each half is sent down a binary tree of half the ranks, in segments; pairs exchange",
    source: "Pjesivac-Grbovic et al. 2007; Open MPI tuned",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        let (vector, segment) = (shape.vector(), params.segment());
        Ok(Box::new(SplitBinary { circle, vector, segment, window: params.window() }))
    },
    ..Algorithm::BASE
};

/// Odd places are the tree of the first half and even ones that of the second; number i of one tree
/// and number i of the other are a pair. Where the last odd place has no partner, it is a leaf of
/// both trees. Lane 0 receives a rank's half, lane 1 passes it on, lane 2 gets the other half. Each
/// half has a channel of its own.
struct SplitBinary {
    circle: Circle,
    vector: u64,
    segment: u64,
    window: u32,
}

impl SplitBinary {
    fn half(&self, half: u32) -> Span {
        let first = self.vector.div_ceil(2);
        let (off, len) = if half == 0 { (0, first) } else { (first, self.vector - first) };
        span(Buf::Out, off, len)
    }

    fn segments(&self, half: u32) -> u64 {
        self.half(half).len.div_ceil(self.segment)
    }

    /// The shape of both trees.
    fn tree(&self) -> Binary {
        Binary(self.circle.ranks / 2)
    }

    fn member(&self, half: u32, number: u32) -> Rank {
        // Past the last even place it is the odd one that has no partner.
        let place = (2 * number + 1 + half).min(self.circle.ranks - 1);
        self.circle.rank(place)
    }

    fn parent(&self, half: u32, number: u32) -> Rank {
        match self.tree().parent(number) {
            Some(parent) => self.member(half, parent),
            None => self.circle.root,
        }
    }

    fn receive(&self, half: u32, number: u32, k: u64, out: &mut Round) {
        out.recv_window(self.window);
        let piece = self.half(half).piece(k, self.segment);
        out.recv_on(self.parent(half, number), half as Chan, piece);
    }

    fn pass_on(&self, half: u32, to: Rank, k: u64, out: &mut Round) {
        out.send_window(self.window);
        out.send_on(to, half as Chan, self.half(half).piece(k, self.segment));
    }

    /// The half and the number of a place past the root's.
    fn role(&self, rank: Rank) -> Option<(u32, u32)> {
        let place = self.circle.place(rank).checked_sub(1)?;
        Some((place % 2, place / 2))
    }

    fn has_partner(&self, number: u32) -> bool {
        2 * number + 2 < self.circle.ranks
    }
}

impl Schedule for SplitBinary {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        3
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        match (self.role(rank), lane) {
            (None, 1) if self.circle.ranks > 1 => self.segments(0),
            (None, _) => 0,
            (Some((half, _)), 0) => self.segments(half),
            (Some((_, number)), 1) if self.tree().child_count(number) == 0 => 0,
            (Some((half, _)), 1) => self.segments(half),
            (Some((_, number)), _) if self.has_partner(number) => 1,
            (Some((half, _)), _) => self.segments(1 - half),
        }
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let Some((half, number)) = self.role(rank) else {
            return (0..2).for_each(|half| self.pass_on(half, self.member(half, 0), k, out));
        };
        let other = 1 - half;
        match lane {
            0 => self.receive(half, number, k, out),
            1 => {
                out.after(0, k);
                self.tree().children(number, &mut |child| {
                    self.pass_on(half, self.member(half, child), k, out);
                });
            }
            _ if self.has_partner(number) => {
                let partner = self.member(other, number);
                out.recv_on(partner, other as Chan, self.half(other));
                if let Some(last) = self.segments(half).checked_sub(1) {
                    out.after(0, last);
                }
                out.send_on(partner, half as Chan, self.half(half));
            }
            _ => self.receive(other, number, k, out),
        }
    }
}
