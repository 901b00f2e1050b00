//! Gather and gatherv: the ranks' blocks come together at the root.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
