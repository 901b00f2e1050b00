//! Linear broadcast: the root sends to every rank.

use laneway_core::Collective;

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Flat;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "linear",
    sentence: "the root sends the whole vector to every rank, `window` at a time",
    source: "Open MPI basic",
    parameters: &[(Parameter::Window, 8), Parameter::BY_RANK],
    build: |shape, params, _| {
        Ok(Box::new(TreeBcast::new(shape, Flat(shape.ranks), 0, params.window())))
    },
    ..Algorithm::BASE
};
