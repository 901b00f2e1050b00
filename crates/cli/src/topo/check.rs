//! `laneway topo check`: proves a forwarding table, or finds what is wrong with it.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::formats::cables::field;
use laneway_topo::prove::prove_standing;
use laneway_topo::routing::{Lost, walk};
use laneway_topo::sample::{Followed, follow_pairs};
use laneway_topo::{Agents, Apart, Hop, Host, Proof, Table, Wiring, apart, prove, prove_agents};

use super::agents;
use super::machine::{self, Machine};
use crate::output::{self, Output};

/// Pairs, and links of a circle, that are named; all are counted.
const NAMED: usize = 20;
/// Pairs of a very large fabric that are followed.
const SAMPLED_PAIRS: u64 = 1_000_000;

pub fn command() -> Command {
    Command::new("check")
        .about("Proves a forwarding table: all pairs reach, nothing goes round, no credit circle")
        .after_help(
            "Credit circles are looked for on one virtual lane, because a table sets no service \
             levels. Switches must reach every host and every switch too, because management \
             agents answer: `switch_pairs_unreached` counts the pairs for which the table fails, \
             `switch_circles` the circles that only the switches' own messages can close; those \
             are named and do not change the exit code.\n\n\
             Where a table would not fit into memory, pairs that stand for all are \
             followed, and others drawn at random; `proof` says which. Exit code 1 where something \
             is wrong or not proven.\n\nExamples:\n  \
             laneway topo check --topology mlfm:d=18\n  \
             laneway topo check --topology mlfm:d=8 --fail link\n  \
             laneway topo check --topology file:fabric.toml --routing lfts.txt",
        )
        .args(machine::args())
        .arg(unreached_arg())
        .args(output::args())
}

/// Where every pair that is not reached is written.
pub fn unreached_arg() -> Arg {
    Arg::new("unreached")
        .long("unreached")
        .value_name("FILE")
        .help("Write every pair that is not reached, as CSV")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = Machine::from(matches)?;
    let wiring = machine.wiring();
    let table = machine.has_table().then(|| machine.table());
    let (proof, how, certain) = proved(&machine, table.as_ref());
    let agents =
        table.as_ref().map(|table| prove_agents(wiring, table, &machine.to_switches(table)));
    let reach_all = agents.as_ref().is_none_or(Agents::reach_all);
    let holds = proof.holds() && reach_all && proof.pairs > 0;
    let unplugged = unplugged(wiring);
    tell_unplugged(wiring, &unplugged);
    tell(wiring, table.as_ref(), &proof, "--unreached FILE lists all");
    agents.iter().for_each(|agents| agents::tell(wiring, agents));
    if !certain {
        output::note(&format!("nothing is proven of other pairs: {how}"));
    }
    write_unreached(matches, wiring, &proof)?;
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("pairs", proof.pairs)
        .with("unreached", proof.missed())
        .with("hosts_unplugged", unplugged.len() as u64)
        .with("longest_path_switches", proof.longest)
        .with("credit_circle", links(wiring, &proof.circle).join(" "))
        .with("holds", (certain || !holds).then_some(holds))
        .with("proof", how);
    let row = agents::with_agents(row, agents.as_ref());
    let row = with_paths(row, wiring, table.as_ref());
    let params = Row::new().with("topology", machine.spec.clone());
    let env = Row::new();
    output.write(&Document { verb: "topo", env, params, rows: vec![row], summary: None }, None)?;
    Ok(if holds && certain { Exit::Done } else { Exit::Gate })
}

/// How many paths there are and, of several, how far they keep apart: as parts of the pairs, and
/// by the fullest link when all send over the first path, over the second, and so on.
pub fn with_paths(row: Row, wiring: &dyn Wiring, table: Option<&Table>) -> Row {
    let several = table.filter(|table| table.paths() > 1).map(|table| apart(wiring, table));
    let text = |number: &u64| number.to_string();
    let fullest = |found: &Apart| found.fullest.iter().map(text).collect::<Vec<_>>().join(" ");
    row.with("paths", table.map_or(1, Table::paths))
        .with("apart_by_cable", several.as_ref().and_then(|found| found.share(found.by_cable)))
        .with("apart_by_switch", several.as_ref().and_then(|found| found.share(found.by_switch)))
        .with("fullest_link", several.as_ref().map(fullest))
}

/// The links of a circle by their names.
pub fn links(wiring: &dyn Wiring, circle: &[Hop]) -> Vec<String> {
    circle.iter().map(|hop| wiring.port_name(hop.switch, hop.port)).collect()
}

/// Hosts without a cable: nothing is asked of their pairs.
pub fn unplugged(wiring: &dyn Wiring) -> Vec<Host> {
    (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_none()).collect()
}

