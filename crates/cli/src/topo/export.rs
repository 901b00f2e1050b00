//! `laneway topo export`: a fabric as files that other software reads.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Exit, Failure};
use laneway_topo::Table;
use laneway_topo::formats::{
    Identity, cables, dot, guid2lid, lft, load, netlist, simgrid, slurm, toml,
};

use super::machine::{self, Machine, unreadable};
use crate::output;

/// A format: its name, what it is for, and what writes it.
struct Kind {
    name: &'static str,
    sentence: &'static str,
    write: fn(&Machine, &Identity) -> Result<String, Failure>,
}

static KINDS: &[Kind] = &[
    Kind {
        name: "ibsim",
        sentence: "a netlist that ibsim simulates",
        write: |machine, identity| Ok(netlist::write_ibsim(machine.wiring(), identity)),
    },
    Kind {
        name: "ibnetdiscover",
        sentence: "what ibnetdiscover prints",
        write: |machine, identity| Ok(netlist::write_ibnetdiscover(machine.wiring(), identity)),
    },
    Kind {
        name: "lft",
        sentence: "forwarding tables: opensm -R file -U FILE",
        write: |machine, identity| {
            ensure_pinned(identity)?;
            Ok(lft::write(machine.wiring(), &machine.table(), identity))
        },
    },
    Kind {
        name: "guid2lid",
        sentence: "the addresses that the tables are for: opensm -x",
        write: |_, identity| {
            ensure_pinned(identity)?;
            Ok(guid2lid::write(identity))
        },
    },
    Kind {
        name: "slurm",
        sentence: "topology.conf of Slurm's topology/tree",
        write: |machine, _| Ok(slurm::write(machine.wiring())),
    },
    Kind {
        name: "cables",
        sentence: "a list of cables, CSV",
        write: |machine, _| Ok(cables::write(machine.wiring())),
    },
    Kind {
        name: "simgrid",
        sentence: "a platform of SimGrid with every route",
        write: |machine, _| {
            let written =
                simgrid::write(machine.wiring(), machine.routing(), simgrid::Cable::default());
            written.map_err(|cause| {
                Failure::usage("too large a platform for SimGrid", cause, "a smaller fabric")
            })
        },
    },
    Kind {
        name: "dot",
        sentence: "a graph for Graphviz",
        write: |machine, _| Ok(dot::write(machine.wiring())),
    },
    Kind {
        name: "toml",
        sentence: "switches, hosts and cables, which file: reads",
        write: |machine, _| Ok(toml::write(machine.wiring())),
    },
];

pub fn command() -> Command {
    let width = KINDS.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let line = |kind: &Kind| format!("  {:width$}  {}\n", kind.name, kind.sentence);
    let formats: String = KINDS.iter().map(line).collect();
    Command::new("export")
        .about("Writes a fabric for OpenSM, ibsim, Slurm, SimGrid, Graphviz, and people")
        .after_help(format!(
            "Formats:\n{formats}\nExamples:\n  \
             laneway topo export -t mlfm:d=4 --as ibsim -o net\n  \
             laneway topo export -t mlfm:d=4 --as guid2lid -o guid2lid\n  \
             laneway topo export -t mlfm:d=4 --as lft -o tables.lft\n  \
             laneway topo export -t file:found.txt --as slurm -o topology.conf"
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
        .arg(lids_arg())
        .arg(file_arg())
}

/// The argument for addresses that OpenSM has given already.
pub fn lids_arg() -> Arg {
    Arg::new("lids").long("lids").value_name("GUID2LID").help(
        "Keep the addresses of OpenSM's guid2lid file [default: those of the fabric's own file, \
         or in order]",
    )
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
    let identity = pinned(&machine, text("lids"), 1)?;
    let kind = KINDS.iter().find(|kind| Some(kind.name) == text("as"));
    let written = kind.map_or(Ok(String::new()), |kind| (kind.write)(&machine, &identity))?;
    save(text("output"), &written)?;
    Ok(Exit::Done)
}

/// Writes to a file, or to standard output.
pub fn save(file: Option<&str>, text: &str) -> Result<(), Failure> {
    match file {
        Some(file) => output::replace(Path::new(file), text),
        None => output::print(text),
    }
}

/// GUIDs and addresses. A fabric that does not fit into a subnet has GUIDs alone.
pub fn pinned(machine: &Machine, lids: Option<&str>, paths: u32) -> Result<Identity, Failure> {
    let mut identity = machine.identity();
    if let Some(file) = lids {
        let read = load(Path::new(file)).and_then(|text| guid2lid::read(&text, &mut identity));
        read.map_err(|error| unreadable("addresses", file, &error))?;
        if !identity.is_pinned() {
            let what = format!("`{file}` does not give every part an address of its own");
            let cause = "a GUID of the fabric is not in it, or an address is there twice";
            return Err(Failure::usage(what, cause, "leave --lids out"));
        }
        return Ok(identity);
    }
    let lmc = paths.next_power_of_two().ilog2() as u8;
    if identity.pin(lmc).is_err() {
        identity = machine.identity();
    }
    Ok(identity)
}

/// Refuses a fabric that does not fit into one subnet.
pub fn ensure_pinned(identity: &Identity) -> Result<(), Failure> {
    if identity.is_pinned() {
        return Ok(());
    }
    let cause = match identity.clone().pin(identity.lmc) {
        Err(cause) => cause,
        Ok(()) => "its file gives some of them to two parts".to_string(),
    };
    let try_this = "a smaller fabric, or one subnet for each part of it";
    Err(Failure::usage(
        "this fabric has no addresses of its own for all its ports",
        cause,
        try_this,
    ))
}

/// A table with its addresses, as OpenSM reads it.
pub fn table_text(machine: &Machine, table: &Table, identity: &Identity) -> String {
    lft::write(machine.wiring(), table, identity)
}
