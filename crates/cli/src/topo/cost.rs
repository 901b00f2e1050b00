//! `laneway topo cost`: what fabrics take, side by side.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::units::{counted_grouped, parse_count};
use laneway_core::{Observer, Row};
use laneway_report::table;
use laneway_topo::cost::budget::{self, Budget, Figures, budget, largest_switch, smallest};
use laneway_topo::wiring::MOST_PORTS;

use super::machine::{self, Machine};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::progress::Bar;

/// The largest figure that is taken.
const MOST: f64 = 1e15;
/// The largest number of nodes that is taken.
const MOST_NODES: u64 = 100_000_000;

/// Columns that are empty unless their figures are given.
const BY_FIGURES: [&str; 5] =
    ["power_w", "price", "failures_per_year", "spare_switches", "spare_cables"];

pub fn command() -> Command {
    let [_, _, _, fail, fail_seed] = machine::args();
    let mut command = Command::new("cost")
        .about("Counts what fabrics take: switches, ports, cables, power, failures, spares")
        .after_help(
            "--nodes compares the smallest fabric of each kind. With --ports all are built of \
             switches with this number of ports, and `ports_unused` counts those that stay free; \
             kinds that are too small with such switches are left out. Without it each kind has \
             switches of just the size that it needs.\n\n\
             Cables are counted by where they run: in the rack (to a host), in the row (a pod, or \
             the switches of one vertex), across the hall. Power, failures, spares and price \
             appear if their figures are given, with a unit or without: 130W, 1.3kW, 200000h, \
             23y, 30d, 12k. The bisection is the smallest number of cables \
             between equal halves per node of a half, if a formula gives it; beside it is what \
             the full-mesh paper gives. Switches without any cable, such as failed ones, are \
             counted apart and cost nothing. `is_sampled` says that a fabric is so large that \
             paths were searched between some of its switches only. The table has a column for \
             each fabric, and one for the units; CSV and JSON have a row for each fabric.\n\n\
             Examples:\n  \
             laneway topo cost --nodes 6k --ports 64\n  \
             laneway topo cost 6000\n  \
             laneway topo cost --topology mlfm:d=18,fat-tree-3:d=18,fat-tree-3-half:d=18\n  \
             laneway topo cost --topology mlfm:d=18 --fail switch\n  \
             laneway topo cost --nodes 6000 --switch-watts 130 --switch-mtbf 200000 --lead-days 30",
        )
        .arg(
            Arg::new("what")
                .value_name("WHAT")
                .value_delimiter(',')
                .num_args(0..)
                .conflicts_with_all(["topology", "nodes"])
                .help("A number of nodes, as --nodes, or fabrics, as --topology"),
        )
        .arg(
            machine::option("topology", "T,U", "Fabrics to compare: mlfm:d=18, FABRIC.toml, …")
                .short('t')
                .value_delimiter(','),
        )
        .arg(
            machine::option("nodes", "N", "The smallest fabric of each kind with at least N nodes")
                .value_parser(nodes)
                .conflicts_with("topology"),
        )
        .arg(
            machine::option("ports", "P", "Ports of the switches that all fabrics are built of")
                .value_parser(value_parser!(u32).range(2..=i64::from(MOST_PORTS))),
        );
    for (name, value, units, help) in FIGURES {
        command = command.arg(figure(name, value, units, help));
    }
    command.arg(fail.conflicts_with("nodes")).arg(fail_seed).args(output::args())
}

/// A unit of a figure, and how many of the plain unit it is.
type Units = &'static [(&'static str, f64)];

const WATTS: Units = &[("", 1.0), ("w", 1.0), ("kw", 1e3)];
const HOURS: Units = &[("", 1.0), ("h", 1.0), ("d", 24.0), ("y", 8766.0), ("k", 1e3), ("kh", 1e3)];
const DAYS: Units = &[("", 1.0), ("d", 1.0), ("w", 7.0), ("h", 1.0 / 24.0)];
const MONEY: Units = &[("", 1.0), ("k", 1e3), ("m", 1e6)];

/// Figures of one part each: the option, its value, the units that it is taken in.
const FIGURES: [(&str, &str, Units, &str); 7] = [
    ("switch-watts", "W", WATTS, "Power of a switch"),
    ("cable-watts", "W", WATTS, "Power of a cable between switches, both ends"),
    ("switch-mtbf", "HOURS", HOURS, "Mean time between failures of a switch"),
    ("cable-mtbf", "HOURS", HOURS, "Mean time between failures of a cable"),
    ("switch-price", "P", MONEY, "Price of a switch"),
    ("cable-price", "P", MONEY, "Price of a cable between switches"),
    ("lead-days", "DAYS", DAYS, "Days until a new part arrives; for the spares"),
];

fn figure(name: &'static str, value: &'static str, units: Units, help: &'static str) -> Arg {
    // Nothing fails more than once an hour for long.
    let least = if value == "HOURS" { 1.0 } else { 0.0 };
    let parser = move |text: &str| {
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = text[digits.len()..].to_ascii_lowercase();
        let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        let number = digits.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
        number.filter(|number| (least..=MOST).contains(number)).ok_or_else(|| {
            let names = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
            let names = names.collect::<Vec<_>>().join(", ");
            format!(
                "a number from {least} to {MOST:e} is needed, with one of the units {names} or none"
            )
        })
    };
    machine::option(name, value, help).value_parser(parser)
}

