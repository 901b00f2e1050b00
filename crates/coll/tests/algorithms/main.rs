//! What holds for every registered algorithm.

mod mutation;
mod permuted;
mod proof;
mod support;
