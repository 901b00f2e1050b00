//! Barrier: synchronises all ranks.

pub mod dissemination;
pub mod double_ring;
pub mod linear;
pub mod recursive_doubling;
pub mod tree;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &double_ring::ALGORITHM,
    &recursive_doubling::ALGORITHM,
    &dissemination::ALGORITHM,
    &tree::ALGORITHM,
];
