//! `laneway topo export`: a fabric as files that other software reads.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Exit, Failure};
use laneway_topo::formats::{
    Identity, cables, dot, guid2lid, lft, load, netlist, simgrid, slurm, toml,
};
use laneway_topo::{Table, prove_agents};

use super::machine::{self, Machine, unreadable};
use super::{agents, check, draw};
use crate::output;

/// A format: its name, what it is for, and what writes it.
struct Kind {
    name: &'static str,
    sentence: &'static str,
    write: fn(&Machine, &Forwarding) -> Result<Written, Failure>,
}

/// A file's text; and the exit code, since forwarding is proven before it is handed on.
struct Written {
    text: String,
    exit: Exit,
}

impl From<String> for Written {
    fn from(text: String) -> Written {
        Written { text, exit: Exit::Done }
    }
}

static KINDS: &[Kind] = &[
    Kind {
        name: "ibsim",
        sentence: "a netlist that ibsim simulates",
        write: |machine, own| Ok(netlist::write_ibsim(machine.wiring(), &own.identity).into()),
    },
    Kind {
        name: "ibnetdiscover",
        sentence: "what ibnetdiscover prints",
        write: |machine, own| {
            Ok(netlist::write_ibnetdiscover(machine.wiring(), &own.identity).into())
        },
    },
    Kind {
        name: "lft",
        sentence: "forwarding tables: opensm -R file -U FILE",
        write: |machine, own| {
            own.ensure_pinned()?;
            let table = own.table(machine);
            let mut exit = check::judged(machine.wiring(), &table);
            let to_switches = lft::to_switches(machine.wiring(), &table);
            let agents = prove_agents(machine.wiring(), &table, &to_switches);
            agents::tell(machine.wiring(), &agents);
            if !agents.reach_all() {
                exit = Exit::Gate;
            }
            let text = lft::write_both(machine.wiring(), &table, &to_switches, &own.identity);
            Ok(Written { text, exit })
        },
    },
    Kind {
        name: "guid2lid",
        sentence: "the addresses that the tables are for: opensm -x",
        write: |_, own| {
            own.ensure_pinned()?;
            Ok(guid2lid::write(&own.identity).into())
        },
    },
    Kind {
        name: "slurm",
        sentence: "topology.conf of Slurm's topology/tree",
        write: |machine, _| Ok(named(slurm::write(machine.wiring()))?.into()),
    },
    Kind {
        name: "cables",
        sentence: "a list of cables, CSV",
        write: |machine, _| Ok(cables::write(machine.wiring()).into()),
    },
    Kind {
        name: "simgrid",
        sentence: "a platform of SimGrid with every route, which file: reads",
        write: |machine, _| {
            let written =
                simgrid::write(machine.wiring(), machine.routing(), simgrid::Cable::default());
            let text = written.map_err(|cause| {
                let what = "no platform of SimGrid can be written of this fabric";
                Failure::usage(what, cause, "a smaller fabric, or other names in its file")
            })?;
            Ok(Written { text, exit: check::judged(machine.wiring(), &machine.table()) })
        },
    },
    Kind {
        name: "dot",
        sentence: "a graph for Graphviz, which file: reads",
        write: |machine, _| Ok(dot::write(machine.wiring()).into()),
    },
    Kind {
        name: "svg",
        sentence: "a drawing; `laneway topo draw` has more",
        write: |machine, _| Ok(draw::page(machine, None).into()),
    },
    Kind {
        name: "toml",
        sentence: "switches, hosts and cables, which file: reads",
        write: |machine, _| Ok(named(toml::write(machine.wiring()))?.into()),
    },
];

pub fn command() -> Command {
    let width = KINDS.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let line = |kind: &Kind| format!("  {:width$}  {}\n", kind.name, kind.sentence);
    let formats: String = KINDS.iter().map(line).collect();
    Command::new("export")
        .about("Writes a fabric for OpenSM, ibsim, Slurm, SimGrid, Graphviz, and people")
        .after_help(format!(
            "Formats:\n{formats}\nForwarding (lft, simgrid) is proven first: where a pair is not \
             reached or links wait in a circle, that is said, and the exit code is 1.\n\n\
             Examples:\n  \
             laneway topo export -t mlfm:d=4 --as ibsim -o net\n  \
             laneway topo export -t mlfm:d=4 --as guid2lid -o guid2lid\n  \
             laneway topo export -t mlfm:d=4 --as lft -o tables.lft\n  \
             laneway topo export -t file:found.txt --as slurm -o topology.conf\n  \
             laneway topo export -t mlfm:d=2 --as dot | dot -Tsvg > mesh.svg\n  \
             laneway topo export -t fat-tree-3:d=4 --as simgrid -o platform.xml"
        ))
        .args(machine::args())
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("FORMAT")
                .required(true)
                .value_parser(KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>())
                .help("What to write"),
        )
        .arg(file_arg())
}

