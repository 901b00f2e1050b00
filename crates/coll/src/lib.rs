//! Every collective algorithm as a [`Schedule`](laneway_core::Schedule), their registry, what each
//! collective means, the checker that proves one against the other, and the one that compares real
//! bytes. Public API, with the crate `laneway`, which passes on what most programs need.
//!
//! It must never know a backend: an algorithm is rank arithmetic and nothing else. One algorithm is
//! one file, `<operation>/<algorithm>.rs`, and one line in the list of `<operation>/mod.rs`.
//!
//! Begin with [`registry`], then `scatter/linear.rs` and `bcast/mod.rs`, then [`mod@check`] and
//! [`bytes`].
//!
//! ```
//! use laneway_coll::{check, find};
//! use laneway_core::{Collective, Shape};
//!
//! let shape = Shape::new(Collective::Bcast, 7, 1024);
//! let (algorithm, params) = find(Collective::Bcast, "knomial:radix=3").expect("an algorithm");
//! let schedule = algorithm.schedule(&shape, &params).expect("one that serves the shape");
//! let proof = check(&shape, &*schedule).expect("a schedule that does what a broadcast means");
//! assert_eq!(proof.messages, 6);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bytes;
pub mod check;
pub mod counts;
pub mod definition;
pub mod messages;
pub mod pace;
pub mod permute;
pub mod registry;

mod allgather;
mod allreduce;
mod alltoall;
mod answerer;
mod barrier;
mod bcast;
mod climb;
mod cores;
mod even;
mod exscan;
mod gather;
mod halving;
mod order;
mod place;
mod reduce;
mod reduce_scatter;
mod runs;
mod scan;
mod scatter;
mod script;
mod shift;
mod sites;
mod spread;
mod tree;
mod usual;

pub use alltoall::full_mesh::Order as MeshOrder;
pub use answerer::Answerer;
pub use check::{Fault, Proof, check};
pub use definition::{Piece, definition, expected};
pub use order::orders;
pub use permute::permuted;
pub use registry::{
    Algorithm, Counts, Parameter, Params, Refusal, algorithms, find, refused_name, unserved,
};
pub use sites::most_lanes;
pub use usual::default_algorithm;

/// Every algorithm, in the order in which the tool prints them.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

static FAMILIES: &[&[&Algorithm]] = &[
    barrier::ALGORITHMS,
    bcast::ALGORITHMS,
    scatter::ALGORITHMS,
    gather::ALGORITHMS,
    reduce::ALGORITHMS,
    allreduce::ALGORITHMS,
    allgather::ALGORITHMS,
    alltoall::ALGORITHMS,
    reduce_scatter::ALGORITHMS,
    scan::ALGORITHMS,
    exscan::ALGORITHMS,
];
