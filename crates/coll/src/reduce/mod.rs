//! Reduce: the ranks' vectors are joined at the root.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
