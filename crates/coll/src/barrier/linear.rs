//! Linear barrier: every rank signals rank 0, which answers when all have.

use laneway_core::{Collective, Rank, Round, Schedule};

use crate::registry::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "linear",
    sentence: "all ranks signal rank 0, which signals all when the last has arrived",
    source: "Open MPI basic",
    build: |shape, _, _| Ok(Box::new(Linear { ranks: shape.ranks })),
    ..Algorithm::BASE
};

struct Linear {
    ranks: u32,
}

impl Schedule for Linear {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if rank == 0 { u64::from(self.ranks - 1) * 2 } else { 1 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        if rank > 0 {
            out.await_signal(0, 0);
            return out.signal(0, 0);
        }
        let others = u64::from(self.ranks - 1);
        if k < others {
            return out.await_signal(k as Rank + 1, 0);
        }
        if k == others {
            out.drain();
        }
        out.signal((k - others) as Rank + 1, 0);
    }
}
