//! How a failure reaches a person: what happened, why, what to try; and how it reaches a script.

use std::fmt;

use laneway_backend::{Fatal, RankError};

use crate::output;

/// The exit codes of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// A gate failed: validation, regression, a suspect node.
    Gate = 1,
    /// A usage error: the command line or an input file is wrong.
    Usage = 2,
    /// An environment error: a missing library, no permission, a rank that died, nothing reachable.
    Environment = 3,
    /// The asked precision was not reached.
    Precision = 4,
}

impl Exit {
    /// The exit of a code, if it is one of the command.
    pub fn of(code: u8) -> Option<Exit> {
        let all = [Exit::Done, Exit::Gate, Exit::Usage, Exit::Environment, Exit::Precision];
        all.into_iter().find(|exit| *exit as u8 == code)
    }
}

/// A failure with everything that the screen shows: what, cause and advice. It is complete when it
/// is made: advice depends on the error itself, see `advice`, and is not edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    exit: Exit,
    what: String,
    cause: String,
    try_this: String,
}

impl Failure {
    /// Creates a usage error.
    pub fn usage(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Usage, what, cause, try_this)
    }

    /// Creates an environment error.
    pub fn environment(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Environment, what, cause, try_this)
    }

    /// Creates a failure with any exit code.
    pub fn new(
        exit: Exit,
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure { exit, what: what.into(), cause: cause.into(), try_this: try_this.into() }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The failure in one line, without advice.
    pub fn brief(&self) -> String {
        match self.cause.is_empty() {
            true => self.what.clone(),
            false => format!("{}: {}", self.what, self.cause.replace('\n', " ")),
        }
    }

    /// What to try; empty if nothing is known.
    pub fn advice(&self) -> &str {
        &self.try_this
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if !self.cause.is_empty() {
            write!(f, "\ncause: {}", self.cause)?;
        }
        if !self.try_this.is_empty() {
            write!(f, "\ntry:   {}", self.try_this)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for RankError<Failure> {
    fn from(failure: Failure) -> RankError<Failure> {
        RankError::Failure(failure)
    }
}

impl Fatal for Failure {
    fn code(&self) -> u8 {
        self.exit as u8
    }

    fn show(&self) {
        output::show(self);
    }
}
