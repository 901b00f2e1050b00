//! Linear gather: the root receives each rank's block into its place, rank after rank.

use laneway_core::{Blocks, Buf, Collective, Rank, Round, Schedule, span};

use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "linear",
    sentence: "all ranks send to the root, which keeps `window` receives posted, in rank order",
    source: "MPIBlib; Open MPI basic",
    parameters: &[(Parameter::Window, 8)],
    build: |shape, params, _| {
        let (ranks, root, blocks) = (shape.ranks, shape.root, shape.blocks());
        Ok(Box::new(Linear { ranks, root, blocks, window: params.window() }))
    },
    ..Algorithm::BASE
};

struct Linear {
    ranks: u32,
    root: Rank,
    blocks: Blocks,
    window: u32,
}

impl Schedule for Linear {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == self.root { u64::from(self.ranks) } else { 1 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let own = span(Buf::In, 0, self.blocks.len(rank));
        if rank != self.root {
            return out.send(self.root, own);
        }
        let from = k as Rank;
        let place = self.blocks.block(Buf::Out, from);
        if from == rank {
            return out.copy(own, place);
        }
        out.recv_window(self.window);
        out.recv(from, place);
    }
}
