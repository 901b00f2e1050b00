//! `laneway topo export`: a fabric as files that other software reads.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_topo::files::export::{EXPORTS, export};

use super::route::addressed;
use super::{draw, machine};
use crate::failure::{Exit, Failure};
use crate::output;

/// The format that is drawn.
const SVG: &str = "svg";

/// All formats by name, each with a sentence.
fn formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    let drawn = (SVG, "a drawing; `laneway topo draw` has more");
    EXPORTS.iter().map(|export| (export.name, export.sentence)).chain([drawn])
}

pub fn command() -> Command {
    let width = formats().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, sentence)| format!("  {name:width$}  {sentence}\n");
    let listed: String = formats().map(line).collect();
    Command::new("export")
        .about("Writes a fabric for OpenSM, ibsim, Slurm, SimGrid, Graphviz, and people")
        .after_help(format!(
            "Formats:\n{listed}\nForwarding (lft, simgrid) is proven first: where a pair is not \
             reached or there is a credit loop, that is reported, and the exit code is 1.\n\n\
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
            machine::option("as", "FORMAT", "What to write")
                .required(true)
                .value_parser(formats().map(|(name, _)| name).collect::<Vec<_>>()),
        )
        .arg(file_arg())
}

pub fn file_arg() -> Arg {
    machine::option("output", "FILE", "Where to write [default: standard output]").short('o')
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let machine = machine::from(matches)?;
    let own = addressed(&machine, None, None)?;
    let Some(format) = text("as").and_then(export) else {
        save(text("output"), &draw::page(&machine, None))?;
        return Ok(Exit::Done);
    };
    let written = (format.write)(&machine, &own)?;
    let all = "`laneway topo check --unreached FILE` lists all";
    machine::notes(written.findings(machine.wiring(), all));
    save(text("output"), &written.text)?;
    Ok(machine::exit(written.holds()))
}

/// Writes to a file, or to standard output.
pub fn save(file: Option<&str>, text: &str) -> Result<(), Failure> {
    match file {
        Some(file) => output::replace(Path::new(file), text),
        None => output::print(text),
    }
}
