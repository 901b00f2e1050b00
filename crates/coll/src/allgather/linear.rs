//! Linear allgather: every rank sends its block to every other.

use laneway_core::Collective;

use crate::registry::{Algorithm, Parameter};
use crate::shift::Widening;
use crate::spread::Spread;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "linear",
    sentence: "each rank sends its block to all others, `window` at a time, the next rank first",
    source: "Open MPI basic",
    parameters: &[(Parameter::Window, 32), Parameter::BY_RANK],
    build: |shape, params, _| {
        let pattern = Widening { ranks: shape.ranks };
        Ok(Box::new(Spread { pattern, window: params.window(), ends: shape.blocks() }))
    },
    ..Algorithm::BASE
};
