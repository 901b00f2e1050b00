//! Binomial reduce: in every round half of the ranks hand their sums to the other half.

use laneway_core::Collective;

use super::TreeReduce;
use crate::registry::{Algorithm, Parameter};
use crate::tree::Knomial;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "binomial",
    sentence: "up a binomial tree, the vector whole",
    source: "MPICH; Open MPI tuned",
    parameters: &[Parameter::BY_RANK],
    build: |shape, _, _| {
        let tree = Knomial { ranks: shape.ranks, radix: 2 };
        // One child's vector arrives while another's is joined.
        Ok(Box::new(TreeReduce::new(shape, tree, 0, 2)))
    },
    ..Algorithm::BASE
};
