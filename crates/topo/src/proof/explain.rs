//! Sentences about what was found in a fabric, for reports to a person.

use laneway_core::units::counted;

use crate::machine::Machine;
use crate::proof::prove::{Agents, Asked, Proof};
use crate::routing::table::Table;
use crate::routing::{Hop, Lost, walk};
use crate::wiring::failures::part_name;
use crate::wiring::{Host, Wiring};

/// Pairs, hosts, and links of a credit loop that are named; all are counted.
pub const NAMED: usize = 20;

/// Differences from its plan that are named of a found fabric.
const DIFFERENCES_NAMED: usize = 8;

/// The reason why a message does not arrive.
pub fn lost(wiring: &dyn Wiring, lost: Lost) -> String {
    match lost {
        Lost::Unplugged(host) => format!("{} has no cable", wiring.host_name(host)),
        Lost::NoWay(switch) => format!("{} has no path to it", wiring.switch_name(switch)),
        Lost::Astray(host) => format!("a message arrives at {}", wiring.host_name(host)),
        Lost::Loop(switch) => format!("a message loops through {}", wiring.switch_name(switch)),
    }
}

/// The links of a credit loop by name.
pub fn links(wiring: &dyn Wiring, credit_loop: &[Hop]) -> Vec<String> {
    credit_loop.iter().map(|hop| wiring.port_name(hop.switch, hop.port)).collect()
}

/// The links of a credit loop in one line, the first of very many.
fn first_links(wiring: &dyn Wiring, credit_loop: &[Hop]) -> String {
    let links = links(wiring, credit_loop);
    let more = if links.len() > NAMED { " …" } else { "" };
    links[..links.len().min(NAMED)].join(" ") + more
}

/// A credit loop by the names of its links.
pub fn credit_loop(wiring: &dyn Wiring, credit_loop: &[Hop]) -> String {
    format!("a credit loop: {}", first_links(wiring, credit_loop))
}

/// What is wrong with a table: the first pairs that it does not serve and why, and a credit loop. A
/// line on further pairs ends with `all`, which says where they are.
pub fn proof(wiring: &dyn Wiring, table: Option<&Table>, proof: &Proof, all: &str) -> Vec<String> {
    let pair = |&(from, to, path): &(Host, Host, u32)| {
        let walked = table.map(|table| walk(wiring, &table.path(path), from, to, |_| {}));
        let why = match walked {
            Some(Err(why)) => format!(": {}", lost(wiring, why)),
            _ => String::new(),
        };
        let (from, to) = (wiring.host_name(from), wiring.host_name(to));
        format!("not reached: {from} to {to}, path {path}{why}")
    };
    let mut lines: Vec<String> = proof.unreached.iter().take(NAMED).map(pair).collect();
    if proof.missed() > NAMED as u64 {
        lines.push(format!("and {} more pairs: {all}", proof.missed() - NAMED as u64));
    }
    if !proof.credit_loop.is_empty() {
        lines.push(credit_loop(wiring, &proof.credit_loop));
    }
    lines
}

/// Which switches do not reach whom, and which credit loops only their own messages close.
pub fn agents(wiring: &dyn Wiring, agents: &Agents) -> Vec<String> {
    let mut lines = Vec::new();
    for &(from, to) in agents.unreached.iter().take(NAMED) {
        let to = match to {
            Asked::Host(host, path) => format!("{}, path {path}", wiring.host_name(host)),
            Asked::Switch(switch) => wiring.switch_name(switch),
        };
        lines.push(format!("not reached: {} to {to}", wiring.switch_name(from)));
    }
    if agents.missed() > NAMED as u64 {
        let more = agents.missed() - NAMED as u64;
        lines.push(format!("and {more} more pairs of a switch and another part"));
    }
    for credit_loop in agents.credit_loops.iter().take(NAMED) {
        lines.push(format!(
            "management messages of switches close a credit loop that messages of hosts do not: {}",
            first_links(wiring, credit_loop)
        ));
    }
    lines
}

/// Names hosts without a cable; nothing where there are none.
pub fn unplugged(wiring: &dyn Wiring, hosts: &[Host]) -> Option<String> {
    let named: Vec<String> = hosts.iter().take(NAMED).map(|&host| wiring.host_name(host)).collect();
    let more = match hosts.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!hosts.is_empty()).then(|| format!("hosts without a cable: {}{more}", named.join(", ")))
}

/// What has failed, and what that has cost.
pub fn failures(machine: &Machine) -> Vec<String> {
    let Some(loss) = machine.loss() else { return Vec::new() };
    let whole = machine.whole();
    let failed = machine.failed().iter();
    let mut lines: Vec<String> =
        failed.map(|&part| format!("failed: {}", part_name(whole, part))).collect();
    lines.extend(machine.already_out().iter().map(|why| format!("already out: {why}")));
    let narrowest = loss.narrowest.map_or(String::new(), |(switch, share)| {
        format!("; {} keeps {:.1} % of its uplinks", whole.switch_name(switch), 100.0 * share)
    });
    lines.push(format!(
        "lost: {} of {} between switches, {}, {} of hosts{narrowest}",
        loss.cables_gone,
        counted(loss.cables as u64, "cable"),
        counted(loss.hosts_cut_off.len() as u64, "host"),
        counted(loss.pairs_apart, "pair")
    ));
    lines
}

/// How a found fabric differs from its plan: the first differences, and how many more there are.
pub fn differences(machine: &Machine) -> (Vec<String>, usize) {
    let differences = machine.differences();
    let Some(recognised) = machine.recognised() else { return (Vec::new(), 0) };
    let named = differences.iter().take(DIFFERENCES_NAMED);
    let lines = named.map(|difference| format!("{}: {difference}", recognised.plan.spec()));
    (lines.collect(), differences.len().saturating_sub(DIFFERENCES_NAMED))
}
