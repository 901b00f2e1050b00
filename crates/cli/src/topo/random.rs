//! `laneway topo random`: what permutations drawn at random leave of the bandwidth.

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::Row;
use laneway_core::units::parse_count;
use laneway_report::table;
use laneway_topo::traffic::permutations::draw;

use super::machine;
use crate::failure::{Exit, Failure};
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
                .value_parser(trials)
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

/// A number of permutations: `100`, `1k`.
fn trials(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        trials if (2..=1_000_000).contains(&trials) => Ok(trials),
        trials => Err(format!("{trials} is not in 2..=1000000")),
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    let trials = draw(&machine, number("trials"), number("seed"), matches.get_flag("fixed-points"));
    let params = Row::new().with("topology", machine.spec.clone());
    let document = machine::document(params, vec![trials.row(&machine)], None);
    let answer = [trials.answer(), trials.sentence()];
    output.write_answered(&document, &answer, |style| {
        // The second sentence has the histogram.
        let brief = document.rows.iter().map(|row| row.only(|name| name != "histogram"));
        brief.map(|row| table::record(&row, style)).collect()
    })?;
    Ok(machine::exit(trials.all.lost == 0))
}
