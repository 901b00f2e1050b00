//! `laneway compare`: two files of measurements point by point, and a gate for what became slower.

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::counted;
use laneway_core::{Document, Row};
use laneway_report::Extent;
use laneway_report::compare::{Outliers, Point, Rule, Verdict, compare};

use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::report::{ROWS, load};
use crate::words::{LEVELS, share};

pub fn command() -> Command {
    Command::new("compare")
        .about("Compares two files of measurements and fails where the new one is slower")
        .after_help(
            "Files are JSON or CSV of laneway, or output of OSU or IMB. Points are matched by \
             operation, algorithm, ranks and size, and by whatever else both files tell apart. A \
             difference counts where it exceeds the threshold and the interval of the ratio does \
             not hold 1: from the samples where both files kept them, else from the intervals of \
             both figures, else by the threshold alone, which the note says. Figures of single \
             launches on a real machine count beyond 25 %, and are unknown below that. For \
             bandwidths higher is better. A file of a run that was stopped, or that lacks points \
             of the other, fails unless --allow-missing is given.\n\n\
             Exit codes: 0 nothing is slower, 1 something is or is missing, 2 nothing can be \
             compared.\n\n\
             Examples:\n  \
             laneway compare before.json after.json\n  \
             laneway compare osu-old.txt osu-new.txt --threshold 10%\n  \
             laneway compare all-sizes.json some-sizes.json --allow-missing\n  \
             laneway compare imb.txt run.json --format json | jq .summary",
        )
        .arg(Arg::new("old").value_name("OLD").required(true).help("What was measured before"))
        .arg(Arg::new("new").value_name("NEW").required(true).help("What was measured now"))
        .arg(
            Arg::new("threshold")
                .long("threshold")
                .value_name("SHARE")
                .default_value("5%")
                .help("Differences up to this share do not count"),
        )
        .arg(
            Arg::new("level")
                .long("level")
                .value_name("SHARE")
                .default_value("95%")
                .help("How sure the interval of a ratio is, where it comes from samples"),
        )
        .arg(
            Arg::new("allow-missing")
                .long("allow-missing")
                .action(ArgAction::SetTrue)
                .help("Compare what both files have: a run that was stopped may pass"),
        )
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Print every point, also of many pairs of ranks"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let threshold = share("threshold", text("threshold"), THRESHOLDS, "5%")?;
    let level = share("level", text("level"), LEVELS, "95%")?;
    let output = Output::from(matches)?;
    let (old, new) = (load(text("old"), ROWS)?, load(text("new"), ROWS)?);
    let allow_missing = matches.get_flag("allow-missing");
    let rule = Rule { threshold, level, allow_missing };
    let found = compare(&old, &new, &rule).map_err(|nothing| {
        let what = format!("nothing in `{}` and `{}` can be compared", old.name, new.name);
        Failure::usage(
            what,
            nothing.to_string(),
            "two files of one `laneway measure` command with --export",
        )
    })?;
    let params = Row::new()
        .with("old", text("old"))
        .with("new", text("new"))
        .with("threshold", threshold)
        .with("level", level)
        .with("allow_missing", allow_missing);
    let (rows, env, summary) = (found.rows(), Row::new(), Some(found.summary()));
    let document = Document { verb: "compare", env, params, rows, summary };
    let outliers = found.outliers().filter(|_| !matches.get_flag("all"));
    let (brief, mut sentences) = match outliers {
        Some(Outliers { rows, rest, mut sums, .. }) => {
            sums.push(match rest {
                0 => "Only points that stand out are shown; --all prints every point.".into(),
                rest => {
                    format!("{} stand out; --all prints them.", counted(rest as u64, "more point"))
                }
            });
            (Some(Document { rows, ..document.clone() }), sums)
        }
        None => (None, vec![found.sentence()]),
    };
    let is_refused = !allow_missing && found.gap().is_some();
    let allow = if is_refused { " --allow-missing accepts that." } else { "" };
    sentences.push(found.answer() + allow);
    output.write_said(&document, brief.as_ref(), &sentences)?;
    for run in [&old, &new] {
        if run.source.starts_with("laneway.") && run.extent == Extent::Unknown {
            let (file, counts) =
                (&run.name, "an older laneway wrote it, and it counts as complete");
            output::note(&format!("{file} does not say whether it is complete: {counts}"));
        }
    }
    let counts = |p: &&Point| matches!(p.verdict, Verdict::Slower | Verdict::Faster);
    let differ: Vec<&Point> = found.points.iter().filter(counts).collect();
    let single = differ.iter().filter(|point| point.is_single_launch).count();
    if single > 0 {
        output::note(&format!(
            "{single} of {} differences rest on single launches, which also differ from each other \
             when nothing changed: repeat the launches before you trust them",
            differ.len()
        ));
    }
    Ok(if found.passes() { Exit::Done } else { Exit::Gate })
}

const THRESHOLDS: [f64; 2] = [0.0, 10.0];
