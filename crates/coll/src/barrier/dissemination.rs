//! Dissemination barrier: each rank signals upwards round the circle, at doubling distances.

use laneway_core::{Collective, Phases, Rank, Round, Schedule};

use crate::cores::doublings;
use crate::registry::{Algorithm, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "dissemination",
    sentence: "in round k each rank signals the rank 2^k above it, modulo the ranks",
    source: "Hensgen, Finkel, Manber 1988; MPICH; Open MPI tuned (bruck)",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(Box::new(Dissemination { ranks: shape.ranks })),
    ..Algorithm::BASE
};

struct Dissemination {
    ranks: u32,
}

impl Schedule for Dissemination {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        self.count()
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        out.await_signal(down(self.ranks, rank, 1 << k), 0);
        out.signal(self.partner(rank, k), 0);
        out.drain();
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(self)
    }
}

impl Phases for Dissemination {
    fn count(&self) -> u64 {
        u64::from(doublings(self.ranks))
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        up(self.ranks, rank, 1 << phase)
    }
}
