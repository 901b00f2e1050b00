//! The failure of a call: a code for the program, and what a person reads of it.

use std::fmt;

/// The codes that calls share with the command; a few calls have more, see `laneway.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The call did what it is for.
    Done = 0,
    /// A check failed.
    Gate = 1,
    /// An argument is wrong.
    Usage = 2,
    /// MPI, the system or the network is not as it must be.
    Environment = 3,
    /// The asked precision was not reached.
    Precision = 4,
}

/// What failed, why, and what a program can do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    what: String,
    cause: String,
    try_this: String,
}

impl Failure {
    pub fn new(
        exit: Exit,
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure { exit, what: what.into(), cause: cause.into(), try_this: try_this.into() }
    }

    /// Creates a failure of the caller's arguments.
    pub fn usage(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Usage, what, cause, try_this)
    }

    /// Creates a failure of what surrounds the program.
    pub fn environment(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Environment, what, cause, try_this)
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
