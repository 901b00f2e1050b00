//! Rabenseifner's allreduce: recursive halving leaves every rank a block of the sum, and recursive
//! doubling brings the blocks to all.

use laneway_core::{Buf, Collective, Rank, Round, Schedule};

use super::give_and_take;
use crate::halving::{Halving, Sum};
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "rabenseifner",
    sentence: "a reduce-scatter by recursive halving, then an allgather by recursive doubling",
    source: "Rabenseifner 2004; MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let halving = Halving::new(shape, 0);
        Ok(Box::new(Rabenseifner { halving, in_place: shape.in_place }))
    },
    ..Algorithm::BASE
};

struct Rabenseifner {
    halving: Halving,
    in_place: bool,
}

impl Rabenseifner {
    /// Undoes a step of the halving: the pair swaps its halves of the sum.
    fn double(&self, rank: Rank, step: u32, sum: &Sum, k: u64, out: &mut Round) {
        let (halving, core) = (&self.halving, self.halving.cores.of(rank));
        let peer = halving.peer(core, step);
        // What arrives first was sent away in the last halving; what comes later, long ago.
        let first = step + 1 == halving.steps();
        if first {
            out.after(0, k - 1);
        }
        out.recv(peer, sum.at(halving.part(core ^ (1 << step), step + 1)));
        if !first {
            out.after(0, k - 1);
        }
        out.send(peer, sum.at(halving.part(core, step + 1)));
    }
}

impl Schedule for Rabenseifner {
    fn ranks(&self) -> u32 {
        self.halving.cores.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        let is_core = self.halving.cores.above(rank).is_none();
        if is_core { 2 * u64::from(self.halving.steps()) + 2 } else { 1 }
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let is_core = self.halving.cores.above(rank).is_none();
        if is_core { self.halving.room(rank, self.in_place) } else { 0 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let halving = &self.halving;
        if let Some(core) = halving.cores.above(rank) {
            let vector = halving.whole(Buf::In).len;
            return give_and_take(core, Buf::In, vector, !self.in_place, out);
        }
        if halving.cores.ranks == 1 && k == 0 && !self.in_place {
            return out.copy(halving.whole(Buf::In), halving.whole(Buf::Out));
        }
        let sum = Sum { buf: Buf::Out, base: 0, holds_own: self.in_place, room: 0 };
        let (step, steps) = (k as u32, halving.steps());
        if step == 0 {
            halving.fold_in(rank, &sum, out);
        } else if step <= steps {
            halving.halve(rank, step - 1, &sum, out);
        } else if step <= 2 * steps {
            self.double(rank, 2 * steps - step, &sum, k, out);
        } else if let Some(other) = halving.folded(rank) {
            out.drain();
            out.send(other, halving.whole(Buf::Out));
        }
    }
}
