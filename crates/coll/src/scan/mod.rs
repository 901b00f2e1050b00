//! Scan: rank r has the vectors of ranks 0 to r joined.

pub mod linear;
pub mod recursive_doubling;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[&linear::ALGORITHM, &recursive_doubling::ALGORITHM];
