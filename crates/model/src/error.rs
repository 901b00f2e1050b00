//! Why there is no model, or no prediction.

use std::fmt;

use laneway_core::CommError;
use laneway_sim::SimError;

/// Why there is no model or no prediction; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// A fit lacks an experiment.
    Missing { experiment: String },
    /// A measured time that is not one: negative, infinite or not a number.
    Sample { experiment: String, value: f64 },
    /// Experiments need more ranks than there are.
    TooFewRanks { ranks: u32, needed: u32, experiment: &'static str },
    /// Sizes from which nothing can be fitted.
    Sizes { why: String },
    /// What was asked for cannot be.
    Request { why: String },
    /// The time that was granted is over.
    Budget { seconds: f64, spent: f64, before: &'static str },
    /// What the model says differs from what was measured.
    DoesNotHold { worst: String, residual: f64, limit: f64 },
    /// A model of other hosts.
    Ranks { model: u32, asked: u32 },
    /// A file that is not a model.
    File { name: String, line: u32, why: String },
    /// An algorithm that does not serve the call.
    Refused { why: String },
    /// The schedule cannot be read.
    Schedule(SimError),
    /// The ranks could not talk to each other.
    Comm(CommError),
}

impl ModelError {
    /// What failed.
    pub fn what(&self) -> String {
        match self {
            ModelError::Missing { .. } | ModelError::Sample { .. } => "the model cannot be fitted",
            ModelError::TooFewRanks { .. } => "too few ranks",
            ModelError::Sizes { .. } => "nothing can be fitted to these sizes",
            ModelError::Request { .. } => "the estimation cannot begin",
            ModelError::Budget { .. } => "the budget is spent",
            ModelError::DoesNotHold { .. } => "the model does not hold here, and predicts nothing",
            ModelError::Ranks { .. } => "the model is of another machine",
            ModelError::File { name, line, .. } => return format!("{name}:{line}: not a model"),
            ModelError::Refused { .. } => "no such call",
            ModelError::Schedule(_) => "the schedule cannot be read",
            ModelError::Comm(_) => "the estimation failed",
        }
        .into()
    }

    /// The cause.
    pub fn cause(&self) -> String {
        match self {
            ModelError::Missing { experiment } => format!("no {experiment} was measured"),
            ModelError::Sample { experiment, value } => {
                format!("{experiment} took {value} s, which is not a time")
            }
            ModelError::TooFewRanks { ranks: 1, needed, experiment } => {
                format!("{experiment} takes {needed} ranks, and there is 1")
            }
            ModelError::TooFewRanks { ranks, needed, experiment } => {
                format!("{experiment} takes {needed} ranks, and there are {ranks}")
            }
            ModelError::Sizes { why }
            | ModelError::Request { why }
            | ModelError::File { why, .. }
            | ModelError::Refused { why } => why.clone(),
            ModelError::Budget { seconds, spent, before } => {
                format!("{spent:.3} s of {seconds:.3} s were over before {before}")
            }
            ModelError::DoesNotHold { worst, residual, limit } => format!(
                "it is {:.1} % off for {worst}, and {:.0} % is the limit: links that several \
                 hosts share, or traffic of others, are in no such model",
                100.0 * residual,
                100.0 * limit
            ),
            ModelError::Ranks { model, asked: 1 } => {
                format!("it knows {model} hosts, and 1 rank is asked for")
            }
            ModelError::Ranks { model, asked } => {
                format!("it knows {model} hosts, and {asked} ranks are asked for")
            }
            ModelError::Schedule(error) => error.to_string(),
            ModelError::Comm(error) => error.to_string(),
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what(), self.cause())
    }
}

impl std::error::Error for ModelError {}

impl From<CommError> for ModelError {
    fn from(error: CommError) -> ModelError {
        ModelError::Comm(error)
    }
}

impl From<SimError> for ModelError {
    fn from(error: SimError) -> ModelError {
        ModelError::Schedule(error)
    }
}
