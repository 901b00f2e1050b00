//! In-order binary reduce: up a binary tree that keeps the order of the ranks, in segments.

use laneway_core::Collective;

use super::TreeReduce;
use crate::registry::{Algorithm, Parameter};
use crate::tree::InOrder;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "in-order-binary",
    sentence: "up a binary tree whose subtrees are runs of ranks, so that their order is kept",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Segment, 64 << 10), (Parameter::Window, 4)],
    build: |shape, params, _| {
        let tree = InOrder(shape.ranks);
        Ok(Box::new(TreeReduce::new(shape, tree, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
