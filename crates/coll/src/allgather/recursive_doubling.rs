//! Recursive doubling: partners at doubling distances exchange all that they have.

use laneway_core::{ANY, Blocks, Buf, Collective, Phases, Rank, Round, Span};

use super::{Exchange, Relay, own};
use crate::cores::Cores;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "recursive-doubling",
    sentence: "partners at doubling distances exchange all they have; ranks beyond a power of two \
               act through a neighbour",
    source: "MPICH; Thakur, Rabenseifner, Gropp 2005",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let doubling = Doubling { cores: Cores::new(shape.ranks, 2, 0), blocks: shape.blocks() };
        Ok(Box::new(Relay::new(shape, ANY, doubling)))
    },
    ..Algorithm::BASE
};

/// Cores double what they have; a rank that is none hands its block to one before, and is sent all
/// others after.
struct Doubling {
    cores: Cores,
    blocks: Blocks,
}

impl Doubling {
    /// The rank that a core stands for beside itself: the next one.
    fn follower(&self, rank: Rank) -> Option<Rank> {
        let group = self.cores.group(self.cores.of(rank));
        (group.len() == 2).then_some(rank + 1)
    }

    /// The step of the doubling that round `k` of a core is, if any.
    fn step(&self, rank: Rank, k: u64) -> Option<u32> {
        let step = k.checked_sub(u64::from(self.follower(rank).is_some()))?;
        (step < u64::from(self.cores.power)).then_some(step as u32)
    }

    /// What a core has before a step.
    fn held(&self, core: u32, step: u32) -> Span {
        let (first, count) = (core >> step << step, 1 << step);
        let (a, b) = (self.cores.group(first).start, self.cores.group(first + count - 1).end);
        self.blocks.span(Buf::Out, a, b)
    }

    /// All but the follower's own block, which it has.
    fn rest(&self, follower: Rank) -> [Span; 2] {
        let after = self.blocks.span(Buf::Out, follower + 1, self.cores.ranks);
        [self.blocks.span(Buf::Out, 0, follower), after]
    }
}

impl Exchange for Doubling {
    fn rounds(&self, rank: Rank) -> u64 {
        let steps = u64::from(self.cores.power);
        match (self.cores.above(rank), self.follower(rank)) {
            (Some(_), _) => 1,
            (None, Some(_)) => steps + 2,
            (None, None) => steps,
        }
    }

    fn recvs(&self, rank: Rank, k: u64, out: &mut Round) {
        if let Some(core) = self.cores.above(rank) {
            self.rest(rank).into_iter().for_each(|span| out.recv(core, span));
        } else if let Some(step) = self.step(rank, k) {
            let partner = self.cores.of(rank) ^ (1 << step);
            out.recv(self.cores.rank(partner), self.held(partner, step));
        } else if let Some(follower) = self.follower(rank).filter(|_| k == 0) {
            out.recv(follower, self.blocks.block(Buf::Out, follower));
        }
    }

    fn sends(&self, rank: Rank, k: u64, out: &mut Round) {
        let core = self.cores.of(rank);
        if let Some(core) = self.cores.above(rank) {
            out.send(core, own(&self.blocks, rank));
        } else if let Some(step) = self.step(rank, k) {
            let held = if k == 0 { own(&self.blocks, rank) } else { self.held(core, step) };
            out.send(self.cores.rank(core ^ (1 << step)), held);
        } else if let Some(follower) = self.follower(rank).filter(|_| k > 0) {
            self.rest(follower).into_iter().for_each(|span| out.send(follower, span));
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        (self.cores.count == self.cores.ranks).then_some(self)
    }
}

/// Where the ranks are a power of two, and all of them cores.
impl Phases for Doubling {
    fn count(&self) -> u64 {
        u64::from(self.cores.power)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        rank ^ (1 << phase)
    }
}
