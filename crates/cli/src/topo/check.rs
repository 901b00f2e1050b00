//! `laneway topo check`: proves a forwarding table, or finds what is wrong with it.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::proof::check::unreached_csv;
use laneway_topo::proof::explain;
use laneway_topo::{Machine, Proof, Wiring, check, prove_observed};

use super::machine;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

/// Where every pair that is not reached is to be found.
pub const ALL: &str = "--unreached FILE lists all";

pub fn command() -> Command {
    Command::new("check")
        .about("Proves a forwarding table: all pairs are reached, without loops or credit loops")
        .after_help(
            "Credit loops are searched on one virtual lane, because a table sets no service \
             levels. Switches must reach every host and every switch too, because management \
             agents answer: `switch_pairs_unreached` counts the pairs for which the table fails, \
             `switch_credit_loops` the credit loops that only the switches' own messages close; \
             those are named and do not change the exit code.\n\n\
             Pairs of hosts that --fail has cut off are unreached, as in `topo alltoall`. If a \
             table would not fit into memory, representative pairs are followed, and others drawn \
             at random; `proof` says which. The exit code is 1 if something is wrong or not \
             proven.\n\n\
             Examples:\n  \
             laneway topo check --topology mlfm:d=18\n  \
             laneway topo check --topology mlfm:d=8 --fail link\n  \
             laneway topo check --topology file:plan.toml --routing lfts.txt",
        )
        .args(machine::args())
        .arg(unreached_arg())
        .args(output::args())
}

/// Where every pair that is not reached is written.
pub fn unreached_arg() -> Arg {
    machine::option("unreached", "FILE", "Write every pair that the table does not serve, as CSV")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let checked = check(&machine);
    machine::notes(checked.findings(machine.wiring(), ALL));
    write_unreached(matches, machine.wiring(), &checked.proof)?;
    let params = Row::new().with("topology", machine.spec.clone());
    let answer = [checked.sentence(&machine)];
    machine::write_records(&output, params, vec![checked.row(&machine)], &answer)?;
    Ok(machine::exit(checked.holds() && checked.is_certain))
}

/// Proves a table that a verb shows, and says what is wrong with it: the exit code that the verb
/// then ends with.
pub fn judged(machine: &Machine) -> Exit {
    let (wiring, table) = (machine.wiring(), machine.table());
    let proof = prove_observed(wiring, &table, machine.observer());
    let all = "`laneway topo check --unreached FILE` lists all";
    machine::notes(explain::proof(wiring, Some(&table), &proof, all));
    machine::exit(proof.holds())
}

/// Writes the pairs that are not reached, if the command line wants them.
pub fn write_unreached(
    matches: &ArgMatches,
    wiring: &dyn Wiring,
    proof: &Proof,
) -> Result<(), Failure> {
    let Some(file) = matches.get_one::<String>("unreached") else { return Ok(()) };
    output::replace(Path::new(file), &unreached_csv(wiring, proof))?;
    if proof.unlisted > 0 {
        output::note(&format!("{} pairs more than `{file}` lists", proof.unlisted));
    }
    Ok(())
}
