//! What can go wrong with a drill.

use std::error::Error;
use std::fmt;
use std::io;

use laneway_connections::NetError;
use laneway_lab::LabError;

/// Why a drill could not be done. Traffic that suffers is not an error: see [`crate::Verdict`].
#[derive(Debug)]
#[non_exhaustive]
pub enum DrillError {
    /// The rate of a path is none, or none that a lab can have.
    Rate {
        /// As it was given.
        rate: String,
        /// What is wrong with it.
        why: String,
    },
    /// The lab could not be built, broken or removed.
    Lab(LabError),
    /// An endpoint or a connection failed before the drill had begun.
    Net(NetError),
    /// The queue of a path could not be filled.
    Queue(io::Error),
}

impl fmt::Display for DrillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrillError::Rate { why, .. } => f.write_str(why),
            DrillError::Lab(error) => error.fmt(f),
            DrillError::Net(error) => error.fmt(f),
            DrillError::Queue(error) => {
                write!(f, "the queue of a path could not be filled: {error}")
            }
        }
    }
}

impl Error for DrillError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            DrillError::Rate { .. } => None,
            DrillError::Lab(error) => Some(error),
            DrillError::Net(error) => Some(error),
            DrillError::Queue(error) => Some(error),
        }
    }
}

impl From<LabError> for DrillError {
    fn from(error: LabError) -> DrillError {
        DrillError::Lab(error)
    }
}

impl From<NetError> for DrillError {
    fn from(error: NetError) -> DrillError {
        DrillError::Net(error)
    }
}
