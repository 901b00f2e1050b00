//! Binomial scatter: a rank takes the blocks of its whole subtree and passes on the halves.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Counts, Parameter};
use crate::tree::{Knomial, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "binomial",
    sentence: "down a binomial tree, each parent sending a child the blocks of its whole subtree",
    source: "MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    counts: Counts::All,
    build: |shape, _, _| {
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        let tree = Knomial { ranks: shape.ranks, radix: 2 };
        Ok(Box::new(Binomial { circle, tree, blocks: shape.blocks() }))
    },
    ..Algorithm::BASE
};

struct Binomial {
    circle: Circle,
    tree: Knomial,
    blocks: Blocks,
}

impl Schedule for Binomial {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        2
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let place = self.circle.place(rank);
        let subtree = self.tree.subtree(place);
        if place == 0 || subtree == 1 {
            0
        } else {
            self.circle.bytes(&self.blocks, place, place + subtree)
        }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let place = self.circle.place(rank);
        let subtree = self.tree.subtree(place);
        // The blocks in the root's buffer: one run, or two where they wrap.
        let runs = |a, b| self.circle.spans(&self.blocks, Buf::In, a, b);
        let bytes = |a, b| self.circle.bytes(&self.blocks, a, b);
        let own = span(Buf::Out, 0, self.blocks.len(rank));
        // A leaf receives into Out; an inner rank into scratch, its own block in front.
        let kept = if subtree == 1 { own } else { span(Buf::Tmp, 0, own.len) };
        match (k, self.tree.parent(place)) {
            (0, None) => {}
            (0, Some(parent)) => {
                let [x, y] = runs(place, place + subtree);
                let from = self.circle.rank(parent);
                // Only the root holds the blocks in two runs and sends two messages.
                if parent == 0 {
                    out.recv(from, span(kept.buf, 0, x.len));
                    out.recv(from, span(kept.buf, x.len, y.len));
                } else {
                    out.recv(from, span(kept.buf, 0, x.len + y.len));
                }
                out.drain();
            }
            _ => {
                self.tree.children(place, &mut |child| {
                    let (to, end) = (self.circle.rank(child), child + self.tree.subtree(child));
                    if place == 0 {
                        runs(child, end).into_iter().for_each(|run| out.send(to, run));
                    } else {
                        let (off, len) = (bytes(place, child), bytes(child, end));
                        out.send(to, span(Buf::Tmp, off, len));
                    }
                });
                let source = if place == 0 { self.blocks.block(Buf::In, rank) } else { kept };
                out.copy(source, own);
            }
        }
    }
}
