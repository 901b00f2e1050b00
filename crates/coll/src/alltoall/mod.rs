//! Alltoall and alltoallv: everybody has a block for everybody.

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[];
