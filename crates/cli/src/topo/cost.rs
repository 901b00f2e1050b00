//! `laneway topo cost`: what fabrics take, side by side.

use std::sync::Arc;

use clap::{ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Observer, Row};
use laneway_draw::Format;
use laneway_report::table::turned;
use laneway_topo::budget::{Figures, budget, smallest};

use super::machine::{self, Machine};
use super::refusal::refuse;
use crate::output::{self, Output};
use crate::progress::Bar;

/// The largest figure that is taken.
const MOST: f64 = 1e15;

pub fn command() -> Command {
    let figure = |name: &'static str, value: &'static str, help: &'static str| {
        // Nothing fails more than once an hour for long.
        let least = if value == "HOURS" { 1.0 } else { 0.0 };
        let parser = move |text: &str| match text.parse::<f64>() {
            Ok(number) if (least..=MOST).contains(&number) => Ok(number),
            _ => Err(format!("a number from {least} to {MOST:e} is needed")),
        };
        machine::option(name, value, help).value_parser(parser)
    };
    let [_, _, _, fail, fail_seed] = machine::args();
    Command::new("cost")
        .about("Counts what fabrics take: switches, ports, cables, power, failures, spares")
        .after_help(
            "Cables are counted by where they run: in the rack (to a host), in the row (a pod, or \
             the switches of one vertex), across the hall. Power, failures, spares and price \
             appear if their figures are given. The bisection is the smallest number of cables \
             between equal halves per node of a half, if a formula gives it; beside it is what \
             the full-mesh paper gives. Switches without any cable, such as failed ones, are \
             counted apart and cost nothing. `is_sampled` says that a fabric is so large that \
             paths were searched between some of its switches only. The table has a column for \
             each fabric; CSV and JSON have a row for each.\n\n\
             Examples:\n  \
             laneway topo cost --nodes 6000\n  \
             laneway topo cost --topology mlfm:d=18,fat-tree-3:d=18,fat-tree-3-half:d=18\n  \
             laneway topo cost --topology mlfm:d=18 --fail switch\n  \
             laneway topo cost --nodes 6000 --switch-watts 130 --switch-mtbf 200000 --lead-days 30",
        )
        .arg(
            machine::option("topology", "T,U", "Fabrics to compare: mlfm:d=18, file:FABRIC, …")
                .short('t')
                .value_delimiter(','),
        )
        .arg(
            machine::option("nodes", "N", "The smallest fabric of each kind with at least N nodes")
                .value_parser(value_parser!(u64).range(1..=100_000_000))
                .conflicts_with("topology"),
        )
        .arg(figure("switch-watts", "W", "Power of a switch"))
        .arg(figure("cable-watts", "W", "Power of a cable between switches, both ends"))
        .arg(figure("switch-mtbf", "HOURS", "Mean time between failures of a switch"))
        .arg(figure("cable-mtbf", "HOURS", "Mean time between failures of a cable"))
        .arg(figure("switch-price", "P", "Price of a switch"))
        .arg(figure("cable-price", "P", "Price of a cable between switches"))
        .arg(figure("lead-days", "DAYS", "Days until a new part arrives; for the spares"))
        .arg(fail.conflicts_with("nodes"))
        .arg(fail_seed)
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let figures = figures(matches);
    let mut rows = Vec::new();
    for machine in chosen(matches)? {
        let budget = budget(&machine, &figures);
        if let Some(why) = budget.why_no_bisection(&machine) {
            output::note(&format!("no bisection of {}: {why}", machine.spec));
        }
        rows.push(budget.row(&machine));
    }
    let (env, many) = (Row::new(), rows.len() > 1);
    let params = Row::new().with("nodes", matches.get_one::<u64>("nodes").copied());
    let document = Document { verb: "topo", env, params, rows, summary: None };
    if many && output.format == Format::Table {
        output.save(&document)?;
        output::print(&turned(&document, &output::table_style()))?;
    } else {
        output.write(&document, None)?;
    }
    Ok(Exit::Done)
}

fn figures(matches: &ArgMatches) -> Figures {
    let figure = |name: &str| matches.get_one::<f64>(name).copied();
    Figures {
        switch_watts: figure("switch-watts"),
        cable_watts: figure("cable-watts"),
        switch_mtbf_hours: figure("switch-mtbf"),
        cable_mtbf_hours: figure("cable-mtbf"),
        switch_price: figure("switch-price"),
        cable_price: figure("cable-price"),
        lead_days: figure("lead-days"),
    }
}

fn chosen(matches: &ArgMatches) -> Result<Vec<Machine>, Failure> {
    if let Some(&nodes) = matches.get_one::<u64>("nodes") {
        let observer: Arc<dyn Observer> = Bar::working();
        let (machines, missing) = smallest(nodes, &observer).map_err(refuse)?;
        let left_out = |name| format!("left out {name}: no switch has that many ports");
        machine::notes(missing.iter().map(|kind| left_out(kind.name)));
        return Ok(machines);
    }
    let specs: Vec<&String> = matches.get_many("topology").unwrap_or_default().collect();
    if specs.is_empty() {
        let cause = "neither --nodes nor --topology is given";
        return Err(Failure::usage("no fabric to count", cause, "--nodes 6000"));
    }
    if !matches.contains_id("fail") {
        return specs.into_iter().map(|spec| machine::named(spec)).collect();
    }
    if specs.len() > 1 {
        let cause = format!("--topology names {} fabrics", specs.len());
        let try_this = format!("--topology {} alone", specs[0]);
        return Err(Failure::usage("--fail takes out parts of one fabric", cause, try_this));
    }
    Ok(vec![machine::unrouted(matches)?])
}
