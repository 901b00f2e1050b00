//! What holds for every registered algorithm.

mod mutation;
mod order;
mod permuted;
mod phases;
mod proof;
mod sites;
mod support;
