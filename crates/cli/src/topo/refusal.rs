//! What to try instead of what the library has refused, in the flags of the command.

use laneway_core::Failure;
use laneway_topo::{Error, ErrorKind};

/// A refusal with the flags that would do.
pub fn refuse(error: Error) -> Failure {
    let hint = error.hint.clone().unwrap_or_default();
    let try_this = match error.kind {
        ErrorKind::Malformed if error.cause.contains("guid2lid") => "--lids GUID2LID".to_string(),
        ErrorKind::Unreadable | ErrorKind::Malformed if hint.is_empty() => {
            "ibnetdiscover > found.txt, or laneway topo export -t mlfm:d=8 --as ibsim > found.txt"
                .to_string()
        }
        ErrorKind::Topology => format!("{hint}; laneway info topologies lists all"),
        ErrorKind::Engine => format!("--routing {hint}; laneway info engines lists all"),
        ErrorKind::Empty => "a file with hosts, switches and cables".to_string(),
        ErrorKind::TooLarge if hint.is_empty() => {
            "--topology mlfm:d=18, without --fail".to_string()
        }
        ErrorKind::Part => format!("--fail {hint}"),
        ErrorKind::Schedule if hint.is_empty() => {
            "--schedule shift, or --schedule alltoall/bruck; laneway info algorithms".to_string()
        }
        ErrorKind::Schedule => format!("--schedule {hint}"),
        ErrorKind::Repair => "--fail link, or --schedule native".to_string(),
        ErrorKind::Addresses if !hint.is_empty() => format!("--paths {hint}"),
        ErrorKind::Size if !hint.is_empty() => format!("--size {hint}"),
        ErrorKind::Size => "--nodes 6000".to_string(),
        ErrorKind::Shape if hint.is_empty() => "--shape 1x2x1, or --size".to_string(),
        ErrorKind::Shape => format!("--size {hint}, which takes any nodes"),
        ErrorKind::Unreached => {
            format!("--free or --nodes without {hint}, or another --routing")
        }
        ErrorKind::Conflict => "report this".to_string(),
        _ => hint,
    };
    advise(error, try_this)
}

/// A refusal of a topology, which came behind `before`, such as `--topology `.
pub fn refuse_topology(error: Error, before: &str) -> Failure {
    let is_topology = error.kind == ErrorKind::Topology;
    let mut failure = refuse(error);
    if is_topology {
        failure.try_this.insert_str(0, before);
    }
    failure
}

/// A refusal with what its verb knows to try.
pub fn advise(error: Error, try_this: impl Into<String>) -> Failure {
    let mut failure = Failure::from(error);
    failure.try_this = try_this.into();
    failure
}
