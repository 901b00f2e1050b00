//! What holds for every registered algorithm.

mod mutation;
mod proof;
mod support;
