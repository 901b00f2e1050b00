//! Why a survey cannot be done or go on.

use std::fmt;

use laneway_core::CommError;

use super::sample::LEAST_PARTNERS;
use crate::SaveError;

/// What all ranks refuse alike, before anything is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is one rank.
    NoPairs,
    /// A gate that is a share of the usual bandwidth, of one pair.
    NothingToCompare,
    /// The long message is too short to tell a bandwidth.
    ShortMessage {
        /// As it was asked for.
        size: usize,
        /// The least number of bytes.
        least: usize,
    },
    /// The sites have more or fewer ranks than there are.
    Sites {
        /// Of all sites together.
        counted: u64,
        /// The number of ranks.
        ranks: usize,
    },
    /// A sample of fewer partners than tell a host from a link, or of more than there are.
    Partners {
        /// As they were asked for.
        partners: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The long message does not fit into the memory of a machine.
    Memory(String),
}

impl Refusal {
    /// What it comes from.
    pub fn cause(&self) -> String {
        match self {
            Refusal::NoPairs => "a pair needs two ranks, and there is one".into(),
            Refusal::NothingToCompare => "a single pair has no other pair to compare with".into(),
            Refusal::ShortMessage { least, .. } => {
                format!("measuring a bandwidth needs messages of at least {least} bytes")
            }
            Refusal::Sites { ranks, .. } => format!("there are {ranks} ranks"),
            Refusal::Partners { partners, .. } if *partners < LEAST_PARTNERS => {
                format!("telling a host from a link takes {LEAST_PARTNERS} partners at least")
            }
            Refusal::Partners { ranks, .. } => {
                format!("each of {ranks} ranks has {} partners", ranks.saturating_sub(1))
            }
            Refusal::Memory(cause) => cause.clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoPairs => write!(f, "no pair to measure"),
            Refusal::NothingToCompare => write!(f, "a relative gate needs three ranks"),
            Refusal::ShortMessage { size, .. } => {
                write!(f, "a message of {size} bytes is too short")
            }
            Refusal::Sites { counted, .. } => write!(f, "the sites add up to {counted} ranks"),
            Refusal::Partners { partners, .. } => {
                write!(f, "a sample of {partners} partners is not possible")
            }
            Refusal::Memory(_) => write!(f, "these sizes do not fit into memory"),
        }
    }
}

/// Why a survey ended before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum SurveyError {
    /// All ranks know of it.
    Refused(Refusal),
    /// The observer of this rank could not go on; the others do not know.
    Observer(SaveError),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl From<Refusal> for SurveyError {
    fn from(refusal: Refusal) -> SurveyError {
        SurveyError::Refused(refusal)
    }
}

impl From<CommError> for SurveyError {
    fn from(error: CommError) -> SurveyError {
        SurveyError::Comm(error)
    }
}

impl fmt::Display for SurveyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SurveyError::Refused(refusal) => write!(f, "{refusal}: {}", refusal.cause()),
            SurveyError::Observer(error) => write!(f, "{error}"),
            SurveyError::Comm(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for SurveyError {}
