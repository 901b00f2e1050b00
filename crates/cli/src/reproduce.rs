//! `laneway reproduce`: the tables and figures of papers, theirs beside ours.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_draw::Format;
use laneway_draw::html::Picture;
use laneway_papers::{
    Judgement, Outcome, PAPERS, Paper, Part, Reproduced, Request, document, draw, path_migration,
};
use laneway_report::table::wrap;

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::{lab, words};

/// Every paper, one after the other.
const ALL: &str = "all";

const VERDICTS: &str = "A claim holds, or differs; differences that the page above explains have \
                        its number and a range. Exit code 0: all that was asked for was measured, \
                        and every difference is a known one within its range. 1: one is not. 3: \
                        something was not measured, which is listed; the rest is kept.";

pub fn command() -> Command {
    Command::new("reproduce")
        .about("Repeats the experiments of a paper and shows its figures beside ours")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(PAPERS.iter().map(|paper| paper_command(paper)))
        .subcommand(all_command())
}

fn paper_command(paper: &Paper) -> Command {
    Command::new(paper.name)
        .about(paper.about)
        .after_help(format!(
            "{} What is read from the paper, what is not there yet, and reasons for differences: \
             {}.\n\nExamples:\n  \
             laneway reproduce {name}\n  \
             laneway reproduce {name} --part {} --svg figures\n  \
             laneway reproduce {name} --quick --export {name}.html\n  \
             laneway reproduce {name} --format json\n\n{VERDICTS}",
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
        .args(shared_args())
        .args((paper.name == path_migration::PAPER.name).then(pairs_arg))
        .args(output::args())
}

fn all_command() -> Command {
    let pages: Vec<&str> = PAPERS.iter().map(|paper| paper.page).collect();
    Command::new(ALL)
        .about("Every paper: one table of claims, and one exit code")
        .after_help(format!(
            "Rows have a column `paper`. --quick leaves out parts that take minutes, and takes at \
             most five; without it, it takes at most forty. The page of a paper is docs/papers/ \
             and its name: {}.\n\nExamples:\n  \
             laneway reproduce all --quick\n  \
             laneway reproduce all --budget 20min --export papers.json\n\n{VERDICTS}",
            pages.join(", ")
        ))
        .args(shared_args())
        .arg(pairs_arg())
        .args(output::args())
}

/// What every paper takes.
fn shared_args() -> [Arg; 4] {
    [
        Arg::new("quick").long("quick").action(ArgAction::SetTrue).help(
            "Fewer queue pairs and repetitions, and no part that takes minutes unless --part names \
             it",
        ),
        Arg::new("budget").long("budget").value_name("TIME").help(
            "No measurement goes on after this time, such as 10min; what was measured is kept, and \
             the rest is listed [default: as long as each part needs]",
        ),
        Arg::new("strict")
            .long("strict")
            .action(ArgAction::SetTrue)
            .help("Exit with 1 for every difference, also a known one"),
        Arg::new("svg")
            .long("svg")
            .value_name("DIR")
            .help("Also draw the figures, as DIR/figure-1.svg and so on"),
    ]
}

fn pairs_arg() -> Arg {
    Arg::new("pairs")
        .long("pairs")
        .value_name("N")
        .value_parser(value_parser!(u64).range(4..=4096))
        .default_value("512")
        .help("The largest number of queue pairs")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Exit::Usage) };
    let papers: Vec<&'static Paper> =
        PAPERS.into_iter().filter(|paper| name == ALL || paper.name == name).collect();
    run_papers(&papers, matches)
}

fn run_papers(papers: &[&'static Paper], matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    output::ensure_open()?;
    let folder = matches.get_one::<String>("svg").map(Path::new);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| {
            let what = format!("cannot make the folder `{}`", folder.display());
            Failure::environment(what, error.to_string(), "a folder in which you can create files")
        })?;
    }
    let request = request(matches)?;
    let all = papers.iter().map(|paper| reproduce(paper, &request, papers.len() > 1));
    let all = all.collect::<Result<Vec<Reproduced>, Failure>>()?;
    if let Some(folder) = folder {
        draw_all(folder, &all)?;
    }
    let document = document(&all);
    let judgement = Judgement::of(&all);
    let output = output.with_pictures(pictures(&all));
    if output.format == Format::Table {
        output.save(&document)?;
        output::print(&text(&all, &judgement))?;
    } else {
        output.write(&document, None)?;
    }
    ended(&judgement, matches.get_flag("strict"))
}

