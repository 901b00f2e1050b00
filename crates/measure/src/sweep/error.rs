//! Why a sweep cannot be done or go on.

use std::fmt;

use laneway_core::CommError;

use crate::SaveError;

/// What all ranks refuse alike, before or after they have tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A name that no operation of the sweep has an algorithm of.
    UnknownAlgorithm {
        /// As it was asked for.
        name: String,
        /// What there is.
        cause: String,
    },
    /// A race of one algorithm.
    NoRivals,
    /// A race with an exact number of repetitions, of which none can be spared.
    ExactRace,
    /// The root is not one of the ranks.
    NoRoot {
        /// As it was asked for.
        root: u32,
        /// Of the ranks asked for, the fewest.
        fewest: u32,
    },
    /// The true time was asked for, and no simulator knows it.
    NoTrueTime,
    /// The library has no barrier that could isolate repetitions.
    NoIsolation {
        /// As it was asked for.
        isolation: String,
        /// The library's objection.
        cause: String,
    },
    /// An algorithm was to be chosen by sites that were not given.
    NoSites,
    /// The largest size does not fit into the memory of a machine.
    Memory(String),
    /// No chosen algorithm serves any of the shapes.
    NothingMeasured,
}

impl Refusal {
    /// What it comes from.
    pub fn cause(&self) -> String {
        match self {
            Refusal::UnknownAlgorithm { cause, .. } | Refusal::NoIsolation { cause, .. } => {
                cause.clone()
            }
            Refusal::NoRivals => "only one algorithm was selected".into(),
            Refusal::ExactRace => "no algorithm can stop before an exact number".into(),
            Refusal::NoRoot { fewest, .. } => format!("the ranks are 0 to {}", fewest - 1),
            Refusal::NoTrueTime => "only a simulated cluster knows it".into(),
            Refusal::NoSites => "`chosen` needs a platform with sites".into(),
            Refusal::Memory(cause) => cause.clone(),
            Refusal::NothingMeasured => {
                "no chosen algorithm serves any of the chosen shapes here".into()
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownAlgorithm { name, .. } => {
                f.write_str(&laneway_coll::refused_name(name))
            }
            Refusal::NoRivals => write!(f, "a race needs two algorithms"),
            Refusal::ExactRace => write!(f, "a race needs a variable number of repetitions"),
            Refusal::NoRoot { root, .. } => write!(f, "root {root} is out of range"),
            Refusal::NoTrueTime => write!(f, "the true time is not known here"),
            Refusal::NoIsolation { isolation, .. } => {
                write!(f, "the isolation `{isolation}` is not possible")
            }
            Refusal::NoSites => write!(f, "the sites of the ranks are unknown"),
            Refusal::Memory(_) => write!(f, "these sizes do not fit into memory"),
            Refusal::NothingMeasured => write!(f, "nothing was measured"),
        }
    }
}

/// Why a sweep ended before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum SweepError {
    /// All ranks know of it.
    Refused(Refusal),
    /// The observer of this rank could not go on; the others do not know.
    Observer(SaveError),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl From<Refusal> for SweepError {
    fn from(refusal: Refusal) -> SweepError {
        SweepError::Refused(refusal)
    }
}

impl From<CommError> for SweepError {
    fn from(error: CommError) -> SweepError {
        SweepError::Comm(error)
    }
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepError::Refused(refusal) => write!(f, "{refusal}: {}", refusal.cause()),
            SweepError::Observer(error) => write!(f, "{error}"),
            SweepError::Comm(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for SweepError {}
