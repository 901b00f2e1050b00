//! Pipelined reduce: one chain through all ranks, in segments.

use laneway_core::Collective;

use super::TreeReduce;
use crate::climb::Strands;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "pipeline",
    sentence: "along one chain through all ranks, in segments that follow each other",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let strand = Strands::new(shape.ranks, 1);
        Ok(Box::new(TreeReduce::new(shape, strand, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
