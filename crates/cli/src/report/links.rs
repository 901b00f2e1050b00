//! `laneway report links`: records of links over each other, as one picture or page.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::error::nearest;
use laneway_draw::links as drawing;
use laneway_report::links::{self, LinkRecord};

use super::{load, name_runs, refuse_to_replace};
use crate::failure::{Exit, Failure};
use crate::links::ending;
use crate::output;

/// What writes a record of links.
const RECORD: &str = "laneway sim bcast --platform cluster:16 --record links.json";

pub fn command() -> Command {
    Command::new("links")
        .about("Draws the rates of links over time, several records on the same axes")
        .after_help(
            "Records are files that --record wrote, as JSON or CSV, of a simulated or a real \
             network. The 12 links with the most traffic are drawn.\n\n\
             Examples:\n  \
             laneway sim scatter --algorithm linear --platform two-sites:8x8 --sizes 4M \
             --record linear.json\n  \
             laneway sim scatter --algorithm windowed --platform two-sites:8x8 --sizes 4M \
             --record windowed.json\n  \
             laneway report links linear.json windowed.json --link site0:to:site1 -o wan.svg",
        )
        .arg(
            Arg::new("run")
                .value_name("RECORD")
                .required(true)
                .num_args(1..)
                .help("Files of records; with several, each curve names its file"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Write to FILE, .svg or .html [default: standard output, as SVG]"),
        )
        .arg(
            Arg::new("link")
                .long("link")
                .value_name("LINK")
                .action(ArgAction::Append)
                .help("Only this link; can be given several times"),
        )
        .arg(Arg::new("title").long("title").value_name("T").help("The heading"))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let files: Vec<&String> = matches.get_many("run").unwrap_or_default().collect();
    let target = matches.get_one::<String>("output");
    let is_page = match target.map(|target| ending(target)) {
        None | Some(Some("svg")) => false,
        Some(Some("html")) => true,
        Some(_) => {
            let what = format!("unknown format of `{}`", target.map_or("", |t| t));
            let cause = "the extension must be .svg or .html";
            return Err(Failure::usage(what, cause, "-o links.svg"));
        }
    };
    refuse_to_replace(target, &files)?;
    let mut records = Vec::new();
    for (file, name) in files.iter().zip(name_runs(&files)) {
        let run = load(file, RECORD)?;
        let uses = links::read(&run).map_err(|cause| {
            let what = format!("`{file}` is not a record of links");
            Failure::usage(what, cause, RECORD)
        })?;
        records.push(LinkRecord { name, uses });
    }
    let only: Vec<&String> = matches.get_many("link").unwrap_or_default().collect();
    choose(&mut records, &only)?;
    let names: Vec<&str> = records.iter().map(|record| record.name.as_str()).collect();
    let title = matches.get_one::<String>("title").cloned().unwrap_or_else(|| names.join(", "));
    let draw = if is_page { drawing::page } else { drawing::draw };
    let text = draw(&title, &records);
    match target {
        None => output::print(&text)?,
        Some(file) => {
            output::replace(Path::new(file), &text)?;
            output::note(&format!("wrote {file}"));
        }
    }
    Ok(Exit::Done)
}

/// Leaves the links that were asked for; all, where none was.
fn choose(records: &mut [LinkRecord], only: &[&String]) -> Result<(), Failure> {
    if only.is_empty() {
        return Ok(());
    }
    let known = || records.iter().flat_map(|record| &record.uses).map(|of| of.link.as_str());
    for link in only {
        if !known().any(|known| known == *link) {
            let what = format!("unknown link `{link}`");
            let first = known().next().unwrap_or_default();
            let try_this = format!("--link {}", nearest(link, known()).unwrap_or(first));
            return Err(Failure::usage(what, "no record has it", try_this));
        }
    }
    for record in records {
        record.uses.retain(|of| only.contains(&&of.link));
    }
    Ok(())
}
