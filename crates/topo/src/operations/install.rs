//! Forwarding tables to be installed: proven, and the steps that lead to them from installed ones.

use std::borrow::Cow;

use laneway_core::Row;
use laneway_core::units::{counted, grouped};

use crate::error::{Error, ErrorKind};
use crate::files::addresses::{Addressed, Installed};
use crate::files::formats::lft;
use crate::machine::Machine;
use crate::operations::change::{Ends, apply, steps};
use crate::proof::check::{Faults, faults, with_agents, with_paths};
use crate::proof::explain;
use crate::proof::prove::{Agents, Proof, prove_agents_observed, prove_observed};
use crate::routing::Hop;
use crate::routing::agents::to_switches_observed;
use crate::routing::table::Table;
use crate::wiring::{Host, Wiring};

/// The tables of a machine, with their proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tables<'m> {
    /// The ways to hosts, with a path for each address; borrowed where the machine has them.
    pub table: Cow<'m, Table>,
    /// The ways to switches.
    pub to_switches: Table,
    /// The proof of the table to hosts.
    pub proof: Proof,
    /// The proof of both tables for the switches' own messages.
    pub agents: Agents,
    /// Hosts without a cable; the tables are for the others.
    pub unplugged: Vec<Host>,
    /// Pairs, times paths, of hosts that a failure has cut off, as in [`crate::check()`].
    pub cut_off: u64,
}

/// The change from installed tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Entries that differ.
    pub entries: u64,
    /// The number of steps.
    pub steps: u64,
    /// Steps after which links can form a credit loop.
    pub with_credit_loop: u64,
}

/// One step of a change.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Its number, from 1.
    pub number: u64,
    /// The complete tables after the step.
    pub text: String,
    /// The links of a credit loop after the step; empty if there is none.
    pub credit_loop: Vec<Hop>,
}

impl Step {
    /// The file of a step beside that of the whole tables.
    pub fn file(file: &str, number: u64) -> String {
        format!("{file}.step{number}")
    }

    /// Removes the files of steps from this one on, which an earlier change with more of them has
    /// left: they would be loaded after the last one.
    pub fn remove(file: &str, first: u64) {
        let is_removed = |number| std::fs::remove_file(Step::file(file, number)).is_ok();
        (first..).take_while(|&number| is_removed(number)).for_each(drop);
    }
}

/// Makes and proves the tables of a machine for its addresses.
///
/// ```
/// use laneway_topo::files::addresses::Addressed;
/// use laneway_topo::Machine;
/// use laneway_topo::operations::install;
///
/// let machine = Machine::named("mlfm:d=4")?.fail(&["link:vertex-0-0/5"], 1)?.route(None)?;
/// let addressed = Addressed::new(&machine, None, Some(2))?;
/// let tables = install::tables(&machine, &addressed)?;
/// assert!(tables.hold());
/// let text = tables.text(&machine, &addressed);
/// assert!(text.starts_with("Unicast lids"));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn tables<'m>(machine: &'m Machine, addressed: &Addressed) -> Result<Tables<'m>, Error> {
    addressed.ensure_pinned()?;
    let (wiring, observer) = (machine.wiring(), machine.observer());
    let table = addressed.table(machine);
    let to_switches = to_switches_observed(wiring, &table, observer);
    Ok(Tables {
        proof: prove_observed(wiring, &table, observer),
        agents: prove_agents_observed(wiring, &table, &to_switches, observer),
        unplugged: machine.unplugged(),
        cut_off: machine.pairs_cut_off() * u64::from(table.paths()),
        table,
        to_switches,
    })
}

