//! Proves the forwarding of a machine: every pair is reached, nothing goes round, and no credit
//! loop.

use std::borrow::Cow;

use laneway_core::Row;
use laneway_core::units::{counted, grouped};

use crate::files::formats::cables::field;
use crate::machine::Machine;
use crate::proof::explain;
use crate::proof::prove::{Agents, Proof, prove_agents_observed, prove_observed, prove_standing};
use crate::routing::apart::{PathDiversity, path_diversity_observed};
use crate::routing::table::Table;
use crate::traffic::sample::{Followed, follow_pairs};
use crate::wiring::{Host, Wiring};

/// Pairs of a very large fabric that are followed.
const SAMPLED_PAIRS: u64 = 1_000_000;

/// The result of a check of a machine's forwarding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked<'m> {
    /// The proof over the hosts that have a cable.
    pub proof: Proof,
    /// The method of the check.
    pub how: String,
    /// Whether the method proves it for every pair.
    pub is_certain: bool,
    /// The table, if it fits into memory.
    pub table: Option<Cow<'m, Table>>,
    /// The ways of the switches' own messages, where there is a table.
    pub agents: Option<Agents>,
    /// Hosts without a cable.
    pub unplugged: Vec<Host>,
    /// Pairs, times paths, of hosts that have lost their cable.
    pub cut_off: u64,
}

/// Proves the forwarding of a machine: every pair, or for a fabric whose table does not fit into
/// memory pairs that are followed.
///
/// ```
/// use laneway_topo::{Machine, check};
///
/// let machine = Machine::named("fat-tree-3:d=4")?.fail(&["switch:leaf-0-0"], 1)?.route(None)?;
/// let checked = check(&machine);
/// // Four hosts have lost their switch: their pairs with 60 others, and with each other.
/// assert_eq!(checked.unreached(), 2 * 4 * 60 + 4 * 3);
/// assert!(!checked.holds());
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn check(machine: &Machine) -> Checked<'_> {
    let wiring = machine.wiring();
    let table = machine.has_table().then(|| machine.table());
    let (proof, how, is_certain) = proved(machine, table.as_deref());
    let agents = table.as_deref().map(|table| {
        let to_switches = machine.to_switches(table);
        prove_agents_observed(wiring, table, &to_switches, machine.observer())
    });
    let cut_off = machine.pairs_cut_off() * paths(table.as_deref());
    Checked { proof, how, is_certain, table, agents, unplugged: machine.unplugged(), cut_off }
}

fn paths(table: Option<&Table>) -> u64 {
    table.map_or(1, |table| u64::from(table.paths()))
}

/// Pairs of hosts, times paths, that a machine's forwarding does not connect; those of hosts that
/// have lost their cable are among them. A fabric by formula forwards to all hosts.
pub fn unreached(machine: &Machine) -> u64 {
    if machine.is_native() {
        return 0;
    }
    let table = machine.table();
    let proof = prove_observed(machine.wiring(), &table, machine.observer());
    proof.missed() + machine.pairs_cut_off() * paths(Some(&table))
}

impl Checked<'_> {
    /// The same without the machine that it was made of.
    pub fn into_owned(self) -> Checked<'static> {
        let table = self.table.map(|table| Cow::Owned(table.into_owned()));
        Checked { table, ..Checked { table: None, ..self } }
    }

    /// Pairs of hosts, times paths, that are not reached: those that the table does not serve, and
    /// those of hosts that have lost their cable.
    pub fn unreached(&self) -> u64 {
        self.proof.missed() + self.cut_off
    }

    /// Whether no error was found.
    pub fn holds(&self) -> bool {
        let reach_all = self.agents.as_ref().is_none_or(Agents::reach_all);
        self.proof.holds() && self.cut_off == 0 && reach_all && self.proof.pairs > 0
    }

    /// The result as a row.
    pub fn row(&self, machine: &Machine) -> Row {
        let (wiring, holds) = (machine.wiring(), self.holds());
        let row = Row::new()
            .with("topology", machine.spec.clone())
            .with("pairs", self.proof.pairs + self.cut_off)
            .with("unreached", self.unreached())
            .with("hosts_unplugged", self.unplugged.len() as u64)
            .with("longest_path_switches", self.proof.longest)
            .with("credit_loop", explain::links(wiring, &self.proof.credit_loop).join(" "))
            .with("holds", (self.is_certain || !holds).then_some(holds))
            .with("proof", self.how.clone());
        let row = with_agents(row, self.agents.as_ref());
        with_paths(row, machine, self.table.as_deref())
    }

    /// The result as text.
    pub fn sentence(&self, machine: &Machine) -> String {
        let faults = faults(&Faults {
            pairs: self.proof.pairs + self.cut_off,
            unreached: self.unreached(),
            hosts_cut_off: if self.cut_off > 0 { machine.cut_off().len() as u64 } else { 0 },
            links_in_loop: self.proof.credit_loop.len() as u64,
            agents_missed: self.agents.as_ref().map_or(0, Agents::missed),
        });
        let pairs = grouped(self.proof.pairs);
        if !faults.is_empty() {
            return format!("Does not hold: {}.", faults.join("; "));
        }
        match (self.is_certain, self.table.as_deref().map_or(1, Table::paths)) {
            (false, _) => format!("Not proven: no fault was found, and only {}.", self.how),
            (true, _) if self.table.is_none() => {
                format!(
                    "Holds: all pairs are reached, without a loop or a credit loop; {}.",
                    self.how
                )
            }
            (true, paths) => {
                let paths =
                    if paths > 1 { format!(" (times {paths} paths)") } else { String::new() };
                format!(
                    "Holds: all {pairs} pairs{paths} are reached, without a loop or a credit loop; \
                     every pair was examined."
                )
            }
        }
    }

    /// Sentences on all errors; `all` says where further pairs are to be found.
    pub fn findings(&self, wiring: &dyn Wiring, all: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            explain::unplugged(wiring, &self.unplugged).into_iter().collect();
        lines.extend(explain::proof(wiring, self.table.as_deref(), &self.proof, all));
        lines.extend(self.agents.iter().flat_map(|agents| explain::agents(wiring, agents)));
        if !self.is_certain {
            lines.push(format!("nothing is proven about other pairs: {}", self.how));
        }
        lines
    }
}

