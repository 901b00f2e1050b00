//! Allreduce: the ranks' vectors are joined, and every rank has the result.

pub mod rabenseifner;
pub mod recursive_doubling;
pub mod recursive_multiplying;
pub mod reduce_bcast;
pub mod ring;
pub mod segmented_ring;
pub mod site_lanes;
mod site_trees;

use laneway_core::{Buf, Rank, Round, span};

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &reduce_bcast::ALGORITHM,
    &recursive_doubling::ALGORITHM,
    &recursive_multiplying::ALGORITHM,
    &ring::ALGORITHM,
    &segmented_ring::ALGORITHM,
    &rabenseifner::ALGORITHM,
    &site_lanes::ALGORITHM,
];

/// A rank gives `own` to one that will answer with the result, which may arrive at any time only
/// where it does not arrive in the same bytes.
fn give_and_take(peer: Rank, own: Buf, vector: u64, apart: bool, out: &mut Round) {
    if apart {
        out.recv(peer, span(Buf::Out, 0, vector));
    }
    out.send(peer, span(own, 0, vector));
    if !apart {
        out.drain();
        out.recv(peer, span(Buf::Out, 0, vector));
    }
}
