//! Linear all-to-all: every rank has many sends and many receives under way at once.

use laneway_core::Collective;

use crate::registry::{Algorithm, Parameter};
use crate::shift::Widening;
use crate::spread::Spread;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "linear",
    sentence: "`window` sends and `window` receives at a time, neither waiting for the other, the \
               nearest ranks first",
    source: "Open MPI basic; MPICH scattered",
    parameters: &[(Parameter::Window, 32), Parameter::BY_RANK],
    // Blocks arrive in any number before those that lie in their places have left.
    in_place: false,
    build: |shape, params, _| {
        let pattern = Widening { ranks: shape.ranks };
        Ok(Box::new(Spread { pattern, window: params.window(), ends: shape.matrix() }))
    },
    ..Algorithm::BASE
};
