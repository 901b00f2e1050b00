//! Binomial broadcast: every rank that has the vector passes it on, so that holders double.

use laneway_core::{ANY, Collective};

use super::TreeBcast;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Knomial;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Bcast,
    name: "binomial",
    sentence: "down a binomial tree, the vector whole",
    source: "MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let tree = Knomial { ranks: shape.ranks, radix: 2 };
        Ok(Box::new(TreeBcast::new(shape, tree, 0, ANY)))
    },
    ..Algorithm::BASE
};
