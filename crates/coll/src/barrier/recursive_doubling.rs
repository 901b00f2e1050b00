//! Recursive doubling barrier: pairs at doubling distances signal each other.

use laneway_core::{Collective, Phases, Rank, Round, Schedule};

use crate::cores::Cores;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Barrier,
    name: "recursive-doubling",
    sentence: "pairs at doubling distances signal each other; ranks past a power of two fold",
    source: "MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(Box::new(Doubling { cores: Cores::new(shape.ranks, 2, 0) })),
    ..Algorithm::BASE
};

struct Doubling {
    cores: Cores,
}

impl Schedule for Doubling {
    fn ranks(&self) -> u32 {
        self.cores.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if self.cores.above(rank).is_some() { 1 } else { u64::from(self.cores.power) + 2 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        if let Some(core) = self.cores.above(rank) {
            out.await_signal(core, 0);
            return out.signal(core, 0);
        }
        let core = self.cores.of(rank);
        let (first, last) = (k == 0, k > u64::from(self.cores.power));
        if !first && !last {
            let peer = self.cores.rank(core ^ (1 << (k - 1)));
            out.await_signal(peer, 0);
            out.signal(peer, 0);
            return out.drain();
        }
        for other in self.cores.group(core).filter(|&other| other != rank) {
            if first {
                out.await_signal(other, 0);
                out.drain();
            } else {
                out.signal(other, 0);
            }
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        (self.cores.count == self.cores.ranks).then_some(self as &dyn Phases)
    }
}

/// Every rank has one partner a phase if no rank folds.
impl Phases for Doubling {
    fn count(&self) -> u64 {
        u64::from(self.cores.power)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        rank ^ (1 << phase)
    }
}
