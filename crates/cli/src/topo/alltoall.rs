//! `laneway topo alltoall`: who meets whom when everybody sends to everybody.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Phases, Row, Shape};
use laneway_topo::formats::{self, pairs};
use laneway_topo::order::{Pattern, Random, Shift};
use laneway_topo::sample::follow_phases;
use laneway_topo::symmetry::prove_mesh;
use laneway_topo::{Counter, Tally, Wiring};

use super::machine::{self, Machine};
use crate::output::{self, Output};
use crate::words;

/// Hosts up to which a schedule without a formula is written out.
const MOST_LISTED: u32 = 1024;
/// Of a fabric that is too large to count: phases, and messages, that are followed.
pub const SAMPLED_PHASES: u64 = 4;
const SAMPLED_MESSAGES: u64 = 1_000_000;
/// Messages up to which each is counted after a failure, while somebody waits.
const MOST_MESSAGES: u64 = 1 << 30;

pub fn command() -> Command {
    Command::new("alltoall")
        .about("Counts the conflicts of an all-to-all on the whole machine")
        .after_help(
            "A message's conflict is the largest number of messages on a link of its way. Two \
             throughputs follow: the mean over phases of 1 / the largest conflict in it, which is \
             what a barrier after each phase leaves, and the mean over messages of 1 / conflict. \
             The full-mesh paper's all-to-all is the first, its random traffic the second.\n\n\
             Examples:\n  \
             laneway topo alltoall --topology mlfm:d=18\n  \
             laneway topo alltoall --topology mlfm:d=8 --schedule shift\n  \
             laneway topo alltoall --topology mlfm:d=64     266,240 nodes, by symmetry\n  \
             laneway topo alltoall --topology mlfm:d=4 --schedule allgather/recursive-doubling\n  \
             laneway topo alltoall --topology mlfm:d=8 --fail link\n  \
             laneway topo alltoall --topology mlfm:d=8 --routing lfts.txt",
        )
        .args(machine::args())
        .arg(Arg::new("schedule").long("schedule").value_name("S").help(
            "native, shift, random, repaired, any OP/ALGORITHM of the registry, or file:PAIRS \
             [default: native; repaired after a failure]",
        ))
        .arg(machine::seed_arg("Of the random schedule"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
    let word = matches.get_one::<String>("schedule").map(String::as_str);
    let mut rows = Vec::new();
    let mut lost = 0;
    for name in word.map_or_else(|| machine.usual_orders(), |word| vec![word]) {
        let order = order(&machine, name, seed)?;
        let (tally, proof) = counted(&machine, name, &*order)?;
        lost += tally.lost;
        rows.push(row(&machine, name, &*order, &tally, &proof));
    }
    let params = Row::new().with("topology", machine.spec.clone()).with("seed", seed);
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary: None }, None)?;
    Ok(if lost == 0 { Exit::Done } else { Exit::Gate })
}

/// The order that a word means.
pub fn order(
    machine: &Machine,
    name: &str,
    seed: u64,
) -> Result<Box<dyn Phases + Send + Sync>, Failure> {
    let hosts = machine.wiring().hosts();
    if let Some(file) = name.strip_prefix("file:") {
        let read = formats::load(Path::new(file));
        let read = read.and_then(|text| pairs::read(&text, machine.wiring()));
        let listed = read.map_err(|error| {
            let what = format!("cannot read the pairs `{file}`");
            Failure::usage(what, error.to_string(), "a line `0 12` for each message")
        })?;
        return Ok(Box::new(listed));
    }
    if let Some((op, algorithm)) = name.split_once('/') {
        return pattern(op, algorithm, hosts);
    }
    match name {
        "native" => Ok(machine.order()),
        "repaired" => machine.repaired(),
        "shift" => Ok(Box::new(Shift::new(hosts))),
        "random" => {
            let phases = u64::from(hosts);
            Ok(Box::new(Random { hosts, phases, seed, fixed_points: true }))
        }
        _ => {
            let cause = "the schedules are native, shift, random, repaired, OP/ALGORITHM, \
                         file:PAIRS";
            let try_this = "--schedule shift, or --schedule alltoall/bruck";
            Err(Failure::usage(format!("no schedule `{name}`"), cause, try_this))
        }
    }
}

