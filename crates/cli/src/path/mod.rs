//! `laneway path`: connections that move to another path when one dies.

mod drain;
pub mod drill;
mod info;
mod processes;
pub mod reach;
mod serve;
mod watch;

use clap::{ArgMatches, Command};

use crate::Verb;
use crate::failure::{Exit, Failure};

/// What can be done with paths.
static VERBS: &[Verb] = &[
    Verb { command: info::command, run: info::run },
    Verb { command: drill::command, run: drill::run },
    Verb { command: serve::command, run: serve::run },
    Verb { command: watch::command, run: watch::run },
    Verb { command: drain::command, run: drain::run },
    Verb { command: drain::undrain_command, run: drain::undrain },
];

pub fn command() -> Command {
    Command::new("path")
        .about("The paths of this machine, for connections that survive the loss of one")
        .after_help(
            "Examples:\n  \
             laneway path info                             which interfaces can be paths\n  \
             laneway path info --peer 10.0.0.2,10.1.0.2    which interface leads where\n  \
             laneway path drill                            breaks paths under traffic, in a lab\n  \
             laneway path watch                            paths of running programs, live\n  \
             laneway path drain eth0                       takes a path out of use",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(VERBS.iter().map(|verb| (verb.command)()))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    crate::dispatch(VERBS, matches)
}
