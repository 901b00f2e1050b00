//! Bruck's allgather: the run of blocks that a rank holds grows by a factor a round, for any p.

use laneway_core::{ANY, Blocks, Buf, Collective, Phases, Rank, Round, Shape};

use super::{Exchange, Relay, own};
use crate::place::Circle;
use crate::registry::{Algorithm, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "bruck",
    sentence: "the run of blocks that starts with the own one doubles each round; blocks arrive \
               where they belong, so that nothing is rotated and a run that wraps is two messages",
    source: "Bruck et al. 1997; MPICH",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(Box::new(Bruck::relay(shape, 2))),
    ..Algorithm::BASE
};

/// Bruck with any radix: a round takes runs from `radix - 1` ranks above.
pub struct Bruck {
    ranks: u32,
    radix: u32,
    rounds: u64,
    blocks: Blocks,
}

impl Bruck {
    pub fn relay(shape: &Shape, radix: u32) -> Relay<Bruck> {
        let (ranks, radix, blocks) = (shape.ranks, radix.max(2), shape.blocks());
        let mut bruck = Bruck { ranks, radix, rounds: 0, blocks };
        while bruck.held(bruck.rounds) < u64::from(ranks) {
            bruck.rounds += 1;
        }
        Relay::new(shape, ANY, bruck)
    }

    /// How many blocks every rank holds before round `k`.
    fn held(&self, k: u64) -> u64 {
        u64::from(self.radix).pow(k as u32)
    }

    /// Calls `visit` with each distance of round `k` and how many blocks travel so far.
    fn distances(&self, k: u64, mut visit: impl FnMut(u32, u32)) {
        let (held, ranks) = (self.held(k), u64::from(self.ranks));
        for digit in 1..u64::from(self.radix) {
            let far = digit * held;
            if far >= ranks {
                break;
            }
            visit(far as u32, held.min(ranks - far) as u32);
        }
    }
}

impl Exchange for Bruck {
    fn rounds(&self, _rank: Rank) -> u64 {
        self.rounds
    }

    fn recvs(&self, rank: Rank, k: u64, out: &mut Round) {
        let circle = Circle { ranks: self.ranks, root: rank };
        self.distances(k, |far, count| {
            let runs = circle.spans(&self.blocks, Buf::Out, far, far + count);
            let from = up(self.ranks, rank, far);
            runs.into_iter().for_each(|run| out.recv(from, run));
        });
    }

    fn sends(&self, rank: Rank, k: u64, out: &mut Round) {
        let circle = Circle { ranks: self.ranks, root: rank };
        self.distances(k, |far, count| {
            let to = down(self.ranks, rank, far);
            if count == 1 {
                return out.send(to, own(&self.blocks, rank));
            }
            let runs = circle.spans(&self.blocks, Buf::Out, 0, count);
            runs.into_iter().for_each(|run| out.send(to, run));
        });
    }

    fn relays(&self, _rank: Rank, k: u64) -> bool {
        // The last round may send fewer blocks than were there a round ago.
        let held = self.held(k);
        held.min(u64::from(self.ranks) - held) > self.held(k - 1)
    }

    fn phases(&self) -> Option<&dyn Phases> {
        (self.radix == 2).then_some(self)
    }
}

impl Phases for Bruck {
    fn count(&self) -> u64 {
        self.rounds(0)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        down(self.ranks, rank, self.held(phase) as u32)
    }
}
