//! The table of advice: for each kind of error of the libraries its exit code, and what a person at
//! the command line may try.
//!
//! Libraries say what failed and why, and carry what they know of it as data: a name, a count, a
//! similar word. Here that becomes options of the command. A verb that knows better uses
//! [`Advised::trying`].

mod backend;
pub mod lab;
mod measure;
mod model;
mod mpi;
pub mod path;
mod platform;
pub mod sim;
pub mod sites;
mod topo;

use laneway_measure::SaveError;

use crate::failure::{Exit, Failure};

pub use platform::platform;
pub use topo::topology;

/// An error of a library, with the row of the table for its kind.
pub trait Advised {
    /// The exit code.
    fn exit(&self) -> Exit;

    /// What failed.
    fn what(&self) -> String;

    /// The cause.
    fn cause(&self) -> String;

    /// What to try.
    fn advice(&self) -> String;

    /// All of it.
    fn failure(&self) -> Failure {
        self.trying(self.advice())
    }

    /// The same, where a verb knows better what to try.
    fn trying(&self, try_this: impl Into<String>) -> Failure {
        Failure::new(self.exit(), self.what(), self.cause(), try_this)
    }
}

impl<E: Advised> From<E> for Failure {
    fn from(error: E) -> Failure {
        error.failure()
    }
}

/// What an observer of a run has failed with, which is a failure of this command.
pub fn unsaved(error: SaveError) -> Failure {
    let other = |error: SaveError| {
        Failure::environment("the results cannot be saved", error.to_string(), "another --export")
    };
    error.downcast::<Failure>().map_or_else(other, |failure| *failure)
}
