//! `laneway topo route`: forwarding tables for OpenSM, whole or as the change from installed ones.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::change::{apply, steps};
use laneway_topo::prove;

use super::export::{self, Forwarding};
use super::machine::{self, Machine};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("route")
        .about("Writes forwarding tables for OpenSM, proven, or the steps from installed ones")
        .after_help(
            "With --from the change is written as tables FILE.step1, FILE.step2, … too: after \
             each of them, and at every moment between, nothing goes round and no pair is lost \
             that both the installed and the new tables serve. Load them in this order.\n\n\
             Examples:\n  \
             laneway topo route -t mlfm:d=8 -o tables.lft\n  \
             opensm -x -R file -U tables.lft\n  \
             laneway topo route -t mlfm:d=8 --paths 4 -o tables.lft\n  \
             laneway topo route -t file:found.txt --routing balanced -o tables.lft\n  \
             laneway topo route -t file:found.txt --from opensm-lfts.dump -o tables.lft",
        )
        .args(machine::args())
        .arg(
            Arg::new("paths")
                .long("paths")
                .value_name("N")
                .value_parser(["1", "2", "4", "8", "16", "32", "64", "128"])
                .help(
                    "Paths to each host, with an address each: opensm -l 1 for two, -l 2 for four \
                     [default: as many as the fabric's file tells, or 1]",
                ),
        )
        .arg(
            Arg::new("from").long("from").value_name("TABLES").help(
                "The installed tables: keep their addresses and also write the steps from them",
            ),
        )
        .arg(export::file_arg().required(true).help("Where to write the tables"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let file = text("output").unwrap_or_default();
    let own = Forwarding::of(&machine, matches, text("paths").and_then(|text| text.parse().ok()))?;
    own.ensure_pinned()?;
    let table = own.table(&machine);
    let proof = prove(machine.wiring(), &table);
    let (mut changed, mut count) = (None, None);
    if let Some(installed) = text("from") {
        let mut now = machine.installed(installed)?;
        if now.paths() != table.paths() {
            let cause = format!("{} paths to a host there, {} here", now.paths(), table.paths());
            let what = "these tables are not for the same addresses";
            return Err(Failure::usage(what, cause, "leave --from out"));
        }
        let steps = steps(machine.wiring(), &now, &table);
        for (number, step) in steps.iter().enumerate() {
            apply(&mut now, step);
            let name = format!("{file}.step{}", number + 1);
            output::replace(Path::new(&name), &own.text(&machine, &now))?;
        }
        remove_steps(file, steps.len() + 1);
        changed = Some(steps.iter().map(Vec::len).sum::<usize>() as u64);
        count = Some(steps.len() as u64);
    }
    output::replace(Path::new(file), &own.text(&machine, &table))?;
    let row = Row::new()
        .with("file", file)
        .with("switches", machine.wiring().switches())
        .with("hosts", machine.wiring().hosts())
        .with("paths", table.paths())
        .with("unreached", proof.unreached.len() as u64)
        .with("credit_circle", !proof.circle.is_empty())
        .with("changed_entries", changed)
        .with("steps", count);
    let params = Row::new().with("topology", machine.spec.clone());
    let document =
        Document { verb: "topo", env: Row::new(), params, rows: vec![row], summary: None };
    output.write(&document, None)?;
    Ok(if proof.holds() { Exit::Done } else { Exit::Gate })
}

/// Removes what an earlier run with more steps has left: it would be loaded after the last one.
fn remove_steps(file: &str, first: usize) {
    for number in first.. {
        if std::fs::remove_file(format!("{file}.step{number}")).is_err() {
            return;
        }
    }
}
