//! Who does a collective: one of our algorithms, or the library behind the communicator.

use crate::registry::{Algorithm, Params};

/// Who does a collective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answerer {
    /// An algorithm of the registry, with its parameters.
    Ours(&'static Algorithm, Params),
    /// The library behind the communicator.
    Native,
}

impl Answerer {
    /// The algorithm's name, or `native`.
    pub fn name(&self) -> &'static str {
        match self {
            Answerer::Ours(algorithm, _) => algorithm.name,
            Answerer::Native => "native",
        }
    }

    /// The name with its parameters where they are not the usual ones.
    pub fn label(&self) -> String {
        match self {
            Answerer::Ours(algorithm, params) => algorithm.label(params),
            Answerer::Native => self.name().to_owned(),
        }
    }
}
