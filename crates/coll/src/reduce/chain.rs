//! Chain reduce: several chains end at the root, and the vector is joined along each in segments.

use laneway_core::Collective;

use super::TreeReduce;
use crate::climb::Strands;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "chain",
    sentence: "along `radix` chains that end at the root, in segments",
    source: "Open MPI tuned",
    parameters: &[
        (Parameter::Radix, 4),
        (Parameter::Segment, 64 << 10),
        (Parameter::Window, 4),
        Parameter::BY_RANK,
    ],
    build: |shape, params, _| {
        let strands = Strands::new(shape.ranks, params.radix());
        Ok(Box::new(TreeReduce::new(shape, strands, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
