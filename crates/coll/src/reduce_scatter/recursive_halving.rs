//! Recursive halving: partners at halving distances split the vector, the far ones first.

use laneway_core::Collective;

use super::halving::{First, schedule};
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::ReduceScatter,
    name: "recursive-halving",
    sentence: "partners at halving distances split the vector and join the halves; ranks beyond a \
               power of two act through a neighbour",
    source: "MPICH; Thakur, Rabenseifner, Gropp 2005",
    parameters: &[Parameter::BY_RANK],
    ordered: false,
    build: |shape, _, _| Ok(schedule(shape, First::Far)),
    ..Algorithm::BASE
};
