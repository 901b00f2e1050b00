//! `laneway reproduce`: the tables and figures of papers, theirs beside ours.

mod drawing;
mod fullmesh;
mod mpiblib;
mod multilane;
mod part;
mod path_migration;

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_draw::Format;
use laneway_draw::html::Picture;

use crate::output::{self, Output};
use part::{Claim, Part};

/// A paper whose experiments can be done again.
struct Paper {
    name: &'static str,
    about: &'static str,
    /// What a person must know before.
    help: &'static str,
    /// In the order of the paper.
    parts: &'static [&'static str],
    /// One of them that is a drawing.
    drawn: &'static str,
    /// What can be asked for besides.
    args: fn() -> Vec<Arg>,
    /// The wanted parts in the order of the paper; all where none is named.
    reproduce: fn(&[&str], &ArgMatches) -> Result<Vec<Part>, Failure>,
    /// What a reader must know of all figures.
    notes: &'static [&'static str],
    /// Where a user reads more.
    page: &'static str,
    /// The simulated machine that it runs on, if anything runs.
    platform: Option<&'static str>,
}

static PAPERS: [&Paper; 4] =
    [&mpiblib::PAPER, &fullmesh::PAPER, &multilane::PAPER, &path_migration::PAPER];

pub fn command() -> Command {
    let paper = |paper: &&Paper| {
        Command::new(paper.name)
            .about(paper.about)
            .after_help(format!(
                "{} What is assumed, what a claim asks for and why figures differ: \
                 {}.\n\nExamples:\n  \
                 laneway reproduce {name}\n  \
                 laneway reproduce {name} --part {} --svg figures\n  \
                 laneway reproduce {name} --export {name}.html\n  \
                 laneway reproduce {name} --format json\n\n\
                 Exit code 0 where every claim holds, 1 where one does not.",
                paper.help,
                paper.page,
                paper.drawn,
                name = paper.name
            ))
            .arg(
                Arg::new("part")
                    .long("part")
                    .value_name("P,Q")
                    .value_delimiter(',')
                    .value_parser(PossibleValuesParser::new(paper.parts))
                    .help("Only these parts of the paper [default: all]"),
            )
            .arg(
                Arg::new("svg")
                    .long("svg")
                    .value_name("DIR")
                    .help("Also draw the figures, as DIR/figure-1.svg and so on"),
            )
            .args((paper.args)())
            .args(output::args())
    };
    Command::new("reproduce")
        .about("Does the experiments of a paper again and sets its figures beside ours")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(PAPERS.iter().map(paper))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Exit::Usage) };
    match PAPERS.iter().find(|paper| paper.name == name) {
        Some(paper) => reproduced(paper, matches),
        None => Ok(Exit::Usage),
    }
}

fn reproduced(paper: &Paper, matches: &ArgMatches) -> Result<Exit, Failure> {
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
    let parts = (paper.reproduce)(&wanted, matches)?;
    if folder.is_some() && !parts.iter().any(Part::is_drawn) {
        let cause = "none of these parts is a figure with curves or bars";
        let try_this = format!("--part {} --svg DIR", paper.drawn);
        return Err(Failure::usage("nothing to draw", cause, try_this));
    }
    if let Some(folder) = folder {
        for part in parts.iter().filter(|part| part.is_drawn()) {
            let file = folder.join(format!("{}.svg", part.name));
            output::replace(&file, &drawing::drawing(part))?;
            output::note(&format!("wrote {}", file.display()));
        }
    }
    let document = document(paper, &parts);
    let output = output.with_pictures(pictures(&parts));
    if output.format == Format::Table {
        output.save(&document)?;
        let mut texts: Vec<String> = parts.iter().map(Part::text).collect();
        texts.push(paper.notes.join("\n") + "\n");
        output::print(&texts.join("\n"))?;
    } else {
        output.write(&document, None)?;
    }
    Ok(if parts.iter().all(Part::holds) { Exit::Done } else { Exit::Gate })
}

/// The drawings of a page, each with what must be known of it.
fn pictures(parts: &[Part]) -> Vec<Picture> {
    let drawn = parts.iter().filter(|part| part.is_drawn());
    let picture = |part: &Part| Picture {
        heading: part.heading.to_owned(),
        svg: drawing::drawing(part),
        remarks: part.remarks.clone(),
    };
    drawn.map(picture).collect()
}

/// What was run, a line each; several parts may rest on one run.
fn commands(parts: &[Part]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for line in parts.iter().flat_map(|part| &part.commands) {
        if !all.contains(&line.as_str()) {
            all.push(line);
        }
    }
    all.join("\n")
}

/// What contradicts the paper, a line each; nothing where nobody has to be told.
fn remarks(parts: &[Part]) -> Option<String> {
    let all = parts
        .iter()
        .flat_map(|part| part.remarks.iter().map(|remark| format!("{}: {remark}", part.name)));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

fn document(paper: &Paper, parts: &[Part]) -> Document {
    let claims = || parts.iter().flat_map(|part| &part.claims).filter_map(Claim::holds);
    let count = |wanted: bool| claims().filter(|holds| *holds == wanted).count() as u64;
    Document {
        verb: "reproduce",
        env: match paper.platform {
            Some(platform) => Row::new().with("backend", format!("sim:{platform}")),
            None => Row::new(),
        },
        params: Row::new()
            .with("paper", paper.name)
            .with("notes", paper.notes.join(" "))
            .with("remarks", remarks(parts))
            .with("commands", commands(parts)),
        rows: parts.iter().flat_map(Part::rows).collect(),
        summary: Some(Row::new().with("hold", count(true)).with("differ", count(false))),
    }
}
