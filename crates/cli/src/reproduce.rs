//! `laneway reproduce`: the tables and figures of papers, theirs beside ours.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::{Exit, Failure};
use laneway_draw::Format;
use laneway_draw::html::Picture;
use laneway_papers::{
    PAPERS, Paper, PaperError, Part, draw, fullmesh, mpiblib, multilane, path_migration,
};
use laneway_report::table::wrap;

use crate::output::{self, Output};
use crate::progress::Bar;
use crate::{lab, path};

pub fn command() -> Command {
    Command::new("reproduce")
        .about("Repeats the experiments of a paper and shows its figures beside ours")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(PAPERS.iter().map(|paper| paper_command(paper)))
}

fn paper_command(paper: &Paper) -> Command {
    Command::new(paper.name)
        .about(paper.about)
        .after_help(format!(
            "{} Assumptions, criteria of the claims and reasons for differences: \
             {}.\n\nExamples:\n  \
             laneway reproduce {name}\n  \
             laneway reproduce {name} --part {} --svg figures\n  \
             laneway reproduce {name} --export {name}.html\n  \
             laneway reproduce {name} --format json\n\n\
             Exit code 0 where every claim holds, 1 where one does not.",
            paper.effort,
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
                .help("Only these parts of the paper, comma-separated [default: all]"),
        )
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("DIR")
                .help("Also draw the figures, as DIR/figure-1.svg and so on"),
        )
        .args(own_args(paper.name))
        .args(output::args())
}

/// What one paper takes and others do not.
fn own_args(paper: &str) -> Vec<Arg> {
    if paper != path_migration::PAPER.name {
        return Vec::new();
    }
    let pairs = Arg::new("pairs")
        .long("pairs")
        .value_name("N")
        .value_parser(value_parser!(u64).range(4..=4096))
        .default_value("512")
        .help("The largest number of queue pairs");
    vec![pairs]
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Exit::Usage) };
    match PAPERS.iter().find(|paper| paper.name == name) {
        Some(paper) => run_paper(paper, matches),
        None => Ok(Exit::Usage),
    }
}

fn run_paper(paper: &Paper, matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    output::ensure_open()?;
    let folder = matches.get_one::<String>("svg").map(Path::new);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| {
            let what = format!("cannot make the folder `{}`", folder.display());
            Failure::environment(what, error.to_string(), "a folder in which you can create files")
        })?;
    }
    let parts = reproduce(paper, matches)?;
    if folder.is_some() && !parts.iter().any(Part::is_drawn) {
        let cause = "none of these parts is a figure with curves or bars";
        let try_this = format!("--part {} --svg DIR", paper.drawn);
        return Err(Failure::usage("nothing to draw", cause, try_this));
    }
    if let Some(folder) = folder {
        for part in parts.iter().filter(|part| part.is_drawn()) {
            let file = folder.join(format!("{}.svg", part.name));
            output::replace(&file, &draw(part))?;
            output::note(&format!("wrote {}", file.display()));
        }
    }
    let document = paper.document(&parts);
    let output = output.with_pictures(pictures(&parts));
    if output.format == Format::Table {
        output.save(&document)?;
        let style = output::table_style();
        let mut texts: Vec<String> = parts.iter().map(|part| part.text_as(&style)).collect();
        texts.push(paper.notes.iter().map(|note| wrap(note, style.width) + "\n").collect());
        output::print(&texts.join("\n"))?;
    } else {
        output.write(&document, None)?;
    }
    Ok(if parts.iter().all(Part::holds) { Exit::Done } else { Exit::Gate })
}

/// The wanted parts of a paper.
fn reproduce(paper: &Paper, matches: &ArgMatches) -> Result<Vec<Part>, Failure> {
    let wanted: Vec<&str> =
        matches.get_many::<String>("part").unwrap_or_default().map(String::as_str).collect();
    let (program, bar): (PathBuf, _) = (lab::program()?, Bar::working());
    let parts = match paper.name {
        "mpiblib" => mpiblib::reproduce(&wanted, &*bar),
        "fullmesh" => fullmesh::reproduce(&wanted, &*bar),
        "multilane" => {
            if wanted.is_empty() || wanted.contains(&"lab") {
                output::note("the experiment in the lab takes about a minute");
            }
            multilane::reproduce(&wanted, &multilane::Options { program }, &*bar)
        }
        _ => {
            let pairs = matches.get_one::<u64>("pairs").copied();
            let usual = path_migration::Options::default().pairs;
            let pairs = pairs.map_or(usual, |pairs| pairs as usize);
            // It measures on this machine.
            let (options, bar) = (path_migration::Options { pairs, program }, Bar::measuring(true));
            path_migration::reproduce(&wanted, &options, &bar)
        }
    };
    parts.map_err(failure)
}

/// How an error of an experiment reaches a person.
fn failure(error: PaperError) -> Failure {
    let what = error.to_string();
    match error {
        PaperError::UnknownPart { .. } => {
            let cause = "the help of the paper lists its parts";
            Failure::usage(what, cause, "the same command without --part")
        }
        PaperError::Testbed(why) => {
            Failure::environment("the testbed cannot be simulated", why, "report this")
        }
        PaperError::Drill(error) => path::drill::failure(error),
        PaperError::Net(error) => path::reach::failure(error),
        _ => Failure::environment(what, "the machine is too busy", "an idle machine"),
    }
}

/// The drawings of a page, each with what must be known of it.
fn pictures(parts: &[Part]) -> Vec<Picture> {
    let drawn = parts.iter().filter(|part| part.is_drawn());
    let picture = |part: &Part| Picture {
        heading: part.heading.to_owned(),
        svg: draw(part),
        remarks: part.remarks.clone(),
    };
    drawn.map(picture).collect()
}
