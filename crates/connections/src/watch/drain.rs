//! A path of running programs that is taken out of use, until its connections have moved, or given
//! back.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use laneway_core::Row;
use laneway_core::units::{are, counted};

use super::look::{LIMIT, find, snapshot};
use crate::control::{self, Answered, Change};
use crate::error::NetError;

/// Connections that have no other path ready get one within this time, or stay.
const MOVES: Duration = Duration::from_secs(2);
/// Between two looks at connections that move.
const LOOKS: Duration = Duration::from_millis(20);

/// Why no path was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum DrainError {
    /// The processes could not be listed.
    Net(NetError),
    /// No process with paths runs here.
    NoProcess,
    /// No process has this path.
    Unknown {
        /// As it was named.
        path: String,
        /// The paths that processes have.
        have: Vec<String>,
    },
    /// No answer came, with the reason of the first.
    Silent(String),
}

impl fmt::Display for DrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrainError::Net(error) => error.fmt(f),
            DrainError::NoProcess => f.write_str("no process with paths runs here"),
            DrainError::Unknown { path, .. } => write!(f, "no process has a path `{path}`"),
            DrainError::Silent(why) => f.write_str(why),
        }
    }
}

impl Error for DrainError {}

impl From<NetError> for DrainError {
    fn from(error: NetError) -> DrainError {
        DrainError::Net(error)
    }
}

/// A path of a service that was changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Changed {
    /// The process.
    pub pid: u32,
    /// The number of the service within it.
    pub service: u32,
    /// The path, and the connections that used it before and after.
    pub change: Change,
}

impl Changed {
    fn is_same(&self, other: &Changed) -> bool {
        let key = |changed: &Changed| (changed.pid, changed.service, changed.change.number);
        key(self) == key(other)
    }
}

/// What became of a path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Drained {
    /// What each service answered first.
    pub changed: Vec<Changed>,
    /// Why others did not answer, a sentence each.
    pub silent: Vec<String>,
    /// What they answered last, when connections had had time to move.
    last: Vec<Changed>,
    drains: bool,
}

impl Drained {
    /// Connections that have no other path that works, and stay until they have one.
    pub fn stay(&self) -> u64 {
        stay(&self.last)
    }

    /// A row for each path of a service.
    pub fn rows(&self) -> Vec<Row> {
        self.changed.iter().map(|changed| self.row(changed)).collect()
    }

    fn row(&self, changed: &Changed) -> Row {
        let Change { number, name, primary_before, alternate_after, .. } = &changed.change;
        let row = Row::new()
            .with("pid", changed.pid)
            .with("service", changed.service)
            .with("path", name.as_str())
            .with("number", u32::from(*number))
            .with("connections", *primary_before);
        if !self.drains {
            return row.with("alternate", *alternate_after);
        }
        let now = self.last.iter().find(|last| last.is_same(changed));
        let stay = now.map_or(0, |changed| changed.change.primary_after);
        row.with("moved", primary_before.saturating_sub(stay)).with("stay", stay)
    }

    /// What the rows add up to.
    pub fn summary(&self) -> Row {
        let sum = |of: fn(&Change) -> u64| -> u64 {
            self.changed.iter().map(|changed| of(&changed.change)).sum()
        };
        let summary = Row::new().with("paths", self.changed.len() as u64);
        if !self.drains {
            return summary.with("alternate", sum(|change| change.alternate_after));
        }
        let had = sum(|change| change.primary_before);
        summary.with("moved", had.saturating_sub(self.stay())).with("stay", self.stay())
    }

    /// The same in words.
    pub fn sentence(&self) -> String {
        let paths = self.changed.len() as u64;
        let sum = |of: fn(&Change) -> u64| -> u64 {
            self.changed.iter().map(|changed| of(&changed.change)).sum()
        };
        let (are, paths) = (are(paths), counted(paths, "path"));
        if !self.drains {
            let alternate = counted(sum(|change| change.alternate_after), "connection");
            return format!("{paths} {are} in use again, as the alternate path of {alternate}.");
        }
        let moved = sum(|change| change.primary_before).saturating_sub(self.stay());
        let moved = counted(moved, "connection");
        format!("{paths} {are} drained: {moved} moved away, {} stayed.", self.stay())
    }
}

fn stay(changed: &[Changed]) -> u64 {
    changed.iter().map(|changed| changed.change.primary_after).sum()
}

/// Takes a path out of use, in all processes of this user or in one, and waits up to two seconds
/// for connections that have no other path ready. A path is named by its device, its address or
/// its number.
pub fn drain(path: &str, pid: Option<u32>) -> Result<Drained, DrainError> {
    let mut drained = ask(path, pid, true)?;
    let begun = Instant::now();
    while drained.stay() > 0 && begun.elapsed() < MOVES {
        std::thread::sleep(LOOKS);
        // Who has ended meanwhile has nothing left to move.
        drained.last = ask(path, pid, true).map(|again| again.changed).unwrap_or_default();
    }
    Ok(drained)
}

/// Gives a path back.
pub fn undrain(path: &str, pid: Option<u32>) -> Result<Drained, DrainError> {
    ask(path, pid, false)
}

fn ask(path: &str, pid: Option<u32>, drains: bool) -> Result<Drained, DrainError> {
    let found = find(pid)?;
    if found.is_empty() {
        return Err(DrainError::NoProcess);
    }
    let answers = match drains {
        true => control::drain(found, path, LIMIT),
        false => control::undrain(found, path, LIMIT),
    };
    let (mut changed, mut silent) = (Vec::new(), Vec::new());
    for Answered { pid, service, answer } in answers {
        match answer {
            Ok(changes) => {
                changed.extend(changes.into_iter().map(|change| Changed { pid, service, change }));
            }
            // It has no path of this name, as the one of a loopback.
            Err(NetError::ControlRefused { .. }) => {}
            Err(error) => silent.push(error.to_string()),
        }
    }
    match (changed.is_empty(), silent.first()) {
        (true, Some(why)) => Err(DrainError::Silent(why.clone())),
        (true, None) => Err(DrainError::Unknown { path: path.into(), have: names(pid) }),
        _ => Ok(Drained { last: changed.clone(), changed, silent, drains }),
    }
}

/// The paths that processes have.
fn names(pid: Option<u32>) -> Vec<String> {
    let seen = snapshot(pid).map(|look| look.seen).unwrap_or_default();
    let paths = seen.iter().flat_map(|seen| &seen.status.paths);
    let mut names: Vec<String> = paths.map(|path| path.name()).collect();
    names.sort();
    names.dedup();
    names
}
