//! New tables in words and as a row, for a command that shows them.

use laneway_core::Row;
use laneway_core::units::{counted_grouped, grouped};

use super::Rerouted;
use super::changes::Changes;
use crate::cost::Parts;
use crate::proof::check::with_agents;
use crate::proof::explain;
use crate::wiring::Wiring;

impl Rerouted {
    /// Whether all hosts reach each other, and no credit loop exists.
    pub fn holds(&self) -> bool {
        self.proof.holds() && self.agents.reach_all() && self.unplugged.is_empty()
    }

    /// Whether the tables can be loaded. A credit loop can stop the whole fabric; dead
    /// entries stop a few pairs.
    pub fn is_loadable(&self) -> bool {
        self.proof.credit_loop.is_empty()
    }

    /// Sentences on everything that a person should know of it.
    pub fn findings(&self) -> Vec<String> {
        let left = &self.left;
        let mut lines = Vec::new();
        if self.is_readdressed {
            lines.push("the discovered addresses have changed".to_string());
        }
        if self.new_addresses > 0 {
            lines.push(format!("{} hosts and switches have new addresses", self.new_addresses));
        }
        lines.extend(explain::agents(left, &self.agents));
        for &(from, to, path) in self.proof.unreached.iter().take(explain::NAMED) {
            let (from, to) = (left.host_name(from), left.host_name(to));
            let path =
                if self.table.paths() > 1 { format!(", path {path}") } else { String::new() };
            lines.push(format!("no path from {from} to {to}{path}"));
        }
        if !self.is_loadable() {
            lines.push(explain::credit_loop(left, &self.proof.credit_loop));
        }
        lines.extend(explain::unplugged(left, &self.unplugged));
        lines
    }

    /// What has changed and what was done, in one line: `lost vertex-2-1/6 – edge-1-3/3, 45 entries
    /// changed, reloaded`.
    pub fn line(&self, is_reloaded: bool) -> String {
        let changes = Changes {
            lost: self.lost.clone(),
            restored: self.restored.clone(),
            new: self.new.clone(),
        };
        let what = match (changes.line(), self.is_first) {
            (Some(line), _) => line,
            (None, true) => {
                let cables = counted_grouped(Parts::of(&self.left).all_cables(), "cable");
                match &self.topology {
                    Some(topology) => format!("watching {topology} with all its {cables}"),
                    None => format!("watching a fabric of no known topology with {cables}"),
                }
            }
            (None, false) if self.is_readdressed => "other addresses".to_string(),
            (None, false) => "the tables are new".to_string(),
        };
        let done = match (self.is_loadable(), is_reloaded) {
            (false, _) => "not loaded because of a credit loop",
            (true, true) => "reloaded",
            (true, false) => "written",
        };
        let changed = match self.changed_entries {
            1 => "1 entry changed".to_string(),
            entries => format!("{} entries changed", grouped(entries)),
        };
        let unreached = match self.unreached {
            0 => String::new(),
            pairs => format!("{} unreached, ", counted_grouped(pairs, "pair")),
        };
        format!("{what}, {unreached}{changed}, {done}")
    }

    /// All of it in one row.
    pub fn row(&self, file: &str, is_reloaded: bool) -> Row {
        let row = Row::new()
            .with("file", file)
            .with("topology", self.topology.clone())
            .with("lost", self.lost.join("; "))
            .with("restored", self.restored.join("; "))
            .with("new", self.new.join("; "))
            .with("cables_lost", self.cables_lost)
            .with("changed_entries", self.changed_entries)
            .with("hosts_unplugged", self.unplugged.len() as u64)
            .with("unreached", self.unreached)
            .with("credit_loop", !self.proof.credit_loop.is_empty())
            .with("reloaded", is_reloaded);
        with_agents(row, Some(&self.agents))
    }
}
