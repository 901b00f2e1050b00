//! Reduce-scatter, with blocks of any lengths or equal ones: block r of the sum goes to rank r.

pub mod butterfly;
pub mod halving;
pub mod pairwise;
pub mod recursive_halving;
pub mod ring;
pub mod site_lanes;

use laneway_core::{Buf, Rank, Round, Schedule, span};

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &pairwise::ALGORITHM,
    &ring::ALGORITHM,
    &recursive_halving::ALGORITHM,
    &butterfly::ALGORITHM,
    &site_lanes::ALGORITHM,
];

/// One rank, whose vector is the sum already.
struct Alone {
    vector: u64,
}

impl Schedule for Alone {
    fn ranks(&self) -> u32 {
        1
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, _rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        out.copy(span(Buf::In, 0, self.vector), span(Buf::Out, 0, self.vector));
    }
}
