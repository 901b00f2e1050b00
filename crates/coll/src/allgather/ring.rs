//! Ring allgather: every block runs once round the circle of ranks.

use laneway_core::{Blocks, Buf, Collective, Phases, Rank, Round};

use super::{Exchange, Relay, own};
use crate::registry::{Algorithm, Parameter};
use crate::shift::{Neighbour, down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "ring",
    sentence: "each rank forwards to the next rank what it received from the previous one",
    source: "MPICH; Open MPI tuned",
    parameters: &[(Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let ring = Ring { pattern: Neighbour { ranks: shape.ranks }, blocks: shape.blocks() };
        Ok(Box::new(Relay::new(shape, params.window(), ring)))
    },
    ..Algorithm::BASE
};

struct Ring {
    pattern: Neighbour,
    blocks: Blocks,
}

impl Exchange for Ring {
    fn rounds(&self, _rank: Rank) -> u64 {
        self.pattern.count()
    }

    fn recvs(&self, rank: Rank, k: u64, out: &mut Round) {
        let ranks = self.pattern.ranks;
        let block = self.blocks.block(Buf::Out, down(ranks, rank, k as u32 + 1));
        out.recv(down(ranks, rank, 1), block);
    }

    fn sends(&self, rank: Rank, k: u64, out: &mut Round) {
        let ranks = self.pattern.ranks;
        let block = match k {
            0 => own(&self.blocks, rank),
            _ => self.blocks.block(Buf::Out, down(ranks, rank, k as u32)),
        };
        out.send(up(ranks, rank, 1), block);
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.pattern)
    }
}
