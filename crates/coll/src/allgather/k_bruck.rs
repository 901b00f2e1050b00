//! Bruck's allgather with a radix: fewer rounds, several partners in each.

use laneway_core::Collective;

use super::bruck::Bruck;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Allgather,
    name: "k-bruck",
    sentence: "Bruck's allgather with `radix` - 1 partners a round, its runs growing by `radix`",
    source: "Bruck et al. 1997; Open MPI tuned",
    parameters: &[(Parameter::Radix, 4), Parameter::BY_RANK],
    build: |shape, params, _| Ok(Box::new(Bruck::relay(shape, params.radix()))),
    ..Algorithm::BASE
};
