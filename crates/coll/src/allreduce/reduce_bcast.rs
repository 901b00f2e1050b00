//! Reduce and broadcast: up a binomial tree to rank 0, and down the same tree again.

use laneway_core::{Buf, Collective, Rank, Round, Schedule, Span, span};

use super::give_and_take;
use crate::climb::Climb;
use crate::registry::{Algorithm, Parameter};
use crate::tree::{Knomial, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "reduce-bcast",
    sentence: "a binomial reduce to rank 0, then a binomial broadcast from it",
    source: "MPICH; Open MPI basic",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let tree = Knomial { ranks: shape.ranks, radix: 2 };
        let (vector, in_place) = (shape.vector(), shape.in_place);
        Ok(Box::new(ReduceBcast { tree, vector, in_place }))
    },
    ..Algorithm::BASE
};

struct ReduceBcast {
    tree: Knomial,
    vector: u64,
    in_place: bool,
}

impl ReduceBcast {
    fn whole(&self, buf: Buf) -> Span {
        span(buf, 0, self.vector)
    }

    /// Where child number `i`'s vector arrives: the first one where it is joined, the others in two
    /// slots in turn, so that one arrives while another is joined.
    fn arrives(&self, i: u64) -> Span {
        match i {
            0 if !self.in_place => self.whole(Buf::Out),
            _ => span(Buf::Tmp, i % 2 * self.vector, self.vector),
        }
    }

    /// Children lie above their parent, so their sums are joined on the right.
    fn join(&self, i: u64, out: &mut Round) {
        if i == 0 && !self.in_place {
            out.reduce_left(self.whole(Buf::In), self.whole(Buf::Out));
        } else {
            out.reduce_right(self.arrives(i), self.whole(Buf::Out));
        }
    }
}

impl Schedule for ReduceBcast {
    fn ranks(&self) -> u32 {
        self.tree.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        u64::from(Climb::child_count(&self.tree, rank)) + 2
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        match (Climb::child_count(&self.tree, rank), self.in_place) {
            (0, _) | (1, false) => 0,
            _ => 2 * self.vector,
        }
    }

    /// A round for each child on the way up, one at the turn, one for the way down.
    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let children = u64::from(Climb::child_count(&self.tree, rank));
        if k < children {
            out.recv(self.tree.child(rank, k as u32), self.arrives(k));
        }
        if (1..=children).contains(&k) {
            out.after(0, k - 1);
            self.join(k - 1, out);
        }
        match Tree::parent(&self.tree, rank) {
            Some(parent) if k == children && children == 0 => {
                give_and_take(parent, Buf::In, self.vector, !self.in_place, out);
            }
            Some(parent) if k == children => {
                give_and_take(parent, Buf::Out, self.vector, false, out);
            }
            None if children == 0 && k == 0 && !self.in_place => {
                out.copy(self.whole(Buf::In), self.whole(Buf::Out));
            }
            _ => {}
        }
        if k > children && children > 0 {
            out.drain();
            self.tree.children(rank, &mut |child| out.send(child, self.whole(Buf::Out)));
        }
    }
}
