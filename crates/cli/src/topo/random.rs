//! `laneway topo random`: what permutations drawn at random leave of the bandwidth.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::order::Random;
use laneway_topo::sample::follow_each;
use laneway_topo::{Counter, Tally};

use super::machine::{self, Machine};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("random")
        .about("Counts the conflicts of permutations drawn at random")
        .after_help(
            "Everybody sends to somebody else, nobody receives twice. The throughput of a trial is \
             the mean over messages of 1 / conflict; the row has its mean over trials, the \
             standard error of that, and the share of messages with conflict 1, 2, 3, ….\n\n\
             Examples:\n  \
             laneway topo random --topology mlfm:d=18 --trials 100\n  \
             laneway topo random --topology fat-tree-3:d=8 --trials 1000 --seed 7 --format json\n  \
             laneway topo random --topology mlfm:d=8 --fixed-points",
        )
        .args(machine::args())
        .arg(
            Arg::new("trials")
                .long("trials")
                .value_name("N")
                .value_parser(value_parser!(u64).range(2..=1_000_000))
                .default_value("100"),
        )
        .arg(machine::seed_arg("Of the permutations"))
        .arg(
            Arg::new("fixed-points")
                .long("fixed-points")
                .action(ArgAction::SetTrue)
                .help("Also permutations in which somebody is its own partner"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    let (hosts, fixed_points) = (machine.wiring().hosts(), matches.get_flag("fixed-points"));
    let order = Random { hosts, phases: number("trials"), seed: number("seed"), fixed_points };
    // To work out the ways of all pairs pays only where there are many trials.
    let (wiring, routing) = (machine.wiring(), machine.routing());
    let many = order.phases > u64::from(wiring.switches());
    let counter = many.then(|| Counter::new(wiring, routing).ok()).flatten();
    let trials = match counter {
        Some(counter) => counter.count_each(&order),
        None => follow_each(wiring, routing, &order, &(0..order.phases).collect::<Vec<_>>()),
    };
    let throughputs: Vec<f64> = trials.iter().map(Tally::flow_mean).collect();
    let mut all = Tally::default();
    trials.iter().for_each(|trial| all.merge(trial));
    let count = throughputs.len() as f64;
    let mean = throughputs.iter().sum::<f64>() / count;
    let squares: f64 = throughputs.iter().map(|one| (one - mean).powi(2)).sum();
    let flows: u64 = all.flows.iter().sum();
    let shares = all.flows.iter().skip(1).map(|&count| count as f64 / flows as f64);
    let known = flows > 0;
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("nodes", hosts)
        .with("trials", order.phases)
        .with("seed", order.seed)
        .with("throughput_mean", known.then_some(mean))
        .with("stderr", known.then(|| (squares / (count - 1.0) / count).sqrt()))
        .with("conflicts_max", all.worst())
        .with("lost", all.lost)
        .with("histogram", shares.collect::<Vec<f64>>());
    let params = Row::new().with("topology", machine.spec.clone());
    let env = Row::new();
    output.write(&Document { verb: "topo", env, params, rows: vec![row], summary: None }, None)?;
    Ok(if all.lost == 0 { Exit::Done } else { Exit::Gate })
}
