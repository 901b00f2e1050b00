//! Chain broadcast: several chains hang at the root, and the vector runs down each in segments.

use laneway_core::Collective;

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Chains;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "chain",
    sentence: "down `radix` chains that hang at the root, in segments",
    source: "Open MPI tuned",
    parameters: &[
        (Parameter::Radix, 4),
        (Parameter::Segment, 64 << 10),
        (Parameter::Window, 4),
        Parameter::BY_RANK,
    ],
    build: |shape, params, _| {
        let chains = Chains::new(shape.ranks, params.radix());
        Ok(Box::new(TreeBcast::new(shape, chains, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
