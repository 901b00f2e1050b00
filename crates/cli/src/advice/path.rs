//! Advice on connections, their paths, the processes that have them, and drills.

use laneway_connections::reach::{PeerPath, ReachError};
use laneway_connections::watch::DrainError;
use laneway_connections::{NetError, control};
use laneway_drill::DrillError;
use laneway_papers::PaperError;

use crate::failure::Failure;

/// How an error of a connection reaches a person.
pub fn failure(error: NetError) -> Failure {
    let what = error.to_string();
    match error {
        NetError::OpenSecret { path, .. } => {
            Failure::environment(what, "a secret is for its owner", format!("chmod 600 {path}"))
        }
        NetError::SecretFile { .. } | NetError::ShortSecret { .. } => {
            let try_this = "head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE";
            Failure::environment(what, "the job's secret cannot be used", try_this)
        }
        NetError::NoSecret { .. } => {
            let cause = "anyone who reaches the address could send in the name of the job";
            Failure::usage(what, cause, "--secret FILE")
        }
        NetError::Security { .. } => {
            let cause = "it says what packets of connections are protected against";
            Failure::usage(what, cause, "LANEWAY_SECURITY=encrypt, authenticate or trust")
        }
        NetError::PathKind { .. } => {
            let cause = "it says what carries the data of connections";
            Failure::usage(what, cause, "LANEWAY_PATH_KIND=datagram or stream")
        }
        NetError::PathName { .. } => Failure::usage(
            what,
            "a path is a device, or one of several through it: eth0 or eth0/2",
            "--paths eth0,eth0/2; laneway path info lists devices",
        ),
        NetError::Paths { .. } | NetError::Refused(_) => {
            Failure::usage(what, "a connection has one to eight paths", "laneway path info")
        }
        _ => Failure::environment(what, "the network or the other end", "laneway path info"),
    }
}

/// Why there is no path, for a person.
pub fn unreached(error: ReachError) -> Failure {
    let what = error.to_string();
    let info = "laneway path info";
    match error {
        ReachError::Interfaces(error) => {
            Failure::environment("cannot list the interfaces", error.to_string(), info)
        }
        ReachError::Unknown { have, .. } => {
            Failure::environment(what, format!("the interfaces are {}", have.join(", ")), info)
        }
        ReachError::NoPath => Failure::environment("there is no path", what, info),
        ReachError::NoPort { .. } => {
            Failure::usage(what, "each path through a device has the next port", "--port 7471")
        }
        ReachError::Twice(peer) => {
            let next = PeerPath { place: peer.place + 1, ..peer };
            let cause = "each path to a server is another one";
            Failure::usage(what, cause, format!("--to {peer},{next}"))
        }
        ReachError::Obstacle(_) => {
            let try_this = "laneway path info --peer ADDRESS,ADDRESS";
            Failure::environment("a path cannot be used", what, try_this)
        }
        _ => Failure::environment(what, "there is no path", info),
    }
}

/// How an error of control sockets reaches a person.
pub fn no_control(error: NetError) -> Failure {
    let try_this = format!("{}=FOLDER, for the programs and for this command", control::VARIABLE);
    Failure::environment(error.to_string(), "programs offer their state there", try_this)
}

/// The error if no process is there.
pub fn no_process(pid: Option<u32>) -> Failure {
    let what = match pid {
        Some(pid) => format!("process {pid} does not run here or has no paths"),
        None => "no process with paths runs here".into(),
    };
    let cause = format!("there is no control socket in {}", control::folder().display());
    let try_this = format!(
        "start one first: laneway path serve, or laneway check --backend net, as the same user, \
         on the same machine, with the same {}",
        control::VARIABLE
    );
    Failure::environment(what, cause, try_this)
}

/// Why paths cannot be drained, for a person.
pub fn undrained(error: DrainError, pid: Option<u32>) -> Failure {
    let (what, try_this) = (error.to_string(), "laneway path watch --once");
    match error {
        DrainError::Net(error) => no_control(error),
        DrainError::NoProcess => no_process(pid),
        DrainError::Unknown { have, .. } => {
            Failure::environment(what, format!("the paths are {}", have.join(", ")), try_this)
        }
        _ => Failure::environment(what, "it is stopped, or runs another version", try_this),
    }
}

/// How an error of a drill reaches a person.
pub fn drill(error: DrillError) -> Failure {
    let what = error.to_string();
    match error {
        DrillError::Rate { .. } => {
            Failure::usage(what, "a path has a rate with its unit", "--rate 1Gbit")
        }
        DrillError::Lab(error) => super::lab::failure(error),
        DrillError::Net(error) => failure(error),
        DrillError::Queue(error) => {
            let what = "the queue of a path could not be filled";
            Failure::environment(what, error.to_string(), "--kinds busy")
        }
        _ => Failure::environment(what, "the drill could not be done", "laneway path info"),
    }
}

/// Why an experiment of a paper is not repeated, for a person.
pub fn paper(error: PaperError) -> Failure {
    let what = error.to_string();
    match error {
        PaperError::UnknownPart { .. } => {
            let cause = "the help of the paper lists its parts";
            Failure::usage(what, cause, "the same command without --part")
        }
        PaperError::Testbed(why) => {
            Failure::environment("the testbed cannot be simulated", why, "report this")
        }
        PaperError::Drill(error) => drill(error),
        PaperError::Net(error) => failure(error),
        _ => Failure::environment(what, "the machine is too busy", "an idle machine"),
    }
}
