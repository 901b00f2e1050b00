//! `laneway lab up`: builds a lab that stands until it is taken down.

use clap::{ArgMatches, Command};
use laneway_core::{Document, Row};
use laneway_lab::{Guard, LabName, Plan, Seen, mpi, open, probe, up};

use super::{failure, lab_arg, lab_name, program, site};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("up")
        .about("Builds a lab and verifies the rate and latency of every link")
        .after_help(
            "The rows are measured by a real connection between two hosts. Hosts are named as in \
             the platform (s0n0 is host 0 of site 0); `laneway lab run -- CMD` runs on the \
             first.\n\n\
             Examples:\n  \
             laneway lab up --sites 2x4 --wan 5ms,25Mbit,100Mbit\n  \
             laneway lab up --platform cluster:4,rate=100Mbit --cards 2 --management --lab two",
        )
        .arg(lab_arg())
        .args(site::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let lab = lab_name(matches)?;
    let Some(plan) = site::plan(matches)? else {
        let cause = "neither --platform nor --sites is given";
        return Err(Failure::usage("the lab has no hosts", cause, "--sites 2x4 --wan 5ms"));
    };
    let (guard, seen) = build(matches, &lab, &plan)?;
    guard.keep().map_err(failure)?;
    let rows = seen.iter().map(row).collect();
    let params = Row::new()
        .with("lab", lab.as_str())
        .with("hosts", plan.hosts.len() as u64)
        .with("sites", plan.sites.len() as u64);
    let env = Row::new();
    output.write(&Document { verb: "lab", env, params, rows, summary: None }, None)?;
    Ok(Exit::Done)
}

/// Builds a lab that is removed when this process ends, unless its guard is asked to keep it; and
/// what was seen of its links.
pub fn build(
    matches: &ArgMatches,
    lab: &LabName,
    plan: &Plan,
) -> Result<(Guard, Vec<Seen>), Failure> {
    let program = program()?;
    let guard = Guard::start(lab, &program).map_err(failure)?;
    up(lab, plan, &program).map_err(failure)?;
    mpi::prepare(lab, plan, &program).map_err(failure)?;
    let seen = match matches.get_flag("no-probe") {
        true => Vec::new(),
        false => probe(lab, plan).map_err(failure)?,
    };
    open(lab).map_err(failure)?;
    Ok((guard, seen))
}

fn row(seen: &Seen) -> Row {
    let mbit = |rate: f64| 8e-6 * rate;
    Row::new()
        .with("from", seen.from.clone())
        .with("to", seen.to.clone())
        .with("card", seen.card.clone())
        .with("latency_us", 1e6 * seen.latency)
        .with("planned_latency_us", 1e6 * seen.planned_latency)
        .with("rate_mbit", seen.rate.map(|(rate, _)| mbit(rate)))
        .with("burst_mbit", seen.burst.map(mbit))
        .with("planned_rate_mbit", seen.rate.map(|(_, planned)| mbit(planned)))
}
