//! `laneway topo schedule`: whom a node sends to in a phase, and by which way.

use std::ops::Range;

use clap::{ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::traffic::schedule;

use super::{machine, orders};
use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    let numbers = |name: &'static str, help: &'static str| {
        machine::option(name, "N", help).default_value("all")
    };
    Command::new("schedule")
        .about("Shows whom a node sends to in a phase of the all-to-all, and the path")
        .after_help(
            "Examples:\n  \
             laneway topo schedule --topology mlfm:d=3 --source 0 --phase 12\n  \
             laneway topo schedule --topology mlfm:d=3 --source 0-11 --phase 0-11\n  \
             laneway topo schedule --topology fat-tree-2:d=4 --phase 5 --format csv\n  \
             laneway topo schedule --topology mlfm:d=8 --fail link --phase 600 --format csv",
        )
        .args(machine::args())
        .arg(numbers("source", "Nodes: 7, 0-11, all"))
        .arg(numbers("phase", "Phases: 12, 0-8, all"))
        .arg(orders::arg("native; repaired after a failure"))
        .arg(machine::seed_arg("Seed of the random schedule"))
        .args(output::args())
}

/// The rows are the answer.
const NO_ANSWER: &[&str] = &[];

/// The numbers that the argument `what` means, of those below `count`.
pub fn range(what: &str, word: &str, count: u64) -> Result<Range<u64>, Failure> {
    schedule::range(what, word, count).map_err(|error| {
        let last = error.hint.clone().unwrap_or_default();
        error.trying(format!("--{what} 0, --{what} 0-{last}, --{what} all"))
    })
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("all", String::as_str);
    let order = orders::from(&machine, matches)?;
    let sources = range("source", text("source"), u64::from(machine.wiring().hosts()))?;
    let phases = range("phase", text("phase"), order.phases.count())?;
    let (rows, arrive) = schedule::rows(&machine, &*order.phases, sources, phases)
        .map_err(|error| error.trying("--source 0, or --phase 0"))?;
    let params = Row::new().with("topology", machine.spec.clone());
    machine::write_list(&output, params, rows, None, NO_ANSWER)?;
    Ok(machine::exit(arrive && !order.is_short(&machine)))
}
