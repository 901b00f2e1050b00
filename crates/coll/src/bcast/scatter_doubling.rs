//! Scatter and doubling broadcast: a binomial scatter, then an allgather in which the run of blocks
//! that each rank holds doubles from round to round.

use laneway_core::{Collective, Rank, Round, Schedule, Span};

use super::scatter::Scattered;
use crate::cores::doublings;
use crate::registry::{Algorithm, Parameter};
use crate::shift::{down, up};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "scatter-doubling",
    sentence: "a binomial scatter of p blocks, then every rank's run of blocks doubles each round",
    source: "Thakur, Rabenseifner, Gropp 2005; MPICH; for any p as in Bruck et al. 1997",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(Box::new(ScatterDoubling { scattered: Scattered::new(shape) })),
    ..Algorithm::BASE
};

/// Before round j + 1 a place holds the 2^j blocks from its own on, round the circle. It receives
/// the next 2^j, or what it lacks of them, from the place at that distance. For a power of two this
/// takes the rounds and the bytes of pairs that exchange, and it serves any other count as well.
struct ScatterDoubling {
    scattered: Scattered,
}

impl ScatterDoubling {
    /// What a place receives over a distance: one run, or two where the blocks wrap.
    fn lacking(&self, place: u32, distance: u32) -> [Span; 2] {
        let (p, place) = (u64::from(self.ranks()), u64::from(place));
        let held = u64::from(self.scattered.held(place as u32));
        let to = place + (2 * u64::from(distance)).min(p);
        let from = (place + held.max(distance.into())).min(to);
        let run = |a: u64, b: u64| self.scattered.blocks(a as u32, b as u32);
        [run(from.min(p), to.min(p)), run(from.max(p) - p, to.max(p) - p)]
    }
}

impl Schedule for ScatterDoubling {
    fn ranks(&self) -> u32 {
        self.scattered.circle.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1 + u64::from(doublings(self.ranks()))
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let circle = self.scattered.circle;
        if k == 0 {
            self.scattered.receive(rank, out);
            out.drain();
            return self.scattered.pass_on(rank, out);
        }
        let (place, distance) = (circle.place(rank), 1 << (k - 1));
        let source = up(circle.ranks, place, distance);
        let target = down(circle.ranks, place, distance);
        for run in self.lacking(place, distance) {
            out.recv(circle.rank(source), run);
        }
        out.after(0, k - 1);
        for run in self.lacking(target, distance) {
            out.send(circle.rank(target), run);
        }
    }
}
