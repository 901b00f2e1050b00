//! Advice on fabrics.

use laneway_topo::{Error, ErrorKind};

use super::Advised;
use crate::failure::{Exit, Failure};

/// What the screen shows of a topology that was named after `before`, such as `--topology `.
pub fn topology(error: &Error, before: &str) -> Failure {
    match error.kind {
        ErrorKind::Topology => error.trying(format!("{before}{}", error.advice())),
        _ => error.failure(),
    }
}

impl Advised for Error {
    fn exit(&self) -> Exit {
        match self.kind {
            ErrorKind::Unreadable => Exit::Environment,
            ErrorKind::Conflict => Exit::Gate,
            _ => Exit::Usage,
        }
    }

    fn what(&self) -> String {
        self.what.clone()
    }

    fn cause(&self) -> String {
        self.cause.clone()
    }

    fn advice(&self) -> String {
        let hint = self.hint.as_deref().unwrap_or_default();
        match self.kind {
            ErrorKind::NoAddresses => "--lids GUID2LID".into(),
            ErrorKind::Unreadable | ErrorKind::Malformed if hint.is_empty() => {
                "ibnetdiscover > found.txt, or laneway topo export -t mlfm:d=8 --as ibsim > \
                 found.txt"
                    .into()
            }
            ErrorKind::Topology => format!("{hint}; laneway info topologies lists all"),
            ErrorKind::Engine => format!("--routing {hint}; laneway info engines lists all"),
            ErrorKind::Empty => "a file with hosts, switches and cables".into(),
            ErrorKind::TooLarge if hint.is_empty() => "--topology mlfm:d=18, without --fail".into(),
            ErrorKind::Part => format!("--fail {hint}"),
            ErrorKind::Schedule if hint.is_empty() => {
                "--schedule shift, or --schedule alltoall/bruck; laneway info algorithms".into()
            }
            ErrorKind::Schedule => format!("--schedule {hint}"),
            ErrorKind::Repair => "--fail link, or --schedule native".into(),
            ErrorKind::Addresses if !hint.is_empty() => format!("--paths {hint}"),
            ErrorKind::Size if !hint.is_empty() => format!("--size {hint}"),
            ErrorKind::Size => "--nodes 6000".into(),
            ErrorKind::Shape if hint.is_empty() => "--shape 1x2x1, or --size".into(),
            ErrorKind::Shape => format!("--size {hint}, which takes any nodes"),
            ErrorKind::Unreached => {
                format!("--free or --nodes without {hint}, or another --routing")
            }
            ErrorKind::Conflict => "report this".into(),
            _ => hint.into(),
        }
    }
}
