//! What one rank does of a run, and how it ends for all of them.

use std::io::Write;

use laneway_core::{Comm, CommError, Exit, Failure};

/// What each rank does; whether it ended well.
pub type Part<'a> = &'a (dyn Fn(&dyn Comm) -> Result<Exit, RankError> + Sync);

/// Why a rank stopped before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum RankError {
    /// All ranks know of it, or it concerns rank 0 alone.
    Failure(Failure),
    /// It happened here, and the others do not know and may be waiting.
    Alone(Failure),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl From<Failure> for RankError {
    fn from(failure: Failure) -> RankError {
        RankError::Failure(failure)
    }
}

impl From<CommError> for RankError {
    fn from(error: CommError) -> RankError {
        RankError::Comm(error)
    }
}

/// Shows a failure and gives its exit code.
pub(crate) fn show(failure: &Failure) -> Exit {
    let _ = writeln!(std::io::stderr(), "{failure}");
    failure.exit
}

/// The end of a rank's part: rank 0 reports failures that all know, each rank its own,
/// and ends the whole run.
pub(crate) fn conclude(comm: &dyn Comm, result: Result<Exit, RankError>) -> Exit {
    match result {
        Ok(exit) => exit,
        // Before it leaves: a launcher ends all ranks as soon as one has left with a failure.
        Err(RankError::Failure(failure)) if comm.rank() == 0 => show(&failure),
        Err(RankError::Failure(failure)) => failure.exit,
        Err(RankError::Alone(failure)) => comm.abort(show(&failure) as i32),
        Err(RankError::Comm(error)) => end_run(comm, error),
    }
}

/// Reports what happened here and ends the whole run. A dead rank is reported by the local
/// launcher.
pub(crate) fn end_run(comm: &dyn Comm, error: CommError) -> ! {
    let seen_by_launcher = laneway_local::is_rank() && matches!(error, CommError::PeerDied { .. });
    if !seen_by_launcher {
        let what = format!("rank {} cannot continue", comm.rank());
        let try_this = "run it again; if it fails again, report it with all that was printed";
        show(&Failure::environment(what, error.to_string(), try_this));
    }
    comm.abort(Exit::Environment as i32)
}
