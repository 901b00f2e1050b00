//! Allgather and allgatherv: everybody has everybody's block.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
