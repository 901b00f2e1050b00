//! The command `laneway`: a table of its verbs, for every program that is laneway (`main.rs`, and
//! `bindings/smpi` under a simulator). Internal to laneway: it may change in any version, and
//! programs use the crate `laneway`.
//!
//! It may see every crate and is seen by programs alone: nothing here is a library for others.
//! Every verb is one module with two functions: `command` says what it takes, `run` does it. All
//! output goes through `output.rs`, every backend comes from `session.rs`. Begin with the table.

mod advice;
mod check;
mod compare;
mod completions;
pub mod failure;
mod info;
mod journal;
mod lab;
mod links;
mod man;
mod measure;
mod mistake;
mod model;
mod once;
mod output;
mod path;
mod placed;
mod platform;
mod progress;
mod report;
mod reproduce;
mod session;
mod sim;
mod sites;
mod time;
mod topo;
mod tour;
mod watchdog;
mod words;

use std::ffi::OsString;

use clap::{ArgMatches, Command};

use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::output::Parsed;

/// One verb of the command.
struct Verb {
    command: fn() -> Command,
    run: fn(&ArgMatches) -> Result<Exit, Failure>,
}

static VERBS: &[Verb] = &[
    Verb { command: tour::command, run: tour::run },
    Verb { command: info::command, run: info::run },
    Verb { command: check::command, run: check::run },
    Verb { command: measure::command, run: measure::run },
    Verb { command: compare::command, run: compare::run },
    Verb { command: report::command, run: report::run },
    Verb { command: reproduce::command, run: reproduce::run },
    Verb { command: sim::command, run: sim::run },
    Verb { command: sites::command, run: sites::run },
    Verb { command: model::command, run: model::run },
    Verb { command: topo::command, run: topo::run },
    Verb { command: lab::command, run: lab::run },
    Verb { command: path::command, run: path::run },
    Verb { command: completions::command, run: completions::run },
    Verb { command: man::command, run: man::run },
];

/// The whole command line, from which help, completions and manual pages are made.
fn command() -> Command {
    Command::new("laneway")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Collectives as schedules, on any MPI and on none")
        .after_help(
            "Examples:\n  \
             laneway tour                       what laneway can do, on this machine\n  \
             laneway check --ranks 5            every algorithm, every byte, no MPI needed\n  \
             mpirun -n 5 laneway check bcast    the same over the MPI that started it\n\n\
             Exit codes: 0 done, 1 a check failed, 2 usage, 3 environment, 4 precision missed.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(VERBS.iter().map(|verb| (verb.command)()))
}

/// Does what this process was started for by a lab, and gives the exit code; `None` in a process
/// that a person, a script or a launcher started. Called first.
pub fn serve() -> Option<u8> {
    let done = laneway_lab::serve()?;
    Some(done.map_or_else(|error| output::show(&lab::failure(error)) as u8, |()| 0))
}

/// Runs the command line `args`, the program's name first, and gives the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    laneway_mpi::set_last_words(|error| format!("{}\n", error.failure()));
    let code = output::parsed(command(), args).and_then(|parsed| match parsed {
        Parsed::Arguments(matches) => dispatch(VERBS, &matches),
        Parsed::Over(exit) => Ok(exit),
    });
    code.unwrap_or_else(once::show) as u8
}

/// Runs the verb that was chosen from a table.
fn dispatch(verbs: &[Verb], matches: &ArgMatches) -> Result<Exit, Failure> {
    let (name, matches) = matches.subcommand().expect("clap requires a verb");
    let verb = verbs.iter().find(|verb| (verb.command)().get_name() == name);
    (verb.expect("clap knows only these verbs").run)(matches)
}