/// A schedule of the registry with a rank on every host.
fn pattern(
    op: &str,
    algorithm: &str,
    hosts: u32,
) -> Result<Box<dyn Phases + Send + Sync>, Failure> {
    let collective = words::collective("topo alltoall --schedule", op)?;
    let refused = |cause: String| {
        let what = format!("no schedule `{op}/{algorithm}` for {hosts} nodes");
        Failure::usage(what, cause, "laneway info algorithms")
    };
    let (algorithm, params) =
        laneway_coll::find(collective, algorithm).map_err(|refusal| refused(refusal.0))?;
    let shape = Shape::new(collective, hosts, 8).with_element(8, true);
    let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| refused(refusal.0))?;
    if schedule.phases().is_none() && hosts > MOST_LISTED {
        let cause = format!("it has no closed formula, and is written out up to {MOST_LISTED}");
        return Err(refused(cause));
    }
    Ok(Box::new(Pattern::new(schedule)))
}

/// Every message is counted; where they are too many, the mesh's symmetry proves the native order,
/// and of any other some phases are followed.
fn counted(
    machine: &Machine,
    name: &str,
    order: &(dyn Phases + Sync),
) -> Result<(Tally, String), Failure> {
    let messages = u64::from(machine.wiring().hosts()).pow(2);
    let too_many = machine.is_damaged() && messages > MOST_MESSAGES;
    if !too_many && let Ok(counter) = Counter::new(machine.wiring(), machine.routing()) {
        return Ok((counter.count(order), "every message".to_string()));
    }
    let (wiring, routing) = (machine.wiring(), machine.routing());
    let tally = follow_phases(wiring, routing, order, SAMPLED_PHASES, 1);
    if let Some(mesh) = machine.mesh().filter(|_| name == "native") {
        let proved = prove_mesh(&mesh, SAMPLED_MESSAGES, 1);
        if proved.holds() && tally.worst() == 1 && tally.lost == 0 {
            let (count, hosts) = (order.count(), u64::from(mesh.hosts()));
            let whole = Tally { phases: vec![0, count], flows: vec![0, count * hosts], lost: 0 };
            let proof = format!(
                "symmetry; {SAMPLED_MESSAGES} messages and {SAMPLED_PHASES} phases followed"
            );
            return Ok((whole, proof));
        }
        let cause = format!("{proved:?}");
        return Err(Failure::new(Exit::Gate, "the schedule has a conflict", cause, "report this"));
    }
    Ok((tally, format!("{SAMPLED_PHASES} phases of {}", order.count())))
}

fn row(machine: &Machine, name: &str, order: &dyn Phases, tally: &Tally, proof: &str) -> Row {
    let hosts = machine.wiring().hosts();
    let plugged = (0..hosts).filter(|&host| machine.wiring().attached(host).is_some()).count();
    // An all-to-all of single blocks needs a phase for each host that is there; anything else as
    // many as it has.
    let is_alltoall = !name.contains(['/', ':']) || name.starts_with("alltoall");
    let seen: u64 = tally.phases.iter().sum();
    let is_whole = seen == order.count() && seen + 1 >= plugged as u64;
    let ideal = if is_alltoall && is_whole { plugged as u64 } else { seen };
    let is_known = tally.flows.iter().any(|&count| count > 0);
    Row::new()
        .with("topology", machine.spec.clone())
        .with("schedule", name)
        .with("nodes", hosts)
        .with("phases", order.count())
        .with("conflicts_max", tally.worst())
        .with("throughput_phase_mean", (seen > 0).then(|| tally.phase_mean()))
        .with("throughput_flow_mean", is_known.then(|| tally.flow_mean()))
        .with("time_over_ideal", (ideal > 0).then(|| tally.time() as f64 / ideal as f64))
        .with("lost", tally.lost)
        .with("proof", proof)
}
