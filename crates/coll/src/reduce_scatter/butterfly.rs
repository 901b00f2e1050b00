//! Butterfly: like recursive halving with the near partners first, which keeps the order of the
//! ranks and costs one more message to bring each block to its rank.

use laneway_core::Collective;

use super::halving::{First, schedule};
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::ReduceScatter,
    name: "butterfly",
    sentence: "partners at doubling distances split the vector and join the halves in rank order; \
               then each block goes to its rank",
    source: "Traeff 2005; Open MPI base",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(schedule(shape, First::Near)),
    ..Algorithm::BASE
};
