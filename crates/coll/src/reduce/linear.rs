//! Linear reduce: everybody sends to the root, which joins the vectors as they come.

use laneway_core::Collective;

use super::TreeReduce;
use crate::climb::Star;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "linear",
    sentence: "the root receives every rank's vector, `window` at a time, nearest ranks first",
    source: "Open MPI basic",
    parameters: &[(Parameter::Window, 8)],
    build: |shape, params| {
        let star = Star { ranks: shape.ranks, centre: shape.root };
        Ok(Box::new(TreeReduce::new(shape, star, 0, params.window)))
    },
    ..Algorithm::BASE
};