impl Tables<'_> {
    /// Whether every pair of hosts is reached, and no credit loop exists.
    pub fn hold(&self) -> bool {
        self.proof.holds() && self.cut_off == 0 && self.agents.reach_all()
    }

    /// Pairs of hosts, times paths, that are not reached, as [`crate::check()`] counts them.
    pub fn unreached(&self) -> u64 {
        self.proof.missed() + self.cut_off
    }

    /// The tables as OpenSM reads them.
    pub fn text(&self, machine: &Machine, addressed: &Addressed) -> String {
        lft::write_both(machine.wiring(), &self.table, &self.to_switches, &addressed.identity)
    }

    /// The installed tables, to hosts and to switches, that these are to replace.
    pub fn installed(
        &self,
        machine: &Machine,
        installed: &Installed,
    ) -> Result<(Table, Table), Error> {
        let installed = installed.tables(machine)?;
        let (there, here) = (installed.0.paths(), self.table.paths());
        if there != here {
            let cause = format!("{there} paths to a host there, {here} here");
            let what = "the installed tables are not for the same addresses";
            return Err(Error::new(ErrorKind::Addresses, what, cause));
        }
        Ok(installed)
    }

    /// Makes the steps from installed tables, to hosts and to switches, proves each, and hands it
    /// to `write`. Switches have addresses too, and the ways to them change in the same steps.
    pub fn change<E>(
        &self,
        machine: &Machine,
        addressed: &Addressed,
        installed: (Table, Table),
        mut write: impl FnMut(Step) -> Result<(), E>,
    ) -> Result<Change, E> {
        let wiring = machine.wiring();
        let prove = |table: &Table| prove_observed(wiring, table, machine.observer());
        let (mut now, mut now_to_switches) = installed;
        let hosts = steps(wiring, Ends::Hosts, &now, &self.table);
        let switches = steps(wiring, Ends::Switches, &now_to_switches, &self.to_switches);
        let count = hosts.len().max(switches.len());
        let entries = hosts.iter().chain(&switches).map(Vec::len).sum::<usize>();
        let mut change =
            Change { entries: entries as u64, steps: count as u64, with_credit_loop: 0 };
        let mut credit_loop = prove(&now).credit_loop;
        for at in 0..count {
            if let Some(step) = hosts.get(at) {
                apply(&mut now, step);
                credit_loop = prove(&now).credit_loop;
            }
            change.with_credit_loop += u64::from(!credit_loop.is_empty());
            switches.get(at).into_iter().for_each(|step| apply(&mut now_to_switches, step));
            let text = lft::write_both(wiring, &now, &now_to_switches, &addressed.identity);
            write(Step { number: at as u64 + 1, text, credit_loop: credit_loop.clone() })?;
        }
        Ok(change)
    }

    /// The result as a row.
    pub fn row(&self, machine: &Machine, file: &str, change: Option<Change>) -> Row {
        let wiring = machine.wiring();
        let row = Row::new()
            .with("file", file)
            .with("switches", wiring.switches())
            .with("hosts", wiring.hosts())
            .with("hosts_unplugged", self.unplugged.len() as u64)
            .with("unreached", self.unreached())
            .with("credit_loop", !self.proof.credit_loop.is_empty())
            .with("changed_entries", change.map(|change| change.entries))
            .with("steps", change.map(|change| change.steps))
            .with("steps_with_credit_loop", change.map(|change| change.with_credit_loop));
        let row = with_agents(row, Some(&self.agents));
        with_paths(row, machine, Some(&self.table))
    }

    /// What was written to a file, and what is true of it, in words.
    pub fn sentence(&self, machine: &Machine, file: &str, change: Option<Change>) -> String {
        let faults = faults(&Faults {
            pairs: self.proof.pairs + self.cut_off,
            unreached: self.unreached(),
            hosts_cut_off: if self.cut_off > 0 { machine.cut_off().len() as u64 } else { 0 },
            links_in_loop: self.proof.credit_loop.len() as u64,
            agents_missed: self.agents.missed(),
        });
        let mut text = match faults.is_empty() {
            true => format!(
                "Wrote {file}: all {} pairs of hosts are reached, without a credit loop.",
                grouped(self.proof.pairs)
            ),
            false => format!("Wrote {file}, which does not hold: {}.", faults.join("; ")),
        };
        if let Some(change) = change {
            let entries = grouped(change.entries);
            text += &match change.steps {
                0 => " The installed tables are the same.".to_string(),
                steps => format!(
                    " {entries} entries differ from the installed tables: load {} in order, \
                     {} to {}.",
                    counted(steps, "step"),
                    Step::file(file, 1),
                    Step::file(file, steps)
                ),
            };
            if change.with_credit_loop > 0 {
                let steps = counted(change.with_credit_loop, "step");
                text += &format!(" After {steps} links can form a credit loop.");
            }
        }
        text
    }

    /// Sentences on everything that is wrong; `all` says where further pairs are to be found.
    pub fn findings(&self, wiring: &dyn Wiring, all: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            explain::unplugged(wiring, &self.unplugged).into_iter().collect();
        lines.extend(explain::proof(wiring, Some(&self.table), &self.proof, all));
        lines.extend(explain::agents(wiring, &self.agents));
        lines
    }
}
