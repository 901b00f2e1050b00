//! `laneway topo check`: proves a forwarding table, or finds what is wrong with it.

use clap::{ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::{Hop, Wiring, prove};

use super::machine::{self, Machine};
use crate::output::{self, Output};

/// Pairs that are named; all are counted.
const NAMED: usize = 20;

pub fn command() -> Command {
    Command::new("check")
        .about("Proves a forwarding table: all pairs reach, nothing goes round, no credit circle")
        .after_help(
            "Credit circles are looked for on one virtual lane, because a table sets no service \
             levels. Exit code 1 where something is wrong.\n\nExamples:\n  \
             laneway topo check --topology mlfm:d=18\n  \
             laneway topo check --topology mlfm:d=8 --fail link\n  \
             laneway topo check --topology file:fabric.toml --routing lfts.txt",
        )
        .args(machine::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let wiring = machine.wiring();
    let proof = prove(wiring, &machine.table());
    for &(from, to, path) in proof.unreached.iter().take(NAMED) {
        let (from, to) = (wiring.host_name(from), wiring.host_name(to));
        output::note(&format!("not reached: {from} to {to}, path {path}"));
    }
    if proof.unreached.len() > NAMED {
        output::note(&format!("and {} more pairs", proof.unreached.len() - NAMED));
    }
    let circle: Vec<String> = proof.circle.iter().map(|&hop| told(wiring, hop)).collect();
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("pairs", proof.pairs)
        .with("unreached", proof.unreached.len() as u64)
        .with("longest_path_switches", proof.longest)
        .with("credit_circle", circle.join(" "))
        .with("holds", proof.holds());
    let params = Row::new().with("topology", machine.spec.clone());
    let env = Row::new();
    output.write(&Document { verb: "topo", env, params, rows: vec![row], summary: None }, None)?;
    Ok(if proof.holds() { Exit::Done } else { Exit::Gate })
}

fn told(wiring: &dyn Wiring, hop: Hop) -> String {
    format!("{}/{}", wiring.switch_name(hop.switch), u32::from(hop.port) + 1)
}
