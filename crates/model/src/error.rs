//! Why there is no model, or no prediction.

use std::fmt;

use laneway_core::{CommError, Exit, Failure};
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
    /// With all that the screen shows.
    pub fn failure(&self) -> Failure {
        let usage = |what: &str, cause: String, hint: &str| Failure::usage(what, cause, hint);
        match self {
            ModelError::Missing { experiment } => usage(
                "the model cannot be fitted",
                format!("no {experiment} was measured"),
                "estimate again with this experiment, or fit a model that does without it",
            ),
            ModelError::Sample { experiment, value } => usage(
                "the model cannot be fitted",
                format!("{experiment} took {value} s, which is not a time"),
                "measure again; a clock that was set meanwhile gives such figures",
            ),
            ModelError::TooFewRanks { ranks, needed, experiment } => usage(
                "too few ranks",
                match ranks {
                    1 => format!("{experiment} takes {needed} ranks, and there is 1"),
                    _ => format!("{experiment} takes {needed} ranks, and there are {ranks}"),
                },
                "more ranks, or a model that needs pairs alone, such as Hockney's",
            ),
            ModelError::Sizes { why } => usage(
                "nothing can be fitted to these sizes",
                why.clone(),
                "several sizes that differ, such as 4K,32K,256K",
            ),
            ModelError::Request { why } => {
                usage("the estimation cannot begin", why.clone(), "see docs/model.md")
            }
            ModelError::Budget { seconds, spent, before } => Failure::new(
                Exit::Precision,
                "the budget is spent",
                format!("{spent:.3} s of {seconds:.3} s were over before {before}"),
                "a larger budget, fewer or shorter sizes, or experiments in parallel",
            ),
            ModelError::DoesNotHold { worst, residual, limit } => Failure::new(
                Exit::Gate,
                "the model does not hold here, and predicts nothing",
                format!(
                    "it is {:.1} % off for {worst}, and {:.0} % is the limit: links that several \
                     hosts share, or traffic of others, are in no such model",
                    100.0 * residual,
                    100.0 * limit
                ),
                "the platform's own simulation, or measuring the algorithms themselves",
            ),
            ModelError::Ranks { model, asked } => usage(
                "the model is of another machine",
                format!(
                    "it knows {model} hosts, and {} asked for",
                    match asked {
                        1 => "1 rank is".to_string(),
                        _ => format!("{asked} ranks are"),
                    }
                ),
                "as many ranks as the model has hosts, or estimate it anew",
            ),
            ModelError::File { name, line, why } => usage(
                &format!("{name}:{line}: not a model"),
                why.clone(),
                "a file that the estimation wrote; docs/model.md has the format",
            ),
            ModelError::Refused { why } => usage("no such call", why.clone(), "another algorithm"),
            ModelError::Schedule(error) => {
                usage("the schedule cannot be read", error.to_string(), "another algorithm")
            }
            ModelError::Comm(error) => {
                Failure::environment("the estimation failed", error.to_string(), "")
            }
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure().fmt(f)
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
