//! What can be asked of a process, and what its endpoint does about it.

use laneway_path::PathId;

use super::words::{Change, refusal};
use crate::endpoint::{Endpoint, Status};
use crate::error::NetError;

/// What a process is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request<'a> {
    /// The state of every path and connection.
    Status,
    /// Takes traffic off a path, and keeps it off: by its device, its address or its number.
    Drain(&'a str),
    /// Lets a path be used again.
    Undrain(&'a str),
}

impl<'a> Request<'a> {
    pub(super) fn encode(self) -> String {
        match self {
            Request::Status => "status\n".into(),
            Request::Drain(path) => format!("drain {path}\n"),
            Request::Undrain(path) => format!("undrain {path}\n"),
        }
    }

    pub(crate) fn parse(line: &'a str) -> Option<Request<'a>> {
        let mut words = line.split_whitespace();
        let request = match (words.next()?, words.next()) {
            ("status", None) => Request::Status,
            ("drain", Some(path)) => Request::Drain(path),
            ("undrain", Some(path)) => Request::Undrain(path),
            _ => return None,
        };
        words.next().is_none().then_some(request)
    }
}

/// What a process says; put into words when its endpoint is not held any more.
pub(crate) enum Answer {
    Status(Box<Status>),
    Changes(Vec<Change>),
    Refused(String),
}

impl Answer {
    pub fn encode(&self) -> String {
        match self {
            Answer::Status(status) => status.encode(),
            Answer::Changes(changes) => Change::encode(changes),
            Answer::Refused(why) => refusal(why),
        }
    }
}

pub(crate) fn refuse_unknown() -> Answer {
    Answer::Refused("requests are: status, drain PATH, undrain PATH".into())
}

/// Does what is asked.
pub(crate) fn answer(endpoint: &mut Endpoint, request: Request<'_>) -> Answer {
    let (word, drains) = match request {
        Request::Status => return Answer::Status(Box::new(endpoint.status())),
        Request::Drain(word) => (word, true),
        Request::Undrain(word) => (word, false),
    };
    match change(endpoint, word, drains) {
        Ok(changes) if changes.is_empty() => Answer::Refused(format!("unknown path `{word}`")),
        Ok(changes) => Answer::Changes(changes),
        Err(error) => Answer::Refused(error.to_string()),
    }
}

/// Drains or undrains every path of this name.
fn change(endpoint: &mut Endpoint, word: &str, drains: bool) -> Result<Vec<Change>, NetError> {
    let paths = endpoint.path_status();
    let mut changes = Vec::new();
    for path in paths.iter().filter(|path| path.is_called(word)) {
        let id = PathId(path.number);
        let primary_before = count(endpoint, |primary, _| primary == id);
        if drains {
            endpoint.drain(id)?
        } else {
            endpoint.undrain(id)?
        }
        changes.push(Change {
            number: path.number,
            name: path.name(),
            primary_before,
            primary_after: count(endpoint, |primary, _| primary == id),
            alternate_after: count(endpoint, |_, alternate| alternate == Some(id)),
        });
    }
    // What follows leaves now, whenever the program comes next.
    endpoint.progress();
    Ok(changes)
}

fn count(endpoint: &Endpoint, has: impl Fn(PathId, Option<PathId>) -> bool) -> u64 {
    let all = endpoint.connections();
    all.filter(|one| has(one.primary(), one.alternate())).count() as u64
}
