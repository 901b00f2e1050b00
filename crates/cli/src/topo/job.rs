//! `laneway topo job`: nodes for a job on a part of the machine, and an order for its all-to-all.

use std::path::Path;

use clap::{ArgGroup, ArgMatches, Command};
use laneway_core::Row;
use laneway_core::units::parse_count;
use laneway_topo::files::formats::file_name;
use laneway_topo::jobs::{self, Wanted};
use laneway_topo::{Error, ErrorKind};

use super::machine::{self, option};
use super::schedule::range;
use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    let nodes = option("nodes", "LIST", "Take these nodes and no others");
    let wanted = ArgGroup::new("wanted").args(["size", "shape", "nodes"]);
    Command::new("job")
        .about("Chooses nodes for a job among the free ones, and an order for its all-to-all")
        .after_help(
            "Lists of nodes are written as Slurm writes them: node[0-3,7]. With the installed \
             forwarding, no two messages of a phase use the same link. No such order has fewer \
             phases than `bound`: the messages on the busiest link, or one for each node. A shape \
             of a full mesh, LAYERSxVERTICESxNODES with fewer nodes at a switch than vertices, \
             takes exactly as many phases as it has nodes; other sets come close to the bound.\n\n\
             Examples:\n  \
             laneway topo job --topology mlfm:d=8 --size 72\n  \
             laneway topo job --topology mlfm:d=8 --free 'node[0-99,200-575]' --size 144\n  \
             laneway topo job --topology mlfm:d=8 --shape 2x4x3 --phase 0\n  \
             laneway topo job --topology mlfm:d=8 --nodes 'node[3,17,100-160]' --schedule a.txt\n  \
             laneway topo alltoall --topology mlfm:d=8 --schedule file:a.txt",
        )
        .args(machine::args())
        .arg(option("free", "LIST", "Nodes to choose from [default: all]"))
        .arg(option("size", "M", "Nodes that the job needs").value_parser(size))
        .arg(option(
            "shape",
            "KxVxP",
            "Take this shape: layers, vertices, and nodes at each of their switches",
        ))
        .arg(nodes.conflicts_with_all(["free", "size", "shape"]))
        .group(wanted.required(true).multiple(true))
        .arg(machine::seed_arg("Seed of the searches for nodes and for an order"))
        .arg(option("phase", "I", "Print whom each node sends to in phases 12, 0-8 or all"))
        .arg(option(
            "schedule",
            "FILE",
            "Write all phases to FILE: a line for each pair of nodes, an empty line between phases",
        ))
        .args(output::args())
}

/// A number of nodes: `72`, `1k`.
fn size(text: &str) -> Result<u32, String> {
    parse_count(text)?.try_into().map_err(|_| "the number is too large".to_string())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = Output::from(matches)?;
    let machine = machine::from(matches)?;
    let seed = machine::seed(matches);
    let size = matches.get_one::<u32>("size").copied();
    let wanted = match (text("nodes"), text("shape")) {
        (Some(list), _) => Wanted::Nodes(list),
        (None, Some(word)) => Wanted::Shape(word, size),
        (None, None) => Wanted::Size(size.unwrap_or_default()),
    };
    let list = if text("nodes").is_some() { "nodes" } else { "free" };
    let job = jobs::plan(&machine, wanted, text("free"), seed)
        .map_err(|error| refused(error, list, machine.mesh().is_some()))?;
    let (worst, proof) = jobs::conflicts(&machine, &job);
    let row = jobs::row(&machine, &job, worst, &proof);
    if let Some(file) = text("schedule") {
        output::replace(file_name(Path::new(file)), &jobs::pairs(&machine, &job))?;
    }
    let params = Row::new().with("topology", machine.spec.clone()).with("seed", seed);
    let answer = [jobs::sentence(&machine, &job, worst, &proof)];
    match text("phase") {
        None => machine::write_records(&output, params, vec![row], &answer)?,
        Some(word) => {
            let rows = jobs::partners(&machine, &job, range("phase", word, job.phases())?);
            let try_this = "--phase 0, or --schedule FILE";
            let rows = rows.map_err(|error| error.trying(try_this))?;
            machine::write_list(&output, params, rows, Some(row), &answer)?;
        }
    }
    Ok(machine::exit(worst <= 1))
}

/// What to try where there is no such job.
fn refused(error: Error, list: &str, is_whole: bool) -> Failure {
    let hint = error.hint.clone().unwrap_or_default();
    match error.kind {
        ErrorKind::Nodes => error.trying(format!("--{list} '{hint}'")),
        ErrorKind::Shape if !hint.is_empty() && !is_whole => {
            let which = "which takes any nodes, with the same --fail and --routing";
            error.trying(format!("--size {hint}, {which}"))
        }
        _ => error.failure(),
    }
}
