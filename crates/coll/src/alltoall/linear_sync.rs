//! Linear all-to-all in step: a bounded number of pairs of a send and a receive under way.

use laneway_core::Collective;

use super::pairs;
use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "linear-sync",
    sentence: "`window` pairs of a send and a receive at a time, the next when one is done",
    source: "Open MPI tuned",
    parameters: &[(Parameter::Window, 4)],
    build: |shape, params, _| Ok(pairs::schedule(shape, params.window())),
    ..Algorithm::BASE
};