/// What can be wrong with forwarding, as counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    pub pairs: u64,
    pub unreached: u64,
    pub hosts_cut_off: u64,
    pub links_in_loop: u64,
    pub agents_missed: u64,
}

/// Each fault in words.
pub(crate) fn faults(counts: &Faults) -> Vec<String> {
    let mut faults = Vec::new();
    if counts.pairs == 0 {
        faults.push("no pair of hosts has cables".to_string());
    }
    if counts.unreached > 0 {
        let because = match counts.hosts_cut_off {
            0 => String::new(),
            1 => " (1 host has lost its cable)".to_string(),
            hosts => format!(" ({hosts} hosts have lost their cables)"),
        };
        let (unreached, pairs) = (grouped(counts.unreached), grouped(counts.pairs));
        faults.push(format!("{unreached} of {pairs} pairs of hosts are unreached{because}"));
    }
    if counts.links_in_loop > 0 {
        faults.push(format!("{} can form a credit loop", counted(counts.links_in_loop, "link")));
    }
    if counts.agents_missed > 0 {
        let missed = grouped(counts.agents_missed);
        faults.push(format!("{missed} pairs of a switch and another part are unreached"));
    }
    faults
}

/// The pairs that a table does not serve, as CSV.
pub fn unreached_csv(wiring: &dyn Wiring, proof: &Proof) -> String {
    let line = |&(from, to, path): &(Host, Host, u32)| {
        format!("{},{},{path}\n", field(&wiring.host_name(from)), field(&wiring.host_name(to)))
    };
    let lines: String = proof.unreached.iter().map(line).collect();
    format!("from,to,path\n{lines}")
}

/// Two columns on the switches' own messages; empty where nothing was proved.
pub(crate) fn with_agents(row: Row, agents: Option<&Agents>) -> Row {
    row.with("switch_pairs_unreached", agents.map(Agents::missed))
        .with("switch_credit_loops", agents.map(|agents| agents.credit_loops.len() as u64))
}

/// How many paths there are and, of several, how far they keep apart: as parts of the pairs, and
/// by the fullest link when all send over the first path, over the second, and so on.
pub(crate) fn with_paths(row: Row, machine: &Machine, table: Option<&Table>) -> Row {
    let compare = |table| path_diversity_observed(machine.wiring(), table, machine.observer());
    let several = table.filter(|table| table.paths() > 1).map(compare);
    let text = |number: &u64| number.to_string();
    let fullest =
        |found: &PathDiversity| found.fullest.iter().map(text).collect::<Vec<_>>().join(" ");
    row.with("paths", table.map_or(1, Table::paths))
        .with("apart_by_cable", several.as_ref().and_then(|found| found.share(found.by_cable)))
        .with("apart_by_switch", several.as_ref().and_then(|found| found.share(found.by_switch)))
        .with("fullest_link", several.as_ref().map(fullest))
}

/// The proof, what it looked at, and whether that proves every pair: in a mesh the first host
/// stands for all, in a tree some pods do.
fn proved(machine: &Machine, table: Option<&Table>) -> (Proof, String, bool) {
    let wiring = machine.wiring();
    if let Some(table) = table {
        let proof = prove_observed(wiring, table, machine.observer());
        return (proof, "every pair".to_string(), true);
    }
    let Followed { mut pairs, mut lost, mut longest, mut astray } =
        follow_pairs(wiring, machine.routing(), SAMPLED_PAIRS, 1, machine.observer());
    let mut how = format!("{pairs} pairs followed, {astray} of them up after down");
    let topology = machine.topology().filter(|_| !machine.is_damaged());
    let standing = topology.and_then(|topology| prove_standing(topology, machine.observer()));
    let certain = machine.mesh().is_some() || standing.is_some();
    if let Some(found) = standing {
        how = format!(
            "pods are alike: {} pairs represent all, {} of them up after down; {how}",
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
