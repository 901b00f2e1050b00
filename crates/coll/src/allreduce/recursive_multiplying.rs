//! Recursive multiplying allreduce: groups of `radix` ranks at growing distances exchange and join
//! whole vectors.

use laneway_core::{Buf, Collective, Phases, Rank, Round, Schedule, Shape, Span, span};

use super::give_and_take;
use crate::cores::{Cores, nearest_first};
use crate::registry::{Algorithm, Parameter, Refusal};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "recursive-multiplying",
    sentence: "groups of `radix` ranks exchange whole vectors; ranks past a power of it fold",
    source: "Ruefenacht, Bull, Booth 2017; MPICH",
    parameters: &[(Parameter::Radix, 4), Parameter::BY_RANK],
    build: |shape, params, _| build(shape, params.radix()),
    ..Algorithm::BASE
};

/// Radix 2 is recursive doubling.
pub fn build(shape: &Shape, radix: u32) -> Result<Box<dyn Schedule>, Refusal> {
    let cores = Cores::new(shape.ranks, radix, 0);
    let (vector, in_place) = (shape.vector(), shape.in_place);
    if vector.checked_mul(u64::from(radix.min(shape.ranks))).is_none() {
        let why = format!("vectors of {radix} ranks do not fit into the address space");
        return Err(Refusal(why));
    }
    Ok(Box::new(Multiplying { cores, radix, vector, in_place }))
}

struct Multiplying {
    cores: Cores,
    radix: u32,
    vector: u64,
    in_place: bool,
}

impl Multiplying {
    fn whole(&self, buf: Buf) -> Span {
        span(buf, 0, self.vector)
    }

    /// Ranks that fold into a core.
    fn folded(&self, core: u32) -> u32 {
        self.cores.group(core).len() as u32 - 1
    }

    /// Whether Out holds nothing yet when a core begins a step, step 0 being the fold.
    fn fresh(&self, core: u32, step: u32) -> bool {
        !self.in_place && (step == 0 || step == 1 && self.folded(core) == 0)
    }

    /// Number `i` of those that a core joins with in a step, nearest first.
    fn peer(&self, core: u32, step: u32, i: u32) -> Rank {
        if step == 0 {
            let first = self.cores.group(core).start;
            return first + nearest_first(self.cores.rank(core) - first, i);
        }
        let weight = self.radix.pow(step - 1);
        let digit = core / weight % self.radix;
        self.cores.rank(core - digit * weight + nearest_first(digit, i) * weight)
    }

    /// Where the vector of peer `i` arrives: a fresh sum begins with the first.
    fn arrives(&self, fresh: bool, i: u32) -> Span {
        match i.checked_sub(u32::from(fresh)) {
            None => self.whole(Buf::Out),
            Some(slot) => span(Buf::Tmp, u64::from(slot) * self.vector, self.vector),
        }
    }

    /// Takes in the vectors of all peers of a step, and gives them its own past the fold.
    fn join(&self, rank: Rank, step: u32, out: &mut Round) {
        let core = self.cores.of(rank);
        let peers = if step == 0 { self.folded(core) } else { self.radix - 1 };
        let fresh = self.fresh(core, step);
        for i in 0..peers {
            out.recv(self.peer(core, step, i), self.arrives(fresh, i));
        }
        for i in (0..peers).filter(|_| step > 0) {
            let sum = self.whole(if fresh { Buf::In } else { Buf::Out });
            out.send(self.peer(core, step, i), sum);
        }
        if peers > 0 {
            out.drain();
        }
        for i in 0..peers {
            let lower = self.peer(core, step, i) < rank;
            if fresh && i == 0 {
                out.reduce(self.whole(Buf::In), self.whole(Buf::Out), !lower);
            } else {
                out.reduce(self.arrives(fresh, i), self.whole(Buf::Out), lower);
            }
        }
    }
}

impl Schedule for Multiplying {
    fn ranks(&self) -> u32 {
        self.cores.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        if self.cores.above(rank).is_some() { 1 } else { u64::from(self.cores.power) + 2 }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        if self.cores.above(rank).is_some() {
            return 0;
        }
        let core = self.cores.of(rank);
        let of_step = |step| {
            let peers = if step == 0 { self.folded(core) } else { self.radix - 1 };
            u64::from(peers.saturating_sub(u32::from(self.fresh(core, step))))
        };
        // From step 2 on all are alike.
        let most = (0..=self.cores.power.min(2)).map(of_step).max().unwrap_or(0);
        most * self.vector
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        if let Some(core) = self.cores.above(rank) {
            return give_and_take(core, Buf::In, self.vector, !self.in_place, out);
        }
        let step = k as u32;
        if self.cores.ranks == 1 && step == 0 && !self.in_place {
            out.copy(self.whole(Buf::In), self.whole(Buf::Out));
        } else if step <= self.cores.power {
            self.join(rank, step, out);
        } else {
            let core = self.cores.of(rank);
            for i in 0..self.folded(core) {
                out.send(self.peer(core, 0, i), self.whole(Buf::Out));
            }
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        (self.radix == 2 && self.cores.count == self.cores.ranks).then_some(self as &dyn Phases)
    }
}

/// Only pairs have one partner a phase, and only if no rank folds.
impl Phases for Multiplying {
    fn count(&self) -> u64 {
        u64::from(self.cores.power)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        rank ^ (1 << phase)
    }
}
