//! `laneway topo route`: forwarding tables for OpenSM, whole or as the change from installed ones.

use std::path::Path;

use clap::{ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::files::addresses::{Addressed, Installed};
use laneway_topo::operations::install::{Change, Step, Tables, tables};
use laneway_topo::proof::explain;
use laneway_topo::{ErrorKind, prove_observed};

use super::machine::{self, Machine};
use super::{check, export};
use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("route")
        .about("Writes forwarding tables for OpenSM, proven, or the steps from installed ones")
        .after_help(
            "A table with an unreached pair or a credit loop is written all the same; what is \
             wrong is reported, and the exit code is 1. Every switch has an entry for every host \
             and every switch; credit loops that only the switches' own messages close are \
             counted in `switch_credit_loops` and named, and do not change the exit code. Hosts \
             without a cable are named, and the tables are for the others; pairs of hosts that \
             --fail has cut off are unreached, as in `topo check`.\n\n\
             With --from the change is also written as tables FILE.step1, FILE.step2, …, to be \
             loaded in this order: after each of them, and at every moment between, no message \
             loops and no pair is lost that both the installed and the new tables serve. Each \
             step is proven: hosts change in groups, one after another, if old and new paths \
             together would form a credit loop. A step for which no such order is found is \
             written and named, `steps_with_credit_loop` counts them, and the exit code is 1. The \
             moments of loading, messages in flight then, and the paths to switches are not part \
             of that proof. `changed_entries` counts the entries for hosts and switches that \
             differ.\n\n\
             Examples:\n  \
             laneway topo route -t mlfm:d=8 -o tables.lft\n  \
             opensm -x -R file -U tables.lft\n  \
             laneway topo route -t mlfm:d=8 --paths 4 -o tables.lft\n  \
             laneway topo route -t file:found.txt --routing balanced -o tables.lft\n  \
             laneway topo route -t file:found.txt --from opensm-lfts.dump -o tables.lft",
        )
        .args(machine::args())
        .arg(machine::paths_arg().help(
            "Paths to each host, with an address each: opensm -l 1 for two, -l 2 for four \
             [default: as many as the fabric's file has, or 1]",
        ))
        .arg(machine::option(
            "from",
            "TABLES",
            "The installed tables: keep their addresses and also write the steps from them",
        ))
        .arg(export::file_arg().required(true).help("Where to write the tables"))
        .arg(check::unreached_arg())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let wiring = machine.wiring();
    let file = text("output").unwrap_or_default();
    let paths = text("paths").and_then(|text| text.parse().ok());
    let from = text("from").map(|file| Installed::read(&machine, Path::new(file))).transpose()?;
    let own = addressed(&machine, from.as_ref(), paths)?;
    let tables = tables(&machine, &own)?;
    machine::notes(tables.findings(wiring, check::ALL));
    check::write_unreached(matches, wiring, &tables.proof)?;
    let change = match &from {
        Some(from) => Some(write_steps(&machine, &own, &tables, from, file)?),
        None => {
            Step::remove(file, 1);
            None
        }
    };
    output::replace(Path::new(file), &tables.text(&machine, &own))?;
    let params = Row::new().with("topology", machine.spec.clone());
    let answer = [tables.sentence(&machine, file, change)];
    machine::write_records(&output, params, vec![tables.row(&machine, file, change)], &answer)?;
    let has_loop = change.is_some_and(|change| change.with_credit_loop > 0);
    Ok(machine::exit(tables.hold() && !has_loop))
}

/// The addresses of a machine's parts: of --lids or of the installed tables, else those of the
/// fabric's own file, else in order.
pub fn addressed(
    machine: &Machine,
    installed: Option<&Installed>,
    paths: Option<u32>,
) -> Result<Addressed, Failure> {
    let own = Addressed::new(machine, installed, paths)?;
    if own.new > 0 {
        output::note(&format!("{} hosts and switches have new addresses", own.new));
    }
    Ok(own)
}

/// Writes the steps from the installed tables, each proven.
fn write_steps(
    machine: &Machine,
    own: &Addressed,
    tables: &Tables,
    from: &Installed,
    file: &str,
) -> Result<Change, Failure> {
    let wiring = machine.wiring();
    let installed = tables.installed(machine, from).map_err(|error| match error.kind {
        ErrorKind::Addresses => error.trying("the same command without --from"),
        _ => error.failure(),
    })?;
    let before = prove_observed(wiring, &installed.0, machine.observer()).credit_loop;
    let change = tables.change(machine, own, installed, |step| {
        if step.number == 1 && !before.is_empty() {
            let found = explain::credit_loop(wiring, &before);
            output::note(&format!("the installed tables: {found}"));
        }
        let name = Step::file(file, step.number);
        if !step.credit_loop.is_empty() {
            output::note(&format!("{name}: {}", explain::credit_loop(wiring, &step.credit_loop)));
        }
        output::replace(Path::new(&name), &step.text)
    })?;
    Step::remove(file, change.steps + 1);
    Ok(change)
}
