//! Segmented ring allreduce: a ring whose blocks go in segments, joined while others are under way.

use laneway_core::Collective;

use super::ring::Ring;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "segmented-ring",
    sentence: "a ring whose blocks go in segments, one joined while others are under way",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Segment, 1 << 20), (Parameter::Window, 8), Parameter::BY_RANK],
    ordered: false,
    build: |shape, params, _| Ok(Box::new(Ring::new(shape, params.segment(), params.window()))),
    ..Algorithm::BASE
};
