//! Recursive doubling scan: from round to round a rank's sum reaches twice as far down.

use laneway_core::{Buf, Collective, Rank, Round, Schedule, Span, span};

use crate::cores::doublings;
use crate::registry::Algorithm;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scan,
    name: "recursive-doubling",
    sentence: "sums go upwards at doubling distances, each rank joining what comes from below",
    source: "Hillis, Steele 1986; MPICH; Open MPI",
    build: |shape, _, _| {
        let (ranks, vector, in_place) = (shape.ranks, shape.vector(), shape.in_place);
        Ok(Box::new(Doubling { ranks, vector, in_place }))
    },
    ..Algorithm::BASE
};

/// Before round j, Out holds the vectors of the 2^j ranks that end with this one.
struct Doubling {
    ranks: u32,
    vector: u64,
    in_place: bool,
}

impl Doubling {
    fn whole(&self, buf: Buf) -> Span {
        span(buf, 0, self.vector)
    }
}

impl Schedule for Doubling {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        // One round at least, in which a lone rank copies.
        u64::from(doublings(self.ranks)).max(1)
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        let first = if self.in_place { 1 } else { 2 };
        if rank >= first { self.vector } else { 0 }
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let (below, above) = (rank.checked_sub(1 << k), above(rank, k, self.ranks));
        // In the first round In is joined to what arrives in Out.
        let fresh = k == 0 && !self.in_place;
        let arrives = self.whole(if fresh { Buf::Out } else { Buf::Tmp });
        if let Some(below) = below {
            out.recv(below, arrives);
        }
        if let Some(above) = above {
            out.send(above, self.whole(if k == 0 || rank == 0 { Buf::In } else { Buf::Out }));
        }
        if below.is_some() {
            out.drain();
        }
        match below {
            Some(_) if fresh => out.reduce_right(self.whole(Buf::In), arrives),
            Some(_) => out.reduce_left(arrives, self.whole(Buf::Out)),
            None if rank == 0 && fresh => out.copy(self.whole(Buf::In), self.whole(Buf::Out)),
            None => {}
        }
    }
}

/// The rank at distance 2^k above, where there is one.
pub fn above(rank: Rank, k: u64, ranks: u32) -> Option<Rank> {
    let above = u64::from(rank) + (1 << k);
    (above < u64::from(ranks)).then_some(above as Rank)
}
