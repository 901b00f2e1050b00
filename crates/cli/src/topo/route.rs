//! `laneway topo route`: forwarding tables for OpenSM, whole or as the change from installed ones.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::change::{Ends, apply, steps};
use laneway_topo::formats::{lft, load};
use laneway_topo::{Table, prove, prove_agents};

use super::export::{self, Forwarding};
use super::machine::{self, Machine, unreadable};
use super::{agents, check};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("route")
        .about("Writes forwarding tables for OpenSM, proven, or the steps from installed ones")
        .after_help(
            "A table with which a pair is not reached, or links wait in a circle, is written with \
             exit code 1, and what is wrong is said. Every switch has an entry for every host and \
             every switch; circles that only the switches' own messages can close are counted in \
             `switch_circles` and named, and do not change the exit code.\n\n\
             With --from the change is written as tables FILE.step1, FILE.step2, … too: after \
             each of them, and at every moment between, nothing goes round and no pair is lost \
             that both the installed and the new tables serve. Load them in this order. Each is \
             proven: hosts change in groups, one after another, where old and new ways together \
             would let links wait in a circle. A step for which that is not found is written and \
             named, `steps_with_circle` counts them, and the exit code is 1. The moments of \
             loading, messages that are under way then, and the ways to switches are no part of \
             that proof. `changed_entries` are those of hosts and of switches that differ.\n\n\
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
                     [default: as many as the fabric's file tells, or 1]",
        ))
        .arg(
            Arg::new("from").long("from").value_name("TABLES").help(
                "The installed tables: keep their addresses and also write the steps from them",
            ),
        )
        .arg(export::file_arg().required(true).help("Where to write the tables"))
        .arg(check::unreached_arg())
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
    let unplugged = check::unplugged(machine.wiring());
    check::tell_unplugged(machine.wiring(), &unplugged);
    check::tell(machine.wiring(), Some(&table), &proof, "--unreached FILE lists all");
    check::write_unreached(matches, machine.wiring(), &proof)?;
    let installed = text("from").map(|file| installed(&machine, &table, file)).transpose()?;
    let to_switches = lft::to_switches(machine.wiring(), &table);
    let agents = prove_agents(machine.wiring(), &table, &to_switches);
    agents::tell(machine.wiring(), &agents);
    let change = match installed {
        Some(installed) => {
            Some(write_steps(&machine, &own, installed, (&table, &to_switches), file)?)
        }
        None => {
            remove_steps(file, 1);
            None
        }
    };
    let written = lft::write_both(machine.wiring(), &table, &to_switches, &own.identity);
    output::replace(Path::new(file), &written)?;
    let row = Row::new()
        .with("file", file)
        .with("switches", machine.wiring().switches())
        .with("hosts", machine.wiring().hosts())
        .with("hosts_unplugged", unplugged.len() as u64)
        .with("unreached", proof.missed())
        .with("credit_circle", !proof.circle.is_empty())
        .with("changed_entries", change.map(|change| change.entries))
        .with("steps", change.map(|change| change.steps))
        .with("steps_with_circle", change.map(|change| change.with_circle));
    let row = agents::with_agents(row, Some(&agents));
    let row = check::with_paths(row, machine.wiring(), Some(&table));
    let params = Row::new().with("topology", machine.spec.clone());
    let document =
        Document { verb: "topo", env: Row::new(), params, rows: vec![row], summary: None };
    output.write(&document, None)?;
    let has_circle = change.is_some_and(|change| change.with_circle > 0);
    Ok(if proof.holds() && agents.reach_all() && !has_circle { Exit::Done } else { Exit::Gate })
}

/// The installed tables, to hosts and to switches.
fn installed(machine: &Machine, table: &Table, file: &str) -> Result<(Table, Table), Failure> {
    let read = load(Path::new(file))
        .and_then(|text| lft::read_both(&text, machine.whole(), &machine.identity()));
    let (now, to_switches) = read.map_err(|error| unreadable("forwarding table", file, &error))?;
    if now.paths() != table.paths() {
        let cause = format!("{} paths to a host there, {} here", now.paths(), table.paths());
        let what = "these tables are not for the same addresses";
        return Err(Failure::usage(what, cause, "leave --from out"));
    }
    Ok((now, to_switches))
}

/// The change from installed tables: the entries that differ, its steps, and those of them after
/// which links can wait in a circle.
#[derive(Clone, Copy)]
struct Change {
    entries: u64,
    steps: u64,
    with_circle: u64,
}

/// Writes the steps from the installed tables, and proves each. Switches have addresses too, and
/// the ways to them change in the same steps.
fn write_steps(
    machine: &Machine,
    own: &Forwarding,
    (mut now, mut now_to_switches): (Table, Table),
    (table, to_switches): (&Table, &Table),
    file: &str,
) -> Result<Change, Failure> {
    let wiring = machine.wiring();
    let hosts = steps(wiring, Ends::Hosts, &now, table);
    let switches = steps(wiring, Ends::Switches, &now_to_switches, to_switches);
    let count = hosts.len().max(switches.len());
    let mut circle = prove(wiring, &now).circle;
    if count > 0 && !circle.is_empty() {
        let told = check::circle(wiring, &circle);
        output::note(&format!("the installed tables, which are to change: {told}"));
    }
    let mut with_circle = 0;
    for number in 0..count {
        let name = format!("{file}.step{}", number + 1);
        if let Some(step) = hosts.get(number) {
            apply(&mut now, step);
            circle = prove(wiring, &now).circle;
        }
        if !circle.is_empty() {
            with_circle += 1;
            output::note(&format!("{name}: {}", check::circle(wiring, &circle)));
        }
        switches.get(number).into_iter().for_each(|step| apply(&mut now_to_switches, step));
        let written = lft::write_both(wiring, &now, &now_to_switches, &own.identity);
        output::replace(Path::new(&name), &written)?;
    }
    remove_steps(file, count + 1);
    let entries = hosts.iter().chain(&switches).map(Vec::len).sum::<usize>();
    Ok(Change { entries: entries as u64, steps: count as u64, with_circle })
}

/// Removes what an earlier run with more steps has left: it would be loaded after the last one.
fn remove_steps(file: &str, first: usize) {
    for number in first.. {
        if std::fs::remove_file(format!("{file}.step{number}")).is_err() {
            return;
        }
    }
}
