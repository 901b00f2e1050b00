//! Recursive doubling allreduce: pairs at doubling distances exchange and join whole vectors.

use laneway_core::Collective;

use super::recursive_multiplying::build;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allreduce,
    name: "recursive-doubling",
    sentence: "pairs at doubling distances exchange whole vectors; ranks past a power of two fold",
    source: "Thakur, Rabenseifner, Gropp 2005; MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| build(shape, 2),
    ..Algorithm::BASE
};
