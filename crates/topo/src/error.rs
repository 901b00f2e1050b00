//! Why something that was asked of a fabric cannot be had, without words of any command.

use std::fmt;
use std::path::Path;

use crate::files::formats::{ReadError, ReadFault, file_name};

/// The kind of the refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file cannot be opened or read.
    Unreadable,
    /// A file can be read, and its content is not what was expected.
    Malformed,
    /// A file names hosts by addresses alone, and the fabric has none.
    NoAddresses,
    /// The name of a topology; the hint is a name that would do.
    Topology,
    /// The name of a routing engine; the hint is a name that would do.
    Engine,
    /// A fabric without hosts or switches.
    Empty,
    /// A fabric that is too large for a forwarding table, or for a count of every message.
    TooLarge,
    /// The name of a part that is to fail; the hint is the name of a switch.
    Part,
    /// The name of a schedule.
    Schedule,
    /// There is nothing to repair, or it cannot be repaired.
    Repair,
    /// Addresses that are missing, ambiguous, or do not agree with the paths; the hint is the
    /// number of paths that would agree.
    Addresses,
    /// Names that are not unique in a format, or a fabric that it cannot express.
    Format,
    /// A number or a range out of bounds; the hint is the last number.
    Range,
    /// More rows than can be held.
    Rows,
    /// A list of nodes; the hint is a list that would do.
    Nodes,
    /// The size of a job; the hint is the largest one.
    Size,
    /// The shape of a job; the hint is its number of nodes, where it is known.
    Shape,
    /// A job two nodes of which do not reach each other; the hint is one of them.
    Unreached,
    /// The two machines of a connection; the hint is two hosts.
    Machines,
    /// A schedule that was to be free of conflicts and is not.
    Conflict,
}

/// The error of a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The kind of request.
    pub kind: ErrorKind,
    /// What was refused.
    pub what: String,
    /// The cause.
    pub cause: String,
    /// What would do instead; [`ErrorKind`] says what it is.
    pub hint: Option<String>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, what: impl Into<String>, cause: impl Into<String>) -> Error {
        Error { kind, what: what.into(), cause: cause.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    /// A file that cannot be read, or is not `what`.
    pub fn of_file(what: &str, file: &Path, error: &ReadError) -> Error {
        let kind = match error.fault {
            ReadFault::Unreadable => ErrorKind::Unreadable,
            ReadFault::Malformed => ErrorKind::Malformed,
            ReadFault::NoAddresses => ErrorKind::NoAddresses,
        };
        let file = file_name(file);
        if kind == ErrorKind::Unreadable && !file.exists() {
            let missing = format!("`{}` does not exist", file.display());
            return Error::new(kind, missing, format!("the {what} is to be read from this file"));
        }
        let what = format!("cannot read the {what} `{}`", file.display());
        Error::new(kind, what, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.cause)
    }
}

impl std::error::Error for Error {}
