//! Tree barrier: signals climb a k-nomial tree, and come down it again.

use laneway_core::{Collective, Rank, Round, Schedule};

use crate::registry::{Algorithm, Parameter};
use crate::tree::{Knomial, Tree};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "tree",
    sentence: "signals climb a k-nomial tree of the given radix to rank 0, and come down again",
    source: "Open MPI tuned; MPICH",
    parameters: &[(Parameter::Radix, 2), Parameter::BY_RANK],
    build: |shape, params, _| {
        Ok(Box::new(UpAndDown(Knomial { ranks: shape.ranks, radix: params.radix() })))
    },
    ..Algorithm::BASE
};

struct UpAndDown(Knomial);

impl Schedule for UpAndDown {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        2
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let parent = self.0.parent(rank);
        if k == 0 {
            self.0.children(rank, &mut |child| out.await_signal(child, 0));
            out.drain();
            if let Some(parent) = parent {
                out.await_signal(parent, 0);
                out.signal(parent, 0);
            }
        } else {
            out.drain();
            self.0.children(rank, &mut |child| out.signal(child, 0));
        }
    }
}
