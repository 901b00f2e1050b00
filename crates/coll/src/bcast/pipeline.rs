//! Pipelined broadcast: one chain through all ranks, in segments.

use laneway_core::Collective;

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Chains;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "pipeline",
    sentence: "down one chain through all ranks, in segments that follow each other",
    source: "Open MPI tuned; MPICH",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let chain = Chains::new(shape.ranks, 1);
        Ok(Box::new(TreeBcast::new(shape, chain, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
