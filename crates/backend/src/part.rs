//! What one rank does of a run, and how it ends for all of them.

use laneway_core::{Comm, CommError};

use crate::BackendError;

/// What each rank does, and its exit code.
pub type Part<'a, E> = &'a (dyn Fn(&dyn Comm) -> Result<u8, RankError<E>> + Sync);

/// An error that ends ranks: what a person reads of it, and the exit code of their processes.
///
/// A program has it for its own errors, into which it takes those of the backend.
pub trait Fatal: From<BackendError> {
    /// The exit code, which is not 0.
    fn code(&self) -> u8;

    /// Shows it: called once for an error that all ranks know, on rank 0.
    fn show(&self);
}

/// Why a rank stopped before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum RankError<E> {
    /// All ranks know of it, or it concerns rank 0 alone.
    Failure(E),
    /// It happened here, and the others do not know and may be waiting.
    Alone(E),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl<E> From<CommError> for RankError<E> {
    fn from(error: CommError) -> RankError<E> {
        RankError::Comm(error)
    }
}

/// The end of a rank's part: rank 0 reports failures that all know, each rank its own,
/// and ends the whole run.
pub(crate) fn conclude<E: Fatal>(comm: &dyn Comm, result: Result<u8, RankError<E>>) -> u8 {
    match result {
        Ok(code) => code,
        Err(RankError::Failure(error)) => {
            // Before it leaves: a launcher ends all ranks as soon as one has left with a failure.
            if comm.rank() == 0 {
                error.show();
            }
            error.code()
        }
        Err(RankError::Alone(error)) => {
            error.show();
            comm.abort(error.code().into())
        }
        Err(RankError::Comm(error)) => end_run::<E>(comm, error),
    }
}

/// Reports what happened here and ends the whole run. A dead rank is reported by the local
/// launcher.
pub(crate) fn end_run<E: Fatal>(comm: &dyn Comm, error: CommError) -> ! {
    let seen_by_launcher = laneway_local::is_rank() && matches!(error, CommError::PeerDied { .. });
    let error = E::from(BackendError::Comm { rank: comm.rank(), error });
    if !seen_by_launcher {
        error.show();
    }
    comm.abort(error.code().into())
}
