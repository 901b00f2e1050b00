//! `laneway topo random`: what permutations drawn at random leave of the bandwidth.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::permutations::draw;

use super::machine;
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("random")
        .about("Counts the conflicts of permutations drawn at random")
        .after_help(
            "Every node sends to another one, and none receives twice. The throughput of a trial \
             is the mean over messages of 1 / conflict; the row has its mean over trials, the \
             standard error of that, and the share of messages with conflict 1, 2, 3, ….\n\n\
             Examples:\n  \
             laneway topo random --topology mlfm:d=18 --trials 100\n  \
             laneway topo random --topology fat-tree-3:d=8 --trials 1000 --seed 7 --format json\n  \
             laneway topo random --topology mlfm:d=8 --fixed-points",
        )
        .args(machine::args())
        .arg(
            machine::option("trials", "N", "Permutations to draw")
                .value_parser(value_parser!(u64).range(2..=1_000_000))
                .default_value("100"),
        )
        .arg(machine::seed_arg("Seed of the permutations"))
        .arg(
            Arg::new("fixed-points")
                .long("fixed-points")
                .action(ArgAction::SetTrue)
                .help("Allow permutations in which a node is its own partner"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    let trials = draw(&machine, number("trials"), number("seed"), matches.get_flag("fixed-points"));
    let params = Row::new().with("topology", machine.spec.clone());
    let rows = vec![trials.row(&machine)];
    let document = Document { verb: "topo", env: Row::new(), params, rows, summary: None };
    let brief = document.rows.iter().map(|row| row.only(|name| name != "histogram"));
    let brief = Document { rows: brief.collect(), ..document.clone() };
    output.write_said(&document, Some(&brief), &[trials.sentence()])?;
    Ok(machine::exit(trials.all.lost == 0))
}
