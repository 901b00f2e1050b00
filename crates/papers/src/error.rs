//! What can go wrong when an experiment of a paper is done again.

use std::error::Error;
use std::fmt;

use laneway_connections::NetError;
use laneway_drill::DrillError;

/// Why an experiment gave no figures. A claim that does not hold is not an error: see
/// [`crate::Judgement`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PaperError {
    /// A paper has no part of this name.
    UnknownPart {
        /// The paper's name.
        paper: &'static str,
        /// What was asked for.
        part: String,
    },
    /// The testbed of a paper cannot be simulated or counted; nothing that a user did.
    Testbed(String),
    /// The two hosts of a drill could not be used.
    Drill(DrillError),
    /// A connection between them failed.
    Net(NetError),
    /// Nothing came of a request in time: the machine is too busy.
    Stuck {
        /// What did not happen.
        what: String,
        /// How long it had been waited for, in seconds.
        seconds: u64,
    },
}

impl PaperError {
    /// Something that the testbed refused.
    pub(crate) fn testbed(why: impl fmt::Display) -> PaperError {
        PaperError::Testbed(why.to_string())
    }
}

impl fmt::Display for PaperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaperError::UnknownPart { paper, part } => {
                write!(f, "unknown part `{part}` of the paper {paper}")
            }
            PaperError::Testbed(why) => write!(f, "the testbed cannot be simulated: {why}"),
            PaperError::Drill(error) => error.fmt(f),
            PaperError::Net(error) => error.fmt(f),
            PaperError::Stuck { what, seconds } => write!(f, "{what} within {seconds} s"),
        }
    }
}

impl Error for PaperError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PaperError::Drill(error) => Some(error),
            PaperError::Net(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DrillError> for PaperError {
    fn from(error: DrillError) -> PaperError {
        PaperError::Drill(error)
    }
}

impl From<NetError> for PaperError {
    fn from(error: NetError) -> PaperError {
        PaperError::Net(error)
    }
}
