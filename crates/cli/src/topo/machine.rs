//! The arguments of verbs about one fabric, and the fabric that they name.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};
use laneway_core::{Document, Row};
use laneway_report::table;
use laneway_topo::Counter;
pub use laneway_topo::Machine;
use laneway_topo::files::formats::Discovered;
use laneway_topo::proof::explain;

use crate::advice::{self, Advised};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::progress::Bar;

/// The seed where none is given.
const DEFAULT_SEED: u64 = 1;

/// An argument with a value.
pub fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// Paths to each port or host; the verb says what for.
pub fn paths_arg() -> Arg {
    let most = ["1", "2", "4", "8", "16", "32", "64", "128"];
    option("paths", "N", "").value_parser(most)
}

/// The arguments of every verb that takes one fabric.
pub fn args() -> [Arg; 5] {
    [
        Arg::new("topology")
            .long("topology")
            .short('t')
            .env("LANEWAY_TOPOLOGY")
            .value_name("T")
            .required(true)
            .help("mlfm:d=8, fat-tree-3:d=8, … (laneway info topologies), or a file"),
        option(
            "routing",
            "R",
            "A forwarding table, or an engine: native, … (laneway info engines)",
        ),
        option(
            "lids",
            "GUID2LID",
            "Use the addresses of OpenSM's guid2lid file, also to read tables \
             [default: those of the fabric's own file, or in order]",
        ),
        Arg::new("fail").long("fail").value_name("PART").action(ArgAction::Append).help(
            "Take out link:SWITCH/PORT, switch:NAME or host:NAME; `link` or `switch` alone draws \
             one with --fail-seed",
        ),
        option("fail-seed", "S", "Seed of the parts that --fail draws")
            .value_parser(clap::value_parser!(u64))
            .default_value(DEFAULT_SEED.to_string()),
    ]
}

/// The seed of a verb that draws something.
pub fn seed_arg(of: &'static str) -> Arg {
    let seed = option("seed", "S", of).value_parser(clap::value_parser!(u64));
    seed.default_value(DEFAULT_SEED.to_string())
}

/// What [`seed_arg`] was given.
pub fn seed(matches: &ArgMatches) -> u64 {
    matches.get_one::<u64>("seed").copied().unwrap_or(DEFAULT_SEED)
}

/// The fabric with its forwarding, with a note on how it differs from its plan.
pub fn from(matches: &ArgMatches) -> Result<Machine, Failure> {
    let mut machine = unrouted(matches)?;
    let (differences, more) = explain::differences(&machine);
    notes(differences);
    if more > 0 {
        output::note(&format!("and {more} more: laneway topo diff names all"));
    }
    if let Some(file) = matches.get_one::<String>("lids") {
        let address = machine.address(Path::new(file));
        machine = address.map_err(|error| match error.kind {
            laneway_topo::ErrorKind::Addresses => error.trying("the same command without --lids"),
            _ => error.failure(),
        })?;
    }
    let routing = matches.get_one::<String>("routing").map(String::as_str);
    Ok(machine.route(routing)?)
}

/// For verbs that ask about cables alone: its forwarding leads into what has failed.
pub fn unrouted(matches: &ArgMatches) -> Result<Machine, Failure> {
    damaged(matches, matches.get_one::<String>("topology").map_or("", String::as_str))
}

/// The same for a fabric that was named elsewhere.
pub fn damaged(matches: &ArgMatches, spec: &str) -> Result<Machine, Failure> {
    let seed = matches.get_one::<u64>("fail-seed").copied().unwrap_or(DEFAULT_SEED);
    let parts: Vec<&String> = matches.get_many("fail").unwrap_or_default().collect();
    let machine = named(spec)?.fail(&parts, seed)?;
    notes(explain::failures(&machine));
    Ok(machine)
}

/// Whole, and with its own forwarding.
pub fn named(spec: &str) -> Result<Machine, Failure> {
    let machine = Machine::observed(spec, Bar::working());
    machine.map_err(|error| advice::topology(&error, "--topology "))
}

/// A fabric from a file, in any format that is known.
pub fn discovered(file: &str) -> Result<Discovered, Failure> {
    Ok(laneway_topo::machine::discovered(Path::new(file))?)
}

/// Counts conflicts on the machine.
pub fn counter(machine: &Machine) -> Result<Counter, Failure> {
    let try_this = "a smaller fabric; laneway topo alltoall samples large ones";
    machine.counter().map_err(|error| error.trying(try_this))
}

/// Notes for the person at the terminal.
pub fn notes(lines: impl IntoIterator<Item = String>) {
    lines.into_iter().for_each(|line| output::note(&line));
}

/// What a verb prints: rows with the parameters that they are for, and what they add up to.
pub fn document(params: Row, rows: Vec<Row>, summary: Option<Row>) -> Document {
    Document { verb: "topo", env: Row::new(), params, rows, summary }
}

/// Prints the answer, and then each row as a list of names and values.
pub fn write_records<S: AsRef<str>>(
    output: &Output,
    params: Row,
    rows: Vec<Row>,
    answer: &[S],
) -> Result<(), Failure> {
    write_records_summed(output, params, rows, None, answer)
}

/// The same, with what the rows add up to as figures, for programs.
pub fn write_records_summed<S: AsRef<str>>(
    output: &Output,
    params: Row,
    rows: Vec<Row>,
    summary: Option<Row>,
    answer: &[S],
) -> Result<(), Failure> {
    let document = document(params, rows, summary);
    output.write_answered(&document, answer, |style| {
        let records = document.rows.iter().map(|row| table::record(row, style));
        records.collect::<Vec<_>>().join("\n")
    })
}

/// Prints the answer, and then a column for each row, with a line for each name.
pub fn write_columns<S: AsRef<str>>(
    output: &Output,
    params: Row,
    rows: Vec<Row>,
    answer: &[S],
) -> Result<(), Failure> {
    let document = document(params, rows, None);
    output.write_answered(&document, answer, |style| {
        table::turned(&document, &table::Style { all_columns: true, ..*style })
    })
}

/// Prints the answer, and then a table with a line for each row and all columns.
pub fn write_list<S: AsRef<str>>(
    output: &Output,
    params: Row,
    rows: Vec<Row>,
    summary: Option<Row>,
    answer: &[S],
) -> Result<(), Failure> {
    let document = document(params, rows, summary);
    output.write_answered(&document, answer, |style| {
        let list = Document { summary: None, ..document.clone() };
        table::render_as(&list, &table::Style { all_columns: true, ..*style })
    })
}

/// The exit code of a verb that proves something.
pub fn exit(holds: bool) -> Exit {
    if holds { Exit::Done } else { Exit::Gate }
}
