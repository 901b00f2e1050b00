//! `laneway topo cost`: what fabrics take, side by side.

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::KINDS;
use laneway_topo::cost::{Parts, distances, spares};

use super::machine::{self, Machine};
use crate::output::{self, Output};

const HOURS_A_YEAR: f64 = 8766.0;

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
        Arg::new(name).long(name).value_name(value).value_parser(parser).help(help)
    };
    let [_, _, _, fail, fail_seed] = machine::args();
    Command::new("cost")
        .about("What fabrics take: switches, ports, cables, power, failures, spares")
        .after_help(
            "Cables are counted by where they run: in the rack (to a host), in the row (a pod, or \
             the switches of one vertex), across the hall. Power, failures, spares and price \
             appear where their figures are given. The bisection is the least number of cables \
             between equal halves, for each node of a half, where a formula gives it; beside it \
             what the full-mesh paper gives. Switches without any cable, as those that have \
             failed, are counted apart, and nothing is paid for them. Where a fabric is so \
             large that ways were looked for between some of its switches only, `is_sampled` \
             says so.\n\nExamples:\n  \
             laneway topo cost --nodes 6000\n  \
             laneway topo cost --topology mlfm:d=18,fat-tree-3:d=18,fat-tree-3-half:d=18\n  \
             laneway topo cost --topology mlfm:d=18 --fail switch\n  \
             laneway topo cost --nodes 6000 --switch-watts 130 --switch-mtbf 200000 --lead-days 30",
        )
        .arg(
            Arg::new("topology")
                .long("topology")
                .short('t')
                .value_name("T,U")
                .value_delimiter(',')
                .help("Fabrics to compare: mlfm:d=18,fat-tree-3:d=18, file:FABRIC"),
        )
        .arg(
            Arg::new("nodes")
                .long("nodes")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..=100_000_000))
                .conflicts_with("topology")
                .help("The smallest fabric of each kind that has so many nodes"),
        )
        .arg(figure("switch-watts", "W", "Power of a switch"))
        .arg(figure("cable-watts", "W", "Power of a cable between switches, both ends"))
        .arg(figure("switch-mtbf", "HOURS", "Mean time between failures of a switch"))
        .arg(figure("cable-mtbf", "HOURS", "The same of a cable"))
        .arg(figure("switch-price", "P", "Price of a switch"))
        .arg(figure("cable-price", "P", "Price of a cable between switches"))
        .arg(figure("lead-days", "DAYS", "Days until a new part arrives; for the spares"))
        .arg(fail.conflicts_with("nodes"))
        .arg(fail_seed)
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machines = chosen(matches)?;
    let rows: Vec<Row> = machines.iter().map(|machine| row(machine, matches)).collect();
    let nodes = matches.get_one::<u64>("nodes").copied();
    let params = Row::new().with("nodes", nodes);
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary: None }, None)?;
    Ok(Exit::Done)
}

fn chosen(matches: &ArgMatches) -> Result<Vec<Machine>, Failure> {
    if let Some(&nodes) = matches.get_one::<u64>("nodes") {
        return for_nodes(nodes);
    }
    let specs: Vec<&String> = matches.get_many("topology").unwrap_or_default().collect();
    if specs.is_empty() {
        let cause = "neither --nodes nor --topology is there";
        return Err(Failure::usage("no fabric to count", cause, "--nodes 6000"));
    }
    if !matches.contains_id("fail") {
        return specs.into_iter().map(|spec| Machine::named(spec)).collect();
    }
    if specs.len() > 1 {
        let cause = format!("parts of {} fabrics would be meant", specs.len());
        let try_this = format!("--topology {} alone", specs[0]);
        return Err(Failure::usage("--fail takes out parts of one fabric", cause, try_this));
    }
    Ok(vec![Machine::unrouted(matches)?])
}

