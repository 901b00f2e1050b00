//! `laneway lab`: a cluster of namespaces on this machine, with links that really break.

mod down;
mod fault;
mod record;
mod run;
mod site;
mod status;
pub mod stop;
mod up;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use laneway_lab::{LabName, this_program};

use crate::Verb;
pub use crate::advice::lab::failure;
use crate::failure::{Exit, Failure};

/// What can be done with a lab.
static VERBS: &[Verb] = &[
    Verb { command: up::command, run: up::run },
    Verb { command: run::command, run: run::run },
    Verb { command: fault::command, run: fault::run },
    Verb { command: record::command, run: record::run },
    Verb { command: status::command, run: status::run },
    Verb { command: down::command, run: down::run },
];

pub fn command() -> Command {
    Command::new("lab")
        .about("A cluster on this machine: hosts, sites, a WAN, and links that break")
        .after_help(
            "Hosts are network namespaces with real kernels and real sockets; it needs root.\n\n\
             Examples:\n  \
             laneway lab run --sites 2x8 --wan 5ms,25Mbit,100Mbit -- mpirun -n 16 ./program\n  \
             laneway lab up --platform two-sites:4x4,latency=5ms,connection=25Mbit\n  \
             laneway lab run -- ping -c 3 s1n0\n  \
             laneway lab fault drop s0n0 for 200ms\n  \
             laneway lab down",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(VERBS.iter().map(|verb| (verb.command)()))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    crate::dispatch(VERBS, matches)
}

/// Which lab.
fn lab_arg() -> Arg {
    Arg::new("lab")
        .long("lab")
        .value_name("NAME")
        .env("LANEWAY_LAB")
        .default_value("lab")
        .help("The lab's name; several labs can exist at the same time")
}

fn lab_name(matches: &ArgMatches) -> Result<LabName, Failure> {
    let name = matches.get_one::<String>("lab").map_or("lab", String::as_str);
    LabName::new(name).map_err(failure)
}

/// This command, which is also a lab's WAN, its guard, and what launchers take for ssh.
pub fn program() -> Result<PathBuf, Failure> {
    this_program().map_err(failure)
}
