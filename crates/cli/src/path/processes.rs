//! The processes of this user whose paths can be watched and drained.

use std::time::Duration;

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::Failure;
use laneway_net::NetError;
use laneway_net::control::{self, Answered, Process, Status};

/// All answers together may take so long.
pub const LIMIT: Duration = Duration::from_secs(1);

pub fn pid_arg() -> Arg {
    Arg::new("pid")
        .long("pid")
        .value_name("N")
        .value_parser(value_parser!(u32).range(1..))
        .help("Only this process [default: all of this user]")
}

pub fn pid(matches: &ArgMatches) -> Option<u32> {
    matches.get_one("pid").copied()
}

/// Those that are there, or only the services of one; there may be none.
pub fn find(pid: Option<u32>) -> Result<Vec<Process>, Failure> {
    let mut found = control::list().map_err(failure)?;
    found.retain(|process| pid.is_none_or(|pid| process.pid == pid));
    Ok(found)
}

pub fn failure(error: NetError) -> Failure {
    let try_this = format!("{}=FOLDER, for the programs and for this command", control::VARIABLE);
    Failure::environment(error.to_string(), "programs offer their state there", try_this)
}

/// What is said where nobody is there.
pub fn nobody(pid: Option<u32>) -> Failure {
    let what = match pid {
        Some(pid) => format!("process {pid} does not run here, or has no paths"),
        None => "no process with paths runs here".into(),
    };
    let cause = format!("no socket of one is in {}", control::folder().display());
    let try_this = format!(
        "laneway path serve, laneway check --backend net; as the same user, on the same machine, \
         with the same {}",
        control::VARIABLE
    );
    Failure::environment(what, cause, try_this)
}

/// A service that has answered.
pub struct Seen {
    pub pid: u32,
    pub service: u32,
    pub status: Status,
}

/// What was seen at one moment, and what was not.
#[derive(Default)]
pub struct Look {
    pub seen: Vec<Seen>,
    /// Why others did not answer.
    pub silent: Vec<String>,
}

pub fn look(pid: Option<u32>) -> Result<Look, Failure> {
    let mut look = Look::default();
    for Answered { pid, service, answer } in control::status(find(pid)?, LIMIT) {
        match answer {
            Ok(status) => look.seen.push(Seen { pid, service, status }),
            Err(error) => look.silent.push(error.to_string()),
        }
    }
    Ok(look)
}