/// A number of nodes: `6000`, `6k`.
fn nodes(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        nodes if (1..=MOST_NODES).contains(&nodes) => Ok(nodes),
        nodes => Err(format!("{nodes} is not in 1..={MOST_NODES}")),
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let wanted = Wanted::from(matches)?;
    let figures = figures(matches);
    let machines = chosen(matches, &wanted, figures.switch_ports)?;
    let mut budgets: Vec<(&Machine, Budget)> = Vec::new();
    for machine in &machines {
        let budget = budget(machine, &figures);
        if let Some(why) = budget.why_no_bisection(machine) {
            output::note(&format!("no bisection of {}: {why}", machine.spec));
        }
        budgets.push((machine, budget));
    }
    let rows: Vec<Row> = budgets.iter().map(|(machine, budget)| budget.row(machine)).collect();
    let nodes = match wanted {
        Wanted::Nodes(nodes) => Some(nodes),
        Wanted::Fabrics(_) => None,
    };
    let params = Row::new().with("nodes", nodes).with("ports", figures.switch_ports);
    let document = machine::document(params, rows, None);
    let mut answer = vec![budget::answer(&budgets)];
    answer.extend(different_switches(&budgets));
    output.write_answered(&document, &answer, |style| {
        // A person is shown what figures give only if there are figures.
        let is_given = |name: &str| document.rows.iter().any(|row| is_figure(row, name));
        let shown = |name: &str| !BY_FIGURES.contains(&name) || is_given(name);
        let rows = document.rows.iter().map(|row| row.only(shown)).collect();
        let units =
            budget::UNITS.iter().fold(Row::new(), |row, &(name, unit)| row.with(name, unit));
        let style = table::Style { all_columns: true, ..*style };
        let document = machine::document(Row::new(), rows, None);
        table::turned_with(&document, Some(&units), &style)
    })?;
    Ok(Exit::Done)
}

fn is_figure(row: &Row, name: &str) -> bool {
    row.get(name).is_some_and(|value| *value != laneway_core::Value::Nothing)
}

/// A warning where fabrics are compared that are built of different switches.
fn different_switches(budgets: &[(&Machine, Budget)]) -> Option<String> {
    let ports: BTreeSet<u32> = budgets.iter().filter_map(|(_, budget)| budget.ports).collect();
    let (least, most) = (ports.first()?, ports.last()?);
    let what = format!("The switches have {least} to {most} ports");
    (least < most).then(|| format!("{what}; --ports 64 compares fabrics of one size of switch."))
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
        switch_ports: matches.get_one::<u32>("ports").copied(),
    }
}

/// What is to be compared.
enum Wanted {
    /// Of each kind the smallest fabric with this number of nodes.
    Nodes(u64),
    /// These fabrics.
    Fabrics(Vec<String>),
}

impl Wanted {
    fn from(matches: &ArgMatches) -> Result<Wanted, Failure> {
        if let Some(&nodes) = matches.get_one::<u64>("nodes") {
            return Ok(Wanted::Nodes(nodes));
        }
        let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default().cloned();
        let words: Vec<String> = texts("what").chain(texts("topology")).collect();
        let refused = |cause: String| {
            Failure::usage("no fabric to count", cause, "laneway topo cost --nodes 6000")
        };
        match &words[..] {
            [] => Err(refused("neither --nodes nor --topology is given".to_string())),
            [word] if word.starts_with(|letter: char| letter.is_ascii_digit()) => {
                let what = |cause| refused(format!("`{word}` as a number of nodes: {cause}"));
                Ok(Wanted::Nodes(nodes(word).map_err(what)?))
            }
            _ => Ok(Wanted::Fabrics(words)),
        }
    }
}

fn chosen(
    matches: &ArgMatches,
    wanted: &Wanted,
    ports: Option<u32>,
) -> Result<Vec<Machine>, Failure> {
    let is_damaged = matches.contains_id("fail");
    let specs = match wanted {
        Wanted::Nodes(_) if is_damaged => {
            let cause = "a number of nodes names several fabrics";
            let try_this = "laneway topo cost --topology mlfm:d=18 --fail switch";
            return Err(Failure::usage("--fail takes out parts of one fabric", cause, try_this));
        }
        Wanted::Nodes(nodes) => return of_each_kind(*nodes, ports),
        Wanted::Fabrics(specs) => specs,
    };
    let machines = match (is_damaged, &specs[..]) {
        (false, specs) => specs.iter().map(|spec| machine::named(spec)).collect(),
        (true, [spec]) => machine::damaged(matches, spec).map(|machine| vec![machine]),
        (true, specs) => {
            let cause = format!("--topology names {} fabrics", specs.len());
            let try_this = format!("--topology {} alone", specs[0]);
            Err(Failure::usage("--fail takes out parts of one fabric", cause, try_this))
        }
    }?;
    let needed = |machine: &Machine| largest_switch(machine.wiring()).unwrap_or(0);
    match (ports, machines.iter().max_by_key(|machine| needed(machine))) {
        (Some(ports), Some(machine)) if needed(machine) > ports => {
            let needed = needed(machine);
            let what = format!("{} needs switches of {needed} ports", machine.spec);
            let cause = format!("the switches have {ports}");
            Err(Failure::usage(what, cause, format!("--ports {needed}")))
        }
        _ => Ok(machines),
    }
}

/// Of each kind the smallest fabric with at least this number of nodes.
fn of_each_kind(nodes: u64, ports: Option<u32>) -> Result<Vec<Machine>, Failure> {
    let observer: Arc<dyn Observer> = Bar::working();
    let (machines, missing) = smallest(nodes, ports, &observer)?;
    let of = ports.map_or("any switches".to_string(), |ports| format!("switches of {ports} ports"));
    machine::notes(missing.iter().map(|missing| {
        let most = counted_grouped(missing.nodes, "node");
        format!("left out {}: with {of} it has at most {most}", missing.kind.name)
    }));
    Ok(machines)
}
