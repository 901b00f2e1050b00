//! A machine as files that other software reads: a name, a sentence and a function for each format.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::files::addresses::Addressed;
use crate::files::formats::{cables, dot, guid2lid, netlist, simgrid, slurm, toml};
use crate::machine::Machine;
use crate::operations::install;
use crate::proof::explain;
use crate::proof::prove::{Agents, Proof, prove_observed};
use crate::routing::table::Table;
use crate::wiring::{Host, Wiring};

/// An export format.
pub struct Export {
    /// The name of the format.
    pub name: &'static str,
    /// The purpose of the format, in one sentence.
    pub sentence: &'static str,
    /// Writes the format.
    pub write: for<'m> fn(&'m Machine, &Addressed) -> Result<Written<'m>, Error>,
}

/// The text of an export, with the proof of its forwarding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written<'m> {
    /// The text of the file.
    pub text: String,
    /// The forwarding, if the file has any.
    pub forwarding: Option<(Cow<'m, Table>, Proof)>,
    /// The ways of the switches' own messages, where the file has some.
    pub agents: Option<Agents>,
    /// Hosts that a failure has cut off, where the file has forwarding.
    pub cut_off: Vec<Host>,
}

impl From<String> for Written<'_> {
    fn from(text: String) -> Self {
        Written { text, forwarding: None, agents: None, cut_off: Vec::new() }
    }
}

impl Written<'_> {
    /// Whether the forwarding, if any, is correct.
    pub fn holds(&self) -> bool {
        self.forwarding.as_ref().is_none_or(|(_, proof)| proof.holds())
            && self.agents.as_ref().is_none_or(Agents::reach_all)
            && self.cut_off.is_empty()
    }

    /// Sentences on all errors; `all` says where further pairs are to be found.
    pub fn findings(&self, wiring: &dyn Wiring, all: &str) -> Vec<String> {
        let forwarding = self.forwarding.iter();
        let mut lines: Vec<String> = forwarding
            .flat_map(|(table, proof)| explain::proof(wiring, Some(table), proof, all))
            .collect();
        lines.extend(self.agents.iter().flat_map(|agents| explain::agents(wiring, agents)));
        lines.extend(explain::unplugged(wiring, &self.cut_off));
        lines
    }
}

/// All formats.
pub static EXPORTS: &[Export] = &[
    Export {
        name: "ibsim",
        sentence: "a netlist that ibsim simulates",
        write: |machine, own| Ok(netlist::write_ibsim(machine.wiring(), &own.identity).into()),
    },
    Export {
        name: "ibnetdiscover",
        sentence: "what ibnetdiscover prints",
        write: |machine, own| {
            Ok(netlist::write_ibnetdiscover(machine.wiring(), &own.identity).into())
        },
    },
    Export {
        name: "lft",
        sentence: "forwarding tables: opensm -R file -U FILE",
        write: |machine, own| {
            let tables = install::tables(machine, own)?;
            let text = tables.text(machine, own);
            let forwarding = Some((tables.table, tables.proof));
            let agents = Some(tables.agents);
            Ok(Written { text, forwarding, agents, cut_off: machine.cut_off() })
        },
    },
    Export {
        name: "guid2lid",
        sentence: "the addresses that the tables are for: opensm -x",
        write: |_, own| {
            own.ensure_pinned()?;
            Ok(guid2lid::write(&own.identity).into())
        },
    },
    Export {
        name: "slurm",
        sentence: "topology.conf of Slurm's topology/tree",
        write: |machine, _| Ok(named(slurm::write(machine.wiring()))?.into()),
    },
    Export {
        name: "cables",
        sentence: "a list of cables, CSV",
        write: |machine, _| Ok(cables::write(machine.wiring()).into()),
    },
    Export {
        name: "simgrid",
        sentence: "a platform of SimGrid with every route, which file: reads",
        write: |machine, _| {
            let (wiring, cable) = (machine.wiring(), simgrid::Cable::default());
            let text = simgrid::write(wiring, machine.routing(), cable).map_err(|cause| {
                let what = "this fabric cannot be written as a platform of SimGrid";
                let hint = "a smaller fabric, or other names in its file";
                Error::new(ErrorKind::Format, what, cause).with_hint(hint)
            })?;
            let table = machine.table();
            let proof = prove_observed(wiring, &table, machine.observer());
            let forwarding = Some((table, proof));
            // A platform has the hosts that are left, and no pair of the others.
            Ok(Written { text, forwarding, agents: None, cut_off: Vec::new() })
        },
    },
    Export {
        name: "dot",
        sentence: "a graph for Graphviz, which file: reads",
        write: |machine, _| Ok(dot::write(machine.wiring()).into()),
    },
    Export {
        name: "toml",
        sentence: "switches, hosts and cables, which file: reads",
        write: |machine, _| Ok(plan(machine)?.into()),
    },
];

/// Finds a format by its name.
///
/// ```
/// use laneway_topo::files::addresses::Addressed;
/// use laneway_topo::Machine;
/// use laneway_topo::files::export::export;
///
/// let machine = Machine::named("mlfm:d=4")?;
/// let slurm = export("slurm").expect("it is a format");
/// let written = (slurm.write)(&machine, &Addressed::new(&machine, None, None)?)?;
/// assert!(written.holds() && written.text.contains("SwitchName=vertex-0-0 Nodes=node[0-3]"));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn export(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().find(|export| export.name == name)
}

/// The cables of a machine as TOML, to be changed by hand.
pub fn plan(machine: &Machine) -> Result<String, Error> {
    named(toml::write(machine.wiring()))
}

/// Refuses a fabric with names that are not unique in a format.
fn named(written: Result<String, String>) -> Result<String, Error> {
    written.map_err(|cause| {
        let what = "the names of this fabric are not unique in that format";
        Error::new(ErrorKind::Format, what, cause).with_hint("other names in the fabric's file")
    })
}
