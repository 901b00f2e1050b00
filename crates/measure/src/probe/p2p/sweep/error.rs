//! Why a sweep of patterns cannot be done or go on.

use std::fmt;

use laneway_core::{CommError, Rank};

use crate::SaveError;

/// What all ranks refuse alike, before anything is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Messages go between two ranks, or three.
    TooFewRanks {
        /// The number of ranks.
        ranks: u32,
        /// The least number of ranks.
        least: u32,
    },
    /// A pair with a rank that is not there.
    NoSuchRank {
        /// The pair, or triple.
        subset: Vec<Rank>,
        /// The number of ranks.
        ranks: u32,
    },
    /// Point-to-two is of three ranks, and all else of two.
    PairsAndTriples,
    /// A rank would be in two pairs that are measured at the same time.
    TwoPairsAtOnce {
        /// Which one.
        rank: Rank,
    },
    /// The overlap of messages without bytes.
    NothingToHide,
    /// A window of none or too many messages.
    Window {
        /// As it was asked for.
        window: usize,
        /// The largest number of messages.
        most: usize,
    },
    /// Another size back of a pattern that is not a round trip.
    Back,
    /// Cold buffers of a simulated cluster.
    NoCaches,
    /// A copy within a process has no other figures than its time and bandwidth.
    NoCopyOf {
        /// The experiment.
        name: &'static str,
    },
    /// The largest size does not fit into the memory of a machine.
    Memory(String),
}

impl Refusal {
    /// What it comes from.
    pub fn cause(&self) -> String {
        match self {
            Refusal::TooFewRanks { ranks: 1, .. } => {
                "a message needs two ranks, and there is one".into()
            }
            Refusal::TooFewRanks { ranks, least } => {
                format!("at least {least} ranks are needed, and there are {ranks}")
            }
            Refusal::NoSuchRank { ranks, .. } => format!("the ranks are 0 to {}", ranks - 1),
            Refusal::PairsAndTriples => {
                "point-to-two takes triples of ranks, all other patterns take pairs".into()
            }
            Refusal::TwoPairsAtOnce { rank } => {
                format!("rank {rank} is in two pairs, and all pairs run at once")
            }
            Refusal::NothingToHide => "an empty message has no transfer to overlap".into(),
            Refusal::Window { most, .. } => format!("it is a number of messages, 1 to {most}"),
            Refusal::Back => "only round-trip has a reply of another size".into(),
            Refusal::NoCaches => "a simulated cluster has no caches".into(),
            Refusal::NoCopyOf { .. } => {
                "a copy within a process has only a latency and a bandwidth".into()
            }
            Refusal::Memory(cause) => cause.clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooFewRanks { ranks: 1, .. } => write!(f, "there is nothing to measure"),
            Refusal::TooFewRanks { .. } => write!(f, "there are too few ranks"),
            Refusal::NoSuchRank { subset, .. } => {
                let ranks: Vec<String> = subset.iter().map(Rank::to_string).collect();
                write!(f, "unknown pair {}", ranks.join(":"))
            }
            Refusal::PairsAndTriples => write!(f, "the pairs do not match the patterns"),
            Refusal::TwoPairsAtOnce { .. } => write!(f, "invalid pairs for multi-pair"),
            Refusal::NothingToHide => write!(f, "size 0 has no overlap"),
            Refusal::Window { window, .. } => write!(f, "a window of {window} is out of range"),
            Refusal::Back => write!(f, "these patterns have no reply size"),
            Refusal::NoCaches => write!(f, "cold caches are not available here"),
            Refusal::NoCopyOf { name } => write!(f, "memcpy has no pattern {name}"),
            Refusal::Memory(_) => write!(f, "these sizes do not fit into memory"),
        }
    }
}

/// Why a sweep of patterns ended before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum PatternError {
    /// All ranks know of it.
    Refused(Refusal),
    /// The observer of this rank could not go on; the others do not know.
    Observer(SaveError),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl From<Refusal> for PatternError {
    fn from(refusal: Refusal) -> PatternError {
        PatternError::Refused(refusal)
    }
}

impl From<CommError> for PatternError {
    fn from(error: CommError) -> PatternError {
        PatternError::Comm(error)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternError::Refused(refusal) => write!(f, "{refusal}: {}", refusal.cause()),
            PatternError::Observer(error) => write!(f, "{error}"),
            PatternError::Comm(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for PatternError {}
