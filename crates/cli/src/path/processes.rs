//! What `watch` and `drain` share: the argument for one process, and what is said without any.

use clap::{Arg, ArgMatches, value_parser};

pub use crate::advice::path::{no_control, no_process};

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
