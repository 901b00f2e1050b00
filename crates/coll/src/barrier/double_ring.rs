//! Double ring barrier: a token goes round to learn that all have come, and once more to tell.

use laneway_core::{Collective, Rank, Round, Schedule};

use crate::registry::{Algorithm, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "double-ring",
    sentence: "a token passes around the ring of ranks twice",
    source: "Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(Box::new(DoubleRing { ranks: shape.ranks })),
    ..Algorithm::BASE
};

struct DoubleRing {
    ranks: u32,
}

impl Schedule for DoubleRing {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The last rank has heard of all when the token first comes to it.
    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        match self.ranks {
            1 => 0,
            p if rank + 1 == p => 1,
            _ => 2,
        }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let last = self.ranks - 1;
        let (below, above) = (down(self.ranks, rank, 1), up(self.ranks, rank, 1));
        if rank > 0 {
            out.await_signal(below, 0);
            out.drain();
        }
        // The second token ends with the rank before the last.
        if k == 0 || above != last {
            out.signal(above, 0);
        }
        if rank == 0 && k == 0 {
            out.await_signal(below, 0);
            out.drain();
        }
    }
}
