//! Linear exscan: what is joined so far goes from rank to rank, and each keeps what it was given.

use laneway_core::Collective;

use crate::registry::{Algorithm, Parameter};
use crate::scan::linear::Linear;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Exscan,
    name: "linear",
    sentence: "each rank keeps what comes from the rank below and passes it on joined, in segments",
    source: "Open MPI basic, here with a pipeline of segments",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4)],
    build: |shape, params, _| {
        Ok(Box::new(Linear::new(shape, params.segment(), params.window(), true)))
    },
    ..Algorithm::BASE
};
