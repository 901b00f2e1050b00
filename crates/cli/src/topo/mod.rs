//! `laneway topo`: plans fabrics, routes them, and proves what was planned.

mod alltoall;
mod alternates;
mod check;
mod cost;
mod diff;
mod draw;
mod export;
mod import;
mod job;
mod machine;
mod new;
mod orders;
mod random;
mod route;
mod schedule;
mod watch;

use clap::{ArgMatches, Command};

use crate::Verb;
use crate::failure::{Exit, Failure};

/// What can be done with a fabric.
static VERBS: &[Verb] = &[
    Verb { command: new::command, run: new::run },
    Verb { command: cost::command, run: cost::run },
    Verb { command: schedule::command, run: schedule::run },
    Verb { command: alltoall::command, run: alltoall::run },
    Verb { command: random::command, run: random::run },
    Verb { command: check::command, run: check::run },
    Verb { command: route::command, run: route::run },
    Verb { command: alternates::command, run: alternates::run },
    Verb { command: export::command, run: export::run },
    Verb { command: import::command, run: import::run },
    Verb { command: diff::command, run: diff::run },
    Verb { command: watch::command, run: watch::run },
    Verb { command: job::command, run: job::run },
    Verb { command: draw::command, run: draw::run },
];

pub fn command() -> Command {
    Command::new("topo")
        .about("Plans fabrics: cost, routing, schedules without conflict, failures, files")
        .after_help(
            "Examples:\n  \
             laneway topo cost --nodes 6000                 fabrics side by side\n  \
             laneway topo alltoall --topology mlfm:d=18     37.9 million messages, no conflict\n  \
             laneway topo random --topology mlfm:d=8        permutations drawn at random\n  \
             laneway topo check --topology mlfm:d=8 --fail link",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(VERBS.iter().map(|verb| (verb.command)()))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    crate::dispatch(VERBS, matches)
}
