//! Binary reduce: up a complete binary tree, in segments.

use laneway_core::Collective;

use super::TreeReduce;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Binary;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "binary",
    sentence: "up a complete binary tree, in segments",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4), Parameter::BY_RANK],
    ordered: false,
    build: |shape, params, _| {
        let tree = Binary(shape.ranks);
        Ok(Box::new(TreeReduce::new(shape, tree, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
