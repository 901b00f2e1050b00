//! `laneway report`: files of measurements as one page with charts.

mod links;

use std::fs::File;
use std::io::{IsTerminal, Read, stdout};
use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_draw::html;
use laneway_report::compare::{Rule, compare};
use laneway_report::{Extent, Run, read};

use crate::failure::{Exit, Failure};
use crate::{output, words};

/// No measurement is longer, and a device that never ends would fill the memory.
const LONGEST_BYTES: u64 = 256 << 20;

pub fn command() -> Command {
    Command::new("report")
        .about("Makes one page with charts from files of measurements")
        .after_help(
            "The page is one file that needs no network: a chart for each operation with the \
             intervals of its figures, the map of pairs, how samples spread, flags, all rows in a \
             table that can be sorted, and where each run was made. Further files are compared \
             with the first. Files are JSON or CSV of laneway, or output of OSU or IMB.\n\n\
             Examples:\n  \
             laneway report run.json -o run.html\n  \
             laneway report monday.json tuesday.json osu.txt -o week.html --title \"This week\"\n  \
             laneway report links sim.json lab.json -o links.svg",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .subcommand(links::command())
        .arg(
            Arg::new("run")
                .value_name("RUN")
                .required(true)
                .num_args(1..)
                .help("Files of measurements; with several, each curve names its file"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE.html")
                .help("Write the page to FILE [default: standard output, unless a terminal]"),
        )
        .arg(Arg::new("title").long("title").value_name("T").help("The heading of the page"))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(("links", matches)) = matches.subcommand() {
        return links::run(matches);
    }
    let files: Vec<&String> = matches.get_many("run").unwrap_or_default().collect();
    let target = matches.get_one::<String>("output");
    if target.is_none() && stdout().is_terminal() {
        let cause = "standard output is a terminal, and the page is HTML for a browser";
        let try_this = format!("laneway report {} -o report.html", names_of(&files));
        return Err(Failure::usage("the page has no file to go to", cause, try_this));
    }
    refuse_to_replace(target, &files)?;
    let mut runs = Vec::new();
    for (file, name) in files.iter().zip(name_runs(&files)) {
        runs.push(Run { name, ..load(file, ROWS)? });
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let title = matches.get_one::<String>("title").cloned().unwrap_or_else(|| names.join(", "));
    let page = html::render(&title, &runs);
    match target {
        None => output::print(&page)?,
        Some(file) => {
            output::replace(Path::new(file), &page)?;
            output::note(&format!("wrote {file}"));
        }
    }
    for (run, file) in runs.iter().zip(&files) {
        if let Extent::Incomplete(done) = &run.extent {
            let done = if done.is_empty() { "it was stopped early" } else { done };
            output::note(&format!("{file} is incomplete: {done}; the page shows what is missing"));
        }
    }
    if let Some((first, others)) = runs.split_first() {
        for run in others {
            if let Ok(found) = compare(first, run, &Rule::default()) {
                let (old, new, answer) = (&first.name, &run.name, found.answer());
                output::note(&format!("{new} compared with {old}: {answer}"));
            }
        }
    }
    Ok(Exit::Done)
}

/// The files as words of a command.
fn names_of(files: &[&String]) -> String {
    files.iter().map(|file| file.as_str()).collect::<Vec<_>>().join(" ")
}

/// What each file is called on a page: its name without folder and ending, where no other file has
/// the same.
fn name_runs(files: &[&String]) -> Vec<String> {
    let stem = |file: &str| Path::new(file).file_stem().map(ToOwned::to_owned);
    let name = |file: &&String| {
        let alone = files.iter().filter(|other| stem(other) == stem(file)).count() == 1;
        let short = stem(file).and_then(|stem| stem.into_string().ok()).filter(|_| alone);
        short.unwrap_or_else(|| (*file).clone())
    };
    files.iter().map(name).collect()
}

/// What is read must not be written over.
fn refuse_to_replace(target: Option<&String>, files: &[&String]) -> Result<(), Failure> {
    let Some(file) = target.filter(|target| files.iter().any(|file| same_file(file, target)))
    else {
        return Ok(());
    };
    let cause = "it is one of the files to read";
    let what = format!("the page would replace `{file}`");
    Err(Failure::usage(what, cause, "-o report.html"))
}

fn same_file(one: &str, other: &str) -> bool {
    let place = |file: &str| Path::new(file).canonicalize().ok();
    place(one).is_some_and(|one| Some(one) == place(other))
}

/// What writes a file of measurements.
pub const ROWS: &str = "laneway measure coll bcast --ranks 2 --export rows.json, which writes one; \
                        output of OSU and IMB is read too";

/// A file of measurements, with at least one row; `writers` says what writes such files.
pub fn load(file: &str, writers: &str) -> Result<Run, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::environment(format!("cannot read `{file}`"), error.to_string(), writers)
    };
    let strange = |cause: String| {
        Failure::usage(format!("`{file}` is not a file of measurements"), cause, writers)
    };
    let mut bytes = Vec::new();
    let opened = File::open(words::file(file)).map_err(unreadable)?;
    opened.take(LONGEST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(strange(format!("it is longer than {} MiB", LONGEST_BYTES >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| strange("it is not text".into()))?;
    let run = read(file, &text).map_err(|error| strange(error.to_string()))?;
    if run.rows.is_empty() {
        return Err(strange("it holds no rows".into()));
    }
    Ok(run)
}