/// Names hosts without a cable.
pub fn tell_unplugged(wiring: &dyn Wiring, hosts: &[Host]) {
    if hosts.is_empty() {
        return;
    }
    let named: Vec<String> = hosts.iter().take(NAMED).map(|&host| wiring.host_name(host)).collect();
    let more = match hosts.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    output::note(&format!("hosts without a cable: {}{more}", named.join(", ")));
}

/// Says what is wrong with a table: the first pairs that it does not serve and why, and a circle.
/// `all` is where the other pairs are.
pub fn tell(wiring: &dyn Wiring, table: Option<&Table>, proof: &Proof, all: &str) {
    for &(from, to, path) in proof.unreached.iter().take(NAMED) {
        let lost = table.map(|table| walk(wiring, &table.path(path), from, to, |_| {}));
        let why = match lost {
            Some(Err(lost)) => format!(": {}", why(wiring, lost)),
            _ => String::new(),
        };
        let (from, to) = (wiring.host_name(from), wiring.host_name(to));
        output::note(&format!("not reached: {from} to {to}, path {path}{why}"));
    }
    if proof.missed() > NAMED as u64 {
        output::note(&format!("and {} more pairs: {all}", proof.missed() - NAMED as u64));
    }
    if !proof.circle.is_empty() {
        output::note(&circle(wiring, &proof.circle));
    }
}

/// Names the links of a circle, the first of very many.
pub fn circle(wiring: &dyn Wiring, circle: &[Hop]) -> String {
    let links = links(wiring, circle);
    let more = if links.len() > NAMED { " …" } else { "" };
    let named = links[..links.len().min(NAMED)].join(" ");
    format!("links that wait for each other in a circle: {named}{more}")
}

/// Why a message does not arrive, in words.
pub fn why(wiring: &dyn Wiring, lost: Lost) -> String {
    match lost {
        Lost::Unplugged(host) => format!("{} has no cable", wiring.host_name(host)),
        Lost::NoWay(switch) => format!("{} has no way there", wiring.switch_name(switch)),
        Lost::Astray(host) => format!("it comes to {}", wiring.host_name(host)),
        Lost::Loop(switch) => format!("it goes round by {}", wiring.switch_name(switch)),
    }
}

/// Proves a table that a verb shows or writes, and says what is wrong with it: the exit code that
/// the verb then ends with.
pub fn judged(wiring: &dyn Wiring, table: &Table) -> Exit {
    let proof = prove(wiring, table);
    tell(wiring, Some(table), &proof, "`laneway topo check --unreached FILE` lists all");
    if proof.holds() { Exit::Done } else { Exit::Gate }
}

/// Writes the pairs that are not reached, if the command line wants them.
pub fn write_unreached(
    matches: &ArgMatches,
    wiring: &dyn Wiring,
    proof: &Proof,
) -> Result<(), Failure> {
    let Some(file) = matches.get_one::<String>("unreached") else { return Ok(()) };
    let line = |&(from, to, path): &(u32, u32, u32)| {
        format!("{},{},{path}\n", field(&wiring.host_name(from)), field(&wiring.host_name(to)))
    };
    let lines: String = proof.unreached.iter().map(line).collect();
    output::replace(Path::new(file), &format!("from,to,path\n{lines}"))?;
    if proof.unlisted > 0 {
        output::note(&format!("{} pairs more than `{file}` lists", proof.unlisted));
    }
    Ok(())
}

/// Every pair; of a fabric whose table does not fit into memory, pairs that are followed. And
/// whether that proves it: of a mesh the first host stands for all, of a tree some pods do.
fn proved(machine: &Machine, table: Option<&Table>) -> (Proof, String, bool) {
    let wiring = machine.wiring();
    if let Some(table) = table {
        return (prove(wiring, table), "every pair".to_string(), true);
    }
    let Followed { mut pairs, mut lost, mut longest, mut astray } =
        follow_pairs(wiring, machine.routing(), SAMPLED_PAIRS, 1);
    let mut how = format!("{pairs} pairs followed, {astray} of them climb after they descended");
    let topology = machine.topology().filter(|_| !machine.is_damaged());
    let standing = topology.and_then(prove_standing);
    let certain = machine.mesh().is_some() || standing.is_some();
    if let Some(found) = standing {
        how = format!(
            "pods are alike: {} pairs stand for all, {} of them climb after they descended; {how}",
            found.pairs, found.astray
        );
        pairs += found.pairs;
        lost.extend(found.lost);
        longest = longest.max(found.longest);
        astray += found.astray;
    }
    let unreached = lost.into_iter().map(|(from, to)| (from, to, 0)).collect();
    (Proof { pairs, unreached, longest, ..Proof::default() }, how, certain && astray == 0)
}