/// What is asked for.
fn request(matches: &ArgMatches) -> Result<Request, Failure> {
    let parts = matches.try_get_many::<String>("part").ok().flatten().unwrap_or_default();
    let budget = matches.get_one::<String>("budget");
    let budget = budget.map(|text| words::seconds("budget", text)).transpose()?;
    let pairs = matches.try_get_one::<u64>("pairs").ok().flatten().copied();
    let usual = Request::default();
    Ok(Request {
        parts: parts.cloned().collect(),
        quick: matches.get_flag("quick"),
        // One that no clock reaches is not a limit.
        deadline: budget
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .and_then(|time| Instant::now().checked_add(time)),
        program: lab::program()?,
        pairs: pairs.map_or(usual.pairs, |pairs| pairs as usize),
    })
}

/// The wanted parts of a paper. Among several papers, one that fails loses none of the others.
fn reproduce(
    paper: &'static Paper,
    request: &Request,
    among_several: bool,
) -> Result<Reproduced, Failure> {
    let bar = if paper.measures { Bar::measuring(true).into() } else { Bar::working() };
    match (paper.reproduce)(request, &*bar) {
        Ok(parts) => Ok(Reproduced { paper, parts }),
        Err(error) if among_several => {
            Ok(Reproduced { paper, parts: vec![Part::not_measured(ALL, error)] })
        }
        Err(error) => Err(advice::path::paper(error)),
    }
}

/// Claims and curves of each part, what must be known of each paper, and what it all adds up to.
fn text(all: &[Reproduced], judgement: &Judgement) -> String {
    let style = output::table_style();
    let mut texts: Vec<String> = Vec::new();
    for Reproduced { paper, parts } in all {
        if all.len() > 1 {
            texts.push(format!("== {}\n", paper.name));
        }
        texts.extend(parts.iter().map(|part| part.text_as(&style)));
        texts.push(paper.notes.iter().map(|note| wrap(note, style.width) + "\n").collect());
    }
    let pages: Vec<&str> = all.iter().map(|one| one.paper.page).collect();
    let sentences = judgement.sentences(&pages);
    texts.push(sentences.iter().map(|said| wrap(said, style.width) + "\n").collect());
    texts.join("\n")
}

/// The exit code, with its reason where it is not 0.
fn ended(judgement: &Judgement, strict: bool) -> Result<Exit, Failure> {
    match judgement.outcome(strict) {
        Outcome::Done => Ok(Exit::Done),
        Outcome::Differs => Ok(Exit::Gate),
        Outcome::NotMeasured => {
            let what = match judgement.figures {
                0 => "nothing was measured".to_owned(),
                _ => format!("{} of what was asked for not measured", judgement.missing.len()),
            };
            let try_this =
                "root for a lab, --budget for more time, or --part for what can be measured here";
            const NAMED: usize = 3;
            let named = &judgement.missing[..judgement.missing.len().min(NAMED)];
            let cause = match judgement.missing.len() - named.len() {
                0 => named.join("; "),
                more => format!("{}; and {more} more, which the output lists", named.join("; ")),
            };
            Err(Failure::environment(what, cause, try_this))
        }
    }
}

/// Draws what can be drawn; where there are several papers, their names tell figures apart.
fn draw_all(folder: &Path, all: &[Reproduced]) -> Result<(), Failure> {
    let mut any = false;
    for Reproduced { paper, parts } in all {
        for part in parts.iter().filter(|part| part.is_drawn()) {
            let name = match all.len() {
                1 => format!("{}.svg", part.name),
                _ => format!("{}-{}.svg", paper.name, part.name),
            };
            let file = folder.join(name);
            output::replace(&file, &draw(part))?;
            output::note(&format!("wrote {}", file.display()));
            any = true;
        }
    }
    if any {
        return Ok(());
    }
    let drawn = all.first().map_or("", |one| one.paper.drawn);
    let cause = "none of these parts is a figure with curves or bars";
    Err(Failure::usage("nothing to draw", cause, format!("--part {drawn} --svg DIR")))
}

/// The drawings of a page, each with what must be known of it.
fn pictures(all: &[Reproduced]) -> Vec<Picture> {
    let parts = all.iter().flat_map(|one| &one.parts);
    let picture = |part: &Part| Picture {
        heading: part.heading.to_owned(),
        svg: draw(part),
        remarks: part.remarks.clone(),
    };
    parts.filter(|part| part.is_drawn()).map(picture).collect()
}
