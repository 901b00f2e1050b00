//! Binary broadcast: down a binary tree, in segments.

use laneway_core::Collective;

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Binary;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "binary",
    sentence: "down a complete binary tree, in segments",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4), Parameter::BY_RANK],
    build: |shape, params, _| {
        let tree = Binary(shape.ranks);
        Ok(Box::new(TreeBcast::new(shape, tree, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
