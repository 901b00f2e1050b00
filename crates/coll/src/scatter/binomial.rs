//! Binomial scatter: a rank takes the blocks of its whole subtree and passes on the halves.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, Span, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Counts};
use crate::tree::{Knomial, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "binomial",
    sentence: "down a binomial tree, each parent sending a child the blocks of its whole subtree",
    source: "MPICH; Open MPI tuned",
    counts: Counts::All,
    build: |shape, _| {
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

impl Binomial {
    /// Blocks of places a to b in the root's buffer: one run, or two where they wrap.
    fn runs(&self, a: u32, b: u32) -> [Span; 2] {
        let past = self.circle.ranks - self.circle.root;
        let at = |a: u32, b: u32| self.blocks.span(Buf::In, a, b);
        let (up, down) = (a.min(past)..b.min(past), a.max(past)..b.max(past));
        let root = self.circle.root;
        [at(up.start + root, up.end + root), at(down.start - past, down.end - past)]
    }

    fn bytes(&self, a: u32, b: u32) -> u64 {
        self.runs(a, b).iter().map(|run| run.len).sum()
    }
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
        if place == 0 || subtree == 1 { 0 } else { self.bytes(place, place + subtree) }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let place = self.circle.place(rank);
        let subtree = self.tree.subtree(place);
        let own = span(Buf::Out, 0, self.blocks.len(rank));
        // A leaf receives into Out; an inner rank into scratch, its own block in front.
        let kept = if subtree == 1 { own } else { span(Buf::Tmp, 0, own.len) };
        match (k, self.tree.parent(place)) {
            (0, None) => {}
            (0, Some(parent)) => {
                let [x, y] = self.runs(place, place + subtree);
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
                        self.runs(child, end).into_iter().for_each(|run| out.send(to, run));
                    } else {
                        let (off, len) = (self.bytes(place, child), self.bytes(child, end));
                        out.send(to, span(Buf::Tmp, off, len));
                    }
                });
                let source = if place == 0 { self.blocks.block(Buf::In, rank) } else { kept };
                out.copy(source, own);
            }
        }
    }
}
