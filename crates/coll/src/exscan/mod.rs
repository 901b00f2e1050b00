//! Exscan: rank r has the vectors of the ranks before it joined.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
