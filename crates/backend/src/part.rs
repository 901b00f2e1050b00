//! What one rank does of a run, and how it ends for all of them.

use laneway_core::{Comm, CommError, Exit, Failure};

use crate::backend::Notice;

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

/// What reports notices, failures among them.
pub(crate) type Notify = fn(&Notice);

/// Reports a failure and gives its exit code.
fn report(failure: Failure, notify: Notify) -> Exit {
    let exit = failure.exit;
    notify(&Notice::Failed(failure));
    exit
}

/// The end of a rank's part: rank 0 reports failures that all know, each rank its own,
/// and ends the whole run.
pub(crate) fn conclude(comm: &dyn Comm, result: Result<Exit, RankError>, notify: Notify) -> Exit {
    match result {
        Ok(exit) => exit,
        // Before it leaves: a launcher ends all ranks as soon as one has left with a failure.
        Err(RankError::Failure(failure)) if comm.rank() == 0 => report(failure, notify),
        Err(RankError::Failure(failure)) => failure.exit,
        Err(RankError::Alone(failure)) => comm.abort(report(failure, notify) as i32),
        Err(RankError::Comm(error)) => end_run(comm, error, notify),
    }
}

/// Reports what happened here and ends the whole run. A dead rank is reported by the local
/// launcher.
pub(crate) fn end_run(comm: &dyn Comm, error: CommError, notify: Notify) -> ! {
    let seen_by_launcher = laneway_local::is_rank() && matches!(error, CommError::PeerDied { .. });
    if !seen_by_launcher {
        let what = format!("rank {} cannot continue", comm.rank());
        let try_this = "run it again; if it fails again, report it with all that was printed";
        report(Failure::environment(what, error.to_string(), try_this), notify);
    }
    comm.abort(Exit::Environment as i32)
}
