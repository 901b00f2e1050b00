//! Reduce-scatter, and its form with equal blocks: the joined vector, a block to each rank.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
