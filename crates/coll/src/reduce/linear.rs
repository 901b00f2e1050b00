//! Linear reduce: every rank sends to the root, which joins the vectors as they come.

use laneway_core::Collective;

use super::TreeReduce;
use crate::climb::Star;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "linear",
    sentence: "the root receives from every rank, `window` segments at a time, nearest ranks first",
    source: "Open MPI basic",
    // Segments bound the root's scratch where vectors are long.
    parameters: &[(Parameter::Segment, 1 << 20), (Parameter::Window, 8), Parameter::BY_RANK],
    build: |shape, params, _| {
        let star = Star { ranks: shape.ranks, centre: shape.root };
        Ok(Box::new(TreeReduce::new(shape, star, params.segment(), params.window())))
    },
    ..Algorithm::BASE
};
