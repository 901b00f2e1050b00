//! Pairwise exchange: p - 1 rounds, in each of which every rank sends once and receives once.

use laneway_core::Collective;

use super::pairs;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "pairwise",
    sentence: "round k sends k ranks up and receives from k ranks below, one round at a time",
    source: "MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| Ok(pairs::schedule(shape, 1)),
    ..Algorithm::BASE
};
