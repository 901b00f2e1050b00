//! K-nomial broadcast: like binomial, with several children a round.

use laneway_core::Collective;

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Knomial;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "knomial",
    sentence: "down a k-nomial tree of the given radix, in segments",
    source: "Open MPI tuned; MPICH",
    parameters: &[
        (Parameter::Radix, 4),
        (Parameter::Segment, 64 << 10),
        (Parameter::Window, 8),
        Parameter::BY_RANK,
    ],
    build: |shape, params, _| {
        let tree = Knomial { ranks: shape.ranks, radix: params.radix() };
        Ok(Box::new(TreeBcast::new(shape, tree, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
