//! `laneway topo check`: proves a forwarding table, or finds what is wrong with it.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::sample::{Followed, follow_pairs};
use laneway_topo::{Hop, Proof, prove};

use super::machine::{self, Machine};
use crate::output::{self, Output};

/// Pairs that are named; all are counted.
const NAMED: usize = 20;
/// Pairs of a very large fabric that are followed.
const SAMPLED_PAIRS: u64 = 1_000_000;

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
        .arg(
            Arg::new("unreached")
                .long("unreached")
                .value_name("FILE")
                .help("Write every pair that is not reached, as CSV"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let wiring = machine.wiring();
    let (proof, how, certain) = proved(&machine);
    let holds = proof.holds() && proof.pairs > 0;
    let unplugged = (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_none()).count();
    for &(from, to, path) in proof.unreached.iter().take(NAMED) {
        let (from, to) = (wiring.host_name(from), wiring.host_name(to));
        output::note(&format!("not reached: {from} to {to}, path {path}"));
    }
    if proof.unreached.len() > NAMED {
        let more = (proof.unreached.len() - NAMED) as u64 + proof.unlisted;
        output::note(&format!("and {more} more pairs: --unreached FILE lists all"));
    }
    if let Some(file) = matches.get_one::<String>("unreached") {
        let line = |&(from, to, path): &(u32, u32, u32)| {
            format!("{},{},{path}\n", wiring.host_name(from), wiring.host_name(to))
        };
        let lines: String = proof.unreached.iter().map(line).collect();
        output::replace(Path::new(file), &format!("from,to,path\n{lines}"))?;
    }
    let name = |hop: &Hop| wiring.port_name(hop.switch, hop.port);
    let circle: Vec<String> = proof.circle.iter().map(name).collect();
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("pairs", proof.pairs)
        .with("unreached", proof.unreached.len() as u64 + proof.unlisted)
        .with("hosts_unplugged", unplugged as u64)
        .with("longest_path_switches", proof.longest)
        .with("credit_circle", circle.join(" "))
        .with("holds", (certain || !holds).then_some(holds))
        .with("proof", how);
    let params = Row::new().with("topology", machine.spec.clone());
    let env = Row::new();
    output.write(&Document { verb: "topo", env, params, rows: vec![row], summary: None }, None)?;
    Ok(if holds { Exit::Done } else { Exit::Gate })
}

/// Every pair; of a fabric whose table does not fit into memory, pairs that are followed. And
/// whether that proves anything: of a mesh the first host stands for all, else it is a sample.
fn proved(machine: &Machine) -> (Proof, String, bool) {
    let wiring = machine.wiring();
    if machine.has_table() {
        return (prove(wiring, &machine.table()), "every pair".to_string(), true);
    }
    let Followed { pairs, lost, longest, astray } =
        follow_pairs(wiring, machine.routing(), SAMPLED_PAIRS, 1);
    let unreached = lost.into_iter().map(|(from, to)| (from, to, 0)).collect();
    let how = format!("{pairs} pairs followed, {astray} of them climb after they descended");
    let certain = machine.mesh().is_some() && astray == 0;
    (Proof { pairs, unreached, longest, ..Proof::default() }, how, certain)
}
