//! Rabenseifner's reduce: recursive halving leaves every rank a block of the sum, and a binomial
//! tree gathers the blocks at the root.

use laneway_core::{Buf, Collective, Rank, Round, Schedule};

use crate::halving::{Halving, Sum};
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "rabenseifner",
    sentence: "a reduce-scatter by recursive halving, then a binomial gather to the root",
    source: "Rabenseifner 2004; MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let halving = Halving::new(shape, shape.root);
        Ok(Box::new(Rabenseifner { halving, root: shape.root, in_place: shape.in_place }))
    },
    ..Algorithm::BASE
};

struct Rabenseifner {
    halving: Halving,
    root: Rank,
    in_place: bool,
}

impl Rabenseifner {
    /// The root gathers its sum in Out; other cores have none, and do it in scratch, where only the
    /// half that they keep after the first step needs a place.
    fn sum(&self, rank: Rank) -> Sum {
        if rank == self.root {
            return Sum { buf: Buf::Out, base: 0, holds_own: self.in_place, room: 0 };
        }
        let level = if self.halving.folded(rank).is_some() { 0 } else { 1 };
        let part = self.halving.part(self.halving.cores.of(rank), level);
        Sum { buf: Buf::Tmp, base: part.off, holds_own: false, room: part.len }
    }

    /// The blocks of every core below this one in the tree, then all of them upwards.
    fn gather(&self, rank: Rank, sum: &Sum, out: &mut Round) {
        let (halving, cores) = (&self.halving, self.halving.cores);
        let core = cores.of(rank);
        // A core goes with the root down to the highest step in which they differ.
        let apart = core ^ cores.of(self.root);
        let last = if apart == 0 { 0 } else { apart.ilog2() + 1 };
        // What is received now was sent away while the vector was halved.
        out.drain();
        for step in (last..halving.steps()).rev() {
            let part = halving.part(core ^ (1 << step), step + 1);
            out.recv(halving.peer(core, step), sum.at(part));
        }
        if apart != 0 {
            out.drain();
            out.send(halving.peer(core, last - 1), sum.at(halving.part(core, last)));
        }
    }
}

impl Schedule for Rabenseifner {
    fn ranks(&self) -> u32 {
        self.halving.cores.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        let is_core = self.halving.cores.above(rank).is_none();
        if is_core { u64::from(self.halving.steps()) + 2 } else { 1 }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        if self.halving.cores.above(rank).is_some() {
            return 0;
        }
        let sum = self.sum(rank);
        sum.room + self.halving.room(rank, sum.holds_own)
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let (halving, cores) = (&self.halving, self.halving.cores);
        if let Some(core) = cores.above(rank) {
            return out.send(core, halving.whole(Buf::In));
        }
        let sum = self.sum(rank);
        if cores.ranks == 1 && k == 0 && !self.in_place {
            return out.copy(halving.whole(Buf::In), halving.whole(Buf::Out));
        }
        match k {
            0 => halving.fold_in(rank, &sum, out),
            k if k <= u64::from(halving.steps()) => halving.halve(rank, k as u32 - 1, &sum, out),
            _ => self.gather(rank, &sum, out),
        }
    }
}
