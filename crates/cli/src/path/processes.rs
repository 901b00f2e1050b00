//! What `watch` and `drain` share: the argument for one process, and what is said without any.

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::Failure;
use laneway_net::NetError;
use laneway_net::control;

pub fn pid_arg() -> Arg {
    Arg::new("pid")
        .long("pid")
        .value_name("N")
        .value_parser(value_parser!(u32).range(1..))
        .help("Only the process with this number [default: all processes of this user]")
}

pub fn pid(matches: &ArgMatches) -> Option<u32> {
    matches.get_one("pid").copied()
}

/// How an error of control sockets reaches a person.
pub fn failure(error: NetError) -> Failure {
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
