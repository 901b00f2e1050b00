//! `laneway topo schedule`: whom a node sends to in a phase, and by which way.

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Phases, Row, own_partners};
use laneway_topo::routing::walk;
use laneway_topo::{End, Host};

use super::machine::{self, Machine};
use super::orders::{self, Named};
use crate::output::{self, Output};

/// Where a path ends that does not arrive.
const LOST: &str = "lost";

/// More rows than anybody reads, and few enough to hold.
const MOST_ROWS: u64 = 1_000_000;

pub fn command() -> Command {
    let numbers = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("N").default_value("all").help(help)
    };
    Command::new("schedule")
        .about("Whom a node sends to in a phase of the all-to-all, and by which way")
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
        .arg(machine::seed_arg("Of the random schedule"))
        .args(output::args())
}

/// The numbers that a word means, of those below `count`.
pub fn range(what: &str, word: &str, count: u64) -> Result<std::ops::Range<u64>, Failure> {
    if word == "all" {
        return Ok(0..count);
    }
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && last < count => Ok(first..last + 1),
        _ => {
            let last = count.saturating_sub(1);
            let cause = format!("they are counted from 0 to {last}");
            let try_this = format!("--{what} 0, --{what} 0-{last}, --{what} all");
            Err(Failure::usage(format!("no {what} `{word}`"), cause, try_this))
        }
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("all", String::as_str);
    let named = Named::from(&machine, matches)?;
    let order = &*named.phases;
    let sources = range("source", text("source"), u64::from(machine.wiring().hosts()))?;
    let phases = range("phase", text("phase"), order.count())?;
    let many = (sources.end - sources.start) * (phases.end - phases.start);
    if many > MOST_ROWS {
        let cause = format!("{many} rows are more than {MOST_ROWS}");
        return Err(Failure::usage("too much to print", cause, "--source 0, or --phase 0"));
    }
    let (mut rows, mut lost) = (Vec::new(), named.is_short(&machine));
    for phase in phases {
        let mut keeps = None;
        for source in sources.clone() {
            let source = source as Host;
            let destination = order.partner(source, phase);
            let path = path(&machine, source, destination);
            lost |= path.ends_with(LOST);
            let hosts = machine.wiring().hosts();
            let is_sent = source != destination
                || *keeps.get_or_insert_with(|| keeps_messages(order, phase, hosts));
            rows.push(
                Row::new()
                    .with("phase", phase)
                    .with("source", source)
                    .with("destination", is_sent.then_some(destination))
                    .with("path", path),
            );
        }
    }
    let params = Row::new().with("topology", machine.spec.clone());
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary: None }, None)?;
    Ok(if lost { Exit::Gate } else { Exit::Done })
}

/// Whether those who are their own partner keep a message to themselves; else they rest.
fn keeps_messages(order: &dyn Phases, phase: u64, hosts: u32) -> bool {
    let mut partners = vec![0; hosts as usize];
    order.partners(phase, &mut partners);
    order.resting(phase, &partners) < own_partners(&partners)
}

/// The switches on the way; a node that keeps its message to itself passes none.
fn path(machine: &Machine, from: Host, to: Host) -> String {
    if from == to {
        return String::new();
    }
    let wiring = machine.wiring();
    let mut names = Vec::new();
    let arrived = walk(wiring, machine.routing(), from, to, |hop| {
        names.push(wiring.switch_name(hop.switch));
        if let End::Nothing = wiring.end(hop.switch, hop.port) {
            names.push("nowhere".to_string());
        }
    });
    if arrived.is_err() {
        names.push(LOST.to_string());
    }
    names.join(" ")
}