pub fn file_arg() -> Arg {
    Arg::new("output")
        .long("output")
        .short('o')
        .value_name("FILE")
        .help("Where to write [default: standard output]")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let machine = Machine::from(matches)?;
    let own = Forwarding::of(&machine, matches, None)?;
    let kind = KINDS.iter().find(|kind| Some(kind.name) == text("as"));
    let nothing = || Ok(String::new().into());
    let written = kind.map_or_else(nothing, |kind| (kind.write)(&machine, &own))?;
    save(text("output"), &written.text)?;
    Ok(written.exit)
}

/// Refuses a fabric with names that a format cannot tell apart.
pub fn named(written: Result<String, String>) -> Result<String, Failure> {
    written.map_err(|cause| {
        let what = "the names of this fabric cannot be told apart in that format";
        Failure::usage(what, cause, "other names in the fabric's file")
    })
}

/// Writes to a file, or to standard output.
pub fn save(file: Option<&str>, text: &str) -> Result<(), Failure> {
    match file {
        Some(file) => output::replace(Path::new(file), text),
        None => output::print(text),
    }
}

/// The addresses of a fabric's parts, and how many paths lead to each host: as many as it has
/// addresses.
pub struct Forwarding {
    pub identity: Identity,
    routed: u32,
    /// Why there are no addresses, where there are none: a fabric that does not fit into a subnet
    /// has GUIDs alone.
    missing: Option<String>,
}

impl Forwarding {
    /// Addresses of --lids or of the installed tables, else those of the fabric's own file, else in
    /// order. The mask is that of the routing or of `paths`, and never less than the fabric's own.
    pub fn of(
        machine: &Machine,
        matches: &ArgMatches,
        paths: Option<u32>,
    ) -> Result<Forwarding, Failure> {
        let text =
            |name: &str| matches.try_get_one::<String>(name).ok().flatten().map(String::as_str);
        let mut identity = machine.identity();
        let (lids, from) = (text("lids"), text("from"));
        // The machine has the addresses of --lids already.
        if let Some(file) = from.filter(|_| lids.is_none()) {
            let read = load(Path::new(file))
                .and_then(|text| lft::addresses(&text, machine.whole(), &mut identity));
            read.map_err(|error| unreadable("forwarding table", file, &error))?;
        }
        // A routing of the machine's own has one path, and need not be made a table to know it.
        let routed = if text("routing").is_some() { machine.table().paths() } else { 1 };
        let own = identity.paths();
        let wanted = paths.unwrap_or(if routed > 1 { routed } else { own });
        if (routed > 1 && wanted != routed) || wanted < own || (lids.is_some() && wanted != own) {
            let cause = format!(
                "a host has {own} of them, {routed} paths lead to it in the routing, and {wanted} \
                 are wanted"
            );
            let what = "addresses and paths do not agree";
            return Err(Failure::usage(what, cause, format!("--paths {}", own.max(routed))));
        }
        let had = identity.hosts.iter().chain(&identity.switches).any(|id| id.lid != 0);
        let missing = match identity.pin(wanted.next_power_of_two().ilog2() as u8) {
            Err(cause) => Some(cause),
            Ok(new) => {
                if had && new > 0 {
                    output::note(&format!("{new} hosts and switches have new addresses"));
                }
                None
            }
        };
        Ok(Forwarding { identity, routed, missing })
    }

    /// The machine's own table, with further paths where hosts have more addresses.
    pub fn table(&self, machine: &Machine) -> Table {
        match (self.routed, self.identity.paths()) {
            (1, paths @ 2..) => machine.paths(paths),
            _ => machine.table(),
        }
    }

    /// Refuses a fabric that does not fit into one subnet.
    pub fn ensure_pinned(&self) -> Result<(), Failure> {
        match &self.missing {
            None => Ok(()),
            Some(cause) => Err(Failure::usage(
                "this fabric has no addresses of its own for all its ports",
                cause.clone(),
                "a smaller fabric, or one subnet for each part of it",
            )),
        }
    }
}
