//! Scan: rank r has the vectors of ranks 0 to r joined.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
