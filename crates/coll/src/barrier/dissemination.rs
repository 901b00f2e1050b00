//! Dissemination barrier: each rank signals upwards round the circle, at doubling distances.

use laneway_core::{Collective, Phases, Rank, Round, Schedule};

use crate::cores::doublings;
use crate::place::Circle;
use crate::registry::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "dissemination",
    sentence: "each rank signals the rank at doubling distances above it, round the circle",
    source: "Hensgen, Finkel, Manber 1988; MPICH; Open MPI tuned (bruck)",
    build: |shape, _| Ok(Box::new(Dissemination { ranks: shape.ranks })),
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
        // Counted from rank 2^k on, a rank's place is the rank at that distance below it.
        let from = Circle { ranks: self.ranks, root: 1 << k }.place(rank);
        out.await_signal(from, 0);
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
        Circle { ranks: self.ranks, root: 1 << phase }.rank(rank)
    }
}
