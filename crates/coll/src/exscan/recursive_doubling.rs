//! Recursive doubling exscan: like the scan, with a second sum that leaves out the own vector.

use laneway_core::{Buf, Collective, Rank, Round, Schedule, Span, span};

use crate::cores::doublings;
use crate::registry::Algorithm;
use crate::scan::recursive_doubling::above;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Exscan,
    name: "recursive-doubling",
    sentence: "sums go upwards at doubling distances, each rank joining what comes from below",
    source: "Hillis, Steele 1986; MPICH; Open MPI",
    build: |shape, _, _| {
        let (ranks, vector, in_place) = (shape.ranks, shape.vector(), shape.in_place);
        Ok(Box::new(Doubling { ranks, vector, in_place }))
    },
    ..Algorithm::BASE
};

/// Before round j, the running sum holds the vectors of the 2^j ranks that end with this one; Out
/// holds the same without this rank's own.
struct Doubling {
    ranks: u32,
    vector: u64,
    in_place: bool,
}

impl Doubling {
    fn whole(&self, buf: Buf) -> Span {
        span(buf, 0, self.vector)
    }

    /// What is sent: rank 0 has nothing to join, and no rank has before the first round.
    fn running(&self, rank: Rank, k: u64) -> Span {
        if rank == 0 || k == 0 { self.whole(Buf::In) } else { span(Buf::Tmp, 0, self.vector) }
    }

    /// Joins what came from below into Out, and into the running sum if that is sent once more.
    fn join(&self, rank: Rank, k: u64, arrived: Span, out: &mut Round) {
        let sum = self.running(rank, k + 1);
        let goes_on = above(rank, k + 1, self.ranks).is_some();
        if goes_on && k == 0 {
            out.copy(self.whole(Buf::In), sum);
        }
        out.drain();
        if goes_on {
            out.reduce_left(arrived, sum);
        }
        if k == 0 {
            out.copy(arrived, self.whole(Buf::Out));
        } else {
            out.reduce_left(arrived, self.whole(Buf::Out));
        }
    }
}

impl Schedule for Doubling {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        u64::from(doublings(self.ranks))
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        if rank == 0 { 0 } else { 2 * self.vector }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let below = rank.checked_sub(1 << k);
        let arrives = if k == 0 && !self.in_place {
            self.whole(Buf::Out)
        } else {
            span(Buf::Tmp, self.vector, self.vector)
        };
        if let Some(below) = below {
            out.recv(below, arrives);
        }
        if let Some(above) = above(rank, k, self.ranks) {
            out.send(above, self.running(rank, k));
        }
        if below.is_some() {
            self.join(rank, k, arrives, out);
        }
    }
}
