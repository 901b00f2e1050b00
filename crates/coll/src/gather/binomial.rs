//! Binomial gather: a rank collects the blocks of its whole subtree and passes them up as one.

use laneway_core::{ANY, Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::place::Circle;
use crate::registry::{Algorithm, Counts, Parameter};
use crate::tree::{Knomial, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "binomial",
    sentence: "up a binomial tree, each child sending its parent the blocks of its whole subtree",
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

impl Binomial {
    /// Receives every subtree into its place: Out at the root, otherwise behind the own block.
    fn collect(&self, place: u32, out: &mut Round) {
        self.tree.children(place, &mut |child| {
            let (from, end) = (self.circle.rank(child), child + self.tree.subtree(child));
            if place == 0 {
                let runs = self.circle.spans(&self.blocks, Buf::Out, child, end);
                runs.into_iter().for_each(|run| out.recv(from, run));
            } else {
                let off = self.circle.bytes(&self.blocks, place, child);
                let len = self.circle.bytes(&self.blocks, child, end);
                out.recv(from, span(Buf::Tmp, off, len));
            }
        });
    }

    /// Sends the subtree up, from `buf`. Only the root keeps blocks in two runs and takes two
    /// messages where they wrap.
    fn pass_on(&self, parent: u32, place: u32, buf: Buf, out: &mut Round) {
        let end = place + self.tree.subtree(place);
        let [x, y] = self.circle.spans(&self.blocks, buf, place, end);
        let to = self.circle.rank(parent);
        if parent == 0 {
            out.send(to, span(buf, 0, x.len));
            out.send(to, span(buf, x.len, y.len));
        } else {
            out.send(to, span(buf, 0, x.len + y.len));
        }
    }
}

impl Schedule for Binomial {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == self.circle.root { 1 } else { 2 }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let place = self.circle.place(rank);
        let subtree = self.tree.subtree(place);
        if place == 0 || subtree == 1 {
            return 0;
        }
        self.circle.bytes(&self.blocks, place, place + subtree)
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let place = self.circle.place(rank);
        let own = span(Buf::In, 0, self.blocks.len(rank));
        let leaf = self.tree.subtree(place) == 1;
        match (k, self.tree.parent(place)) {
            (0, None) => {
                self.collect(place, out);
                out.copy(own, self.blocks.block(Buf::Out, rank));
            }
            (0, Some(_)) if !leaf => {
                self.collect(place, out);
                out.copy(own, span(Buf::Tmp, 0, own.len));
            }
            (1, Some(parent)) => {
                out.at_most(ANY, 0);
                self.pass_on(parent, place, if leaf { Buf::In } else { Buf::Tmp }, out);
            }
            _ => {}
        }
    }
}
