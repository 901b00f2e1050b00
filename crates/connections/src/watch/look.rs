//! One look at the processes of this user whose paths can be watched and drained.

use std::time::Duration;

use crate::control::{self, Answered, Process, Status};
use crate::error::NetError;

/// All answers together may take so long.
pub(super) const LIMIT: Duration = Duration::from_secs(1);

/// A service that has answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// Its process.
    pub pid: u32,
    /// Its number within the process.
    pub service: u32,
    /// What it said.
    pub status: Status,
}

/// What was seen at one moment, and what was not.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// The services that answered.
    pub seen: Vec<Seen>,
    /// Why others did not answer, a sentence each.
    pub silent: Vec<String>,
}

impl Snapshot {
    /// How many processes answered.
    pub(super) fn processes(&self) -> usize {
        let mut pids: Vec<u32> = self.seen.iter().map(|seen| seen.pid).collect();
        pids.dedup();
        pids.len()
    }
}

/// The services that there are, or only those of one process; there may be none.
pub(super) fn find(pid: Option<u32>) -> Result<Vec<Process>, NetError> {
    let mut found = control::list()?;
    found.retain(|process| pid.is_none_or(|pid| process.pid == pid));
    Ok(found)
}

/// Asks every service of this user, or those of one process, for its state; takes a second at most.
pub fn snapshot(pid: Option<u32>) -> Result<Snapshot, NetError> {
    let mut look = Snapshot::default();
    for Answered { pid, service, answer } in control::status(find(pid)?, LIMIT) {
        match answer {
            Ok(status) => look.seen.push(Seen { pid, service, status }),
            Err(error) => look.silent.push(error.to_string()),
        }
    }
    Ok(look)
}
