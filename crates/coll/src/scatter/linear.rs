//! Linear scatter: the root sends each rank its block, one after another.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::registry::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "linear",
    sentence: "the root sends to rank after rank, each send done before the next",
    source: "MPIBlib; Open MPI basic",
    build: |shape, _, _| {
        Ok(Box::new(Linear { ranks: shape.ranks, root: shape.root, blocks: shape.blocks() }))
    },
    ..Algorithm::BASE
};

struct Linear {
    ranks: u32,
    root: Rank,
    blocks: Blocks,
}

impl Schedule for Linear {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == self.root { u64::from(self.ranks) } else { 1 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let own = span(Buf::Out, 0, self.blocks.len(rank));
        if rank != self.root {
            return out.recv(self.root, own);
        }
        let to = k as Rank;
        if to == rank {
            return out.copy(self.blocks.block(Buf::In, rank), own);
        }
        out.drain();
        out.send(to, self.blocks.block(Buf::In, to));
    }
}