/// Of every kind the smallest that is large enough.
fn for_nodes(nodes: u64) -> Result<Vec<Machine>, Failure> {
    let mut machines = Vec::new();
    for kind in KINDS {
        let fits = |d: &u32| (*d).is_multiple_of(2) || !kind.only_even;
        let large = (kind.least..=127).filter(fits).map(|d| format!("{}:d={d}", kind.name));
        let mut large = large.filter_map(|spec| Machine::named(&spec).ok());
        match large.find(|machine| u64::from(machine.whole().hosts()) >= nodes) {
            Some(machine) => machines.push(machine),
            None => output::note(&format!("left out {}: no switch has the ports", kind.name)),
        }
    }
    if machines.is_empty() {
        let cause = "no kind of fabric is that large with switches of 254 ports";
        return Err(Failure::usage(format!("no fabric of {nodes} nodes"), cause, "--nodes 6000"));
    }
    Ok(machines)
}

fn why_no_bisection(machine: &Machine, hosts: u32) -> String {
    let why = match (hosts, machine.is_damaged()) {
        (0 | 1, _) => "there are no two halves",
        (_, true) => "it is known by formula, and not for what is left after a failure",
        (_, false) => "it is known by formula, and a file may be any fabric",
    };
    format!("no bisection of {}: {why}", machine.spec)
}

fn row(machine: &Machine, matches: &ArgMatches) -> Row {
    let figure = |name: &str| matches.get_one::<f64>(name).copied();
    let wiring = machine.wiring();
    let parts = Parts::of(wiring);
    let topology = machine.topology().filter(|_| !machine.is_damaged());
    let far = distances(wiring, topology.is_some());
    // One node has no halves.
    let bisection = topology.filter(|_| parts.hosts > 1).map(|topology| topology.bisection());
    if bisection.is_none() {
        output::note(&why_no_bisection(machine, parts.hosts));
    }
    let ports = (0..wiring.switches()).map(|switch| wiring.ports(switch)).max();
    let (switches, links) = (f64::from(parts.switches), parts.cables[1] + parts.cables[2]);
    let cables = parts.all_cables() as f64;
    // A figure that was given counts for its parts; those without one count nothing.
    let total = |switch: Option<f64>, cable: Option<f64>, count: f64| match (switch, cable) {
        (None, None) => None,
        (switch, cable) => Some(switch.unwrap_or(0.0) * switches + cable.unwrap_or(0.0) * count),
    };
    let rate = |name: &str| figure(name).map(|hours| 1.0 / hours);
    let (switch_rate, cable_rate) = (rate("switch-mtbf"), rate("cable-mtbf"));
    let failures = total(switch_rate, cable_rate, cables).map(|rate| rate * HOURS_A_YEAR);
    let hours = figure("lead-days").map(|days| days * 24.0);
    let held = |rate: Option<f64>, count: f64| Some(spares(rate? * count * hours?, 0.95));
    Row::new()
        .with("topology", machine.spec.clone())
        .with("nodes", parts.hosts)
        .with("switches", parts.switches)
        .with("switches_unplugged", parts.switches_unplugged)
        .with("ports", ports)
        .with("ports_used", parts.ports_used)
        .with("port_efficiency", parts.port_efficiency())
        .with("cables_rack", parts.cables[0])
        .with("cables_row", parts.cables[1])
        .with("cables_hall", parts.cables[2])
        .with("bisection", bisection.map(|cut| cut.per_host))
        .with("bisection_paper", bisection.and_then(|cut| cut.in_paper))
        .with("diameter_switches", far.diameter)
        .with("shortest_paths_min", far.shortest_least)
        .with("shortest_paths_mean", far.shortest_mean)
        .with("disjoint_paths", far.disjoint)
        .with("switch_pairs_apart", far.apart)
        .with("is_sampled", far.is_sampled)
        .with("power_w", total(figure("switch-watts"), figure("cable-watts"), links as f64))
        .with("price", total(figure("switch-price"), figure("cable-price"), links as f64))
        .with("failures_per_year", failures)
        .with("spare_switches", held(switch_rate, switches))
        .with("spare_cables", held(cable_rate, cables))
}
