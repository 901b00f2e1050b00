//! `laneway reproduce`: the tables and figures of papers, theirs beside ours.

mod drawing;
mod mpiblib;
mod part;

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_report::Format;

use crate::output::{self, Output};
use part::{Claim, Part};

pub fn command() -> Command {
    Command::new("reproduce")
        .about("Does the experiments of a paper again and sets its figures beside ours")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("mpiblib")
                .about("Table 1, figures 1 and 2 and the point-to-point experiment of MPIBlib")
                .after_help(
                    "All runs in virtual time on the simulated cluster mpiblib16, whose clocks are \
                     off and drift, and takes seconds. What is assumed, what a claim asks for and \
                     why figures differ: docs/reproduce-mpiblib.md.\n\nExamples:\n  \
                     laneway reproduce mpiblib\n  \
                     laneway reproduce mpiblib --part figure-1 --svg figures\n  \
                     laneway reproduce mpiblib --format json\n\n\
                     Exit code 0 where every claim holds, 1 where one does not.",
                )
                .arg(
                    Arg::new("part")
                        .long("part")
                        .value_name("P,Q")
                        .value_delimiter(',')
                        .value_parser(mpiblib::PARTS)
                        .help("Only these parts of the paper [default: all]"),
                )
                .arg(
                    Arg::new("svg")
                        .long("svg")
                        .value_name("DIR")
                        .help("Also draw the figures, as DIR/figure-1.svg and so on"),
                )
                .args(output::args()),
        )
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("mpiblib", matches)) => reproduced(matches),
        _ => Ok(Exit::Usage),
    }
}

fn reproduced(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    output::ensure_open()?;
    let wanted: Vec<&str> =
        matches.get_many::<String>("part").unwrap_or_default().map(String::as_str).collect();
    let folder = matches.get_one::<String>("svg").map(Path::new);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| {
            let what = format!("cannot make the folder `{}`", folder.display());
            Failure::environment(what, error.to_string(), "a folder that can be written to")
        })?;
    }
    let parts = mpiblib::parts(&wanted)?;
    if folder.is_some() && parts.iter().all(|part| part.curves.is_empty()) {
        output::note("nothing to draw: only the figures are drawn");
    }
    if let Some(folder) = folder {
        for part in parts.iter().filter(|part| !part.curves.is_empty()) {
            let file = folder.join(format!("{}.svg", part.name));
            output::replace(&file, &drawing::drawing(part))?;
            output::note(&format!("wrote {}", file.display()));
        }
    }
    let document = document(&parts);
    if output.format == Format::Table {
        output.save(&document)?;
        let mut texts: Vec<String> = parts.iter().map(Part::text).collect();
        texts.push(mpiblib::NOTES.join("\n") + "\n");
        output::print(&texts.join("\n"))?;
    } else {
        output.write(&document, None)?;
    }
    Ok(if parts.iter().all(Part::holds) { Exit::Done } else { Exit::Gate })
}

fn document(parts: &[Part]) -> Document {
    let claims = || parts.iter().flat_map(|part| &part.claims).filter_map(Claim::holds);
    let count = |wanted: bool| claims().filter(|holds| *holds == wanted).count() as u64;
    Document {
        verb: "reproduce",
        env: Row::new().with("backend", format!("sim:{}", mpiblib::PLATFORM)),
        params: Row::new().with("paper", "mpiblib").with("notes", mpiblib::NOTES.join(" ")),
        rows: parts.iter().flat_map(Part::rows).collect(),
        summary: Some(Row::new().with("hold", count(true)).with("differ", count(false))),
    }
}
