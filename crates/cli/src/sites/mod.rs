//! `laneway sites`: collectives over several sites, chosen by simulation and held to their bound.

mod measure;

use std::ops::RangeInclusive;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::error::nearest;
use laneway_core::units::counted;
use laneway_core::{Collective, Document, Row, Value};
use laneway_report::fastest::{bytes, listed};
use laneway_report::table::{cell, significant};
use laneway_sim::platform::Platform;
use laneway_sites::Calls;

use crate::advice::sites::{no_choice, no_lanes};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::platform;
use crate::progress::Bar;
use crate::words;

pub fn command() -> Command {
    Command::new("sites")
        .about("Chooses the fastest algorithm over several sites, and computes a lower bound")
        .after_help(
            "Every algorithm is simulated on the platform, the fastest ones with many settings. \
             `bound_us` is a lower bound for any scatter or gather (max-flow and latency). With \
             --lanes: the time of the multi-lane paper's algorithm for each number of lanes, and \
             what its cost model predicts.\n\n\
             Examples:\n  \
             laneway sites scatter,gather --platform two-sites:32x32 --sizes 16K,256K,4M\n  \
             laneway sites bcast,allreduce --platform two-sites:16x16 --sizes 1M --all\n  \
             laneway sites --platform sites:32,16,8,uplink=10Gbit --sizes 1M --root 40 --all\n  \
             laneway sites --platform two-sites:32x32 --sizes 4M --lanes 1:32\n  \
             mpirun -n 16 laneway sites measure -o found.toml    then --platform found.toml",
        )
        .arg(
            Arg::new("platform")
                .long("platform")
                .value_name("P")
                .default_value("two-sites:32x32")
                .help("A TOML file, or a generator: two-sites:8x8, sites:32,16,8, …"),
        )
        .arg(
            words::ops_arg()
                .help("Operations, comma-separated: bcast,scatter, or all [default: scatter]"),
        )
        .arg(words::old_ops_arg("op"))
        .arg(words::sizes_arg("Bytes", "1K,16K,256K,4M"))
        .arg(
            Arg::new("blocks")
                .long("blocks")
                .value_name("LIST")
                .value_delimiter(',')
                .conflicts_with_all(["sizes", "lanes"])
                .help(
                    "Bytes of each rank's block for scatterv, gatherv and allgatherv, repeated \
                     for further ranks: 1K,64K,0",
                ),
        )
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("R")
                .value_parser(value_parser!(u32))
                .default_value("0"),
        )
        .arg(
            Arg::new("lanes")
                .long("lanes")
                .value_name("A:B")
                .conflicts_with("all")
                .help("One row for each number of lanes of the multi-lane paper's algorithm"),
        )
        .arg(
            Arg::new("all")
                .long("all")
                .action(clap::ArgAction::SetTrue)
                .help("One row for each algorithm, with the best setting found"),
        )
        .args(output::args())
        .args_conflicts_with_subcommands(true)
        .subcommand(measure::command())
}

/// What the command line asked for, checked.
struct Plan {
    platform: Platform,
    operations: Vec<Collective>,
    sizes: Vec<u64>,
    root: u32,
    /// Bytes of each rank's block; empty if blocks are equal.
    blocks: Vec<u64>,
}

impl Plan {
    fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
        let spec = matches.get_one::<String>("platform").map_or("", String::as_str);
        let platform = platform::read("--platform ", spec)?;
        refuse_verb(matches)?;
        let operations = words::ops("sites", matches, "scatter")?;
        let sizes = words::sizes(texts("sizes"))?;
        let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
        let hosts = platform.hosts();
        if root >= hosts {
            let cause = format!("the ranks are 0 to {}", hosts - 1);
            return Err(Failure::usage(format!("root {root} is out of range"), cause, "--root 0"));
        }
        let blocks = texts("blocks").map(|text| words::size(text));
        let blocks = blocks.collect::<Result<Vec<u64>, Failure>>()?;
        if blocks.len() > hosts as usize {
            let cause = format!("{} blocks for {hosts} ranks", blocks.len());
            return Err(Failure::usage("too many blocks", cause, "--blocks 1K,64K"));
        }
        Ok(Plan { platform, operations, sizes, root, blocks })
    }

    fn calls(&self) -> Calls<'_> {
        let Plan { platform, operations, sizes, root, blocks } = self;
        Calls { platform, operations, sizes, root: *root, blocks }
    }

    fn document(&self, rows: Vec<Row>, summary: Option<Row>) -> Document {
        let params = Row::new().with("platform", self.platform.name()).with("root", self.root);
        Document { verb: "sites", env: Row::new(), params, rows, summary }
    }

    /// What is chosen, or all that was tried, and how.
    fn choose(&self, all: bool) -> Result<(Document, Vec<String>), Failure> {
        let begun = Instant::now();
        let choices = self.calls().choose(all, &*Bar::working()).map_err(no_choice)?;
        let choosing_ms = begun.elapsed().as_secs_f64() * 1e3;
        if let Some(why) = choices.no_bound {
            output::note(&format!("no lower bound is known: {why}"));
        }
        if let Some(what) = choices.left_out {
            output::note(&format!("the bound does not include: {what}"));
        }
        for one in &choices.unsearched {
            let names: Vec<String> = one.algorithms.iter().map(|name| name.to_string()).collect();
            let (op, size, names) = (one.op.name(), bytes(one.size), listed(&names));
            output::note(&format!(
                "not searched: {op} at {size} by {names}, which is too much work to simulate"
            ));
        }
        if !choices.limits.is_empty() {
            output::note(&format!("the bound is set by {}", choices.limits.join(", ")));
        }
        let answers = answers(&choices.rows);
        let summary = Row::new().with("simulated", choices.simulated);
        let summary = summary.with("choosing_ms", choosing_ms).with("fastest", answers.join(" "));
        let simulated = counted(choices.simulated, "simulation");
        let chosen = format!("Chosen by {simulated} in {} ms.", significant(choosing_ms));
        let sentences = std::iter::once(chosen).chain(answers).collect();
        Ok((self.document(choices.rows, Some(summary)), sentences))
    }

    /// The multi-lane paper's algorithm for each number of lanes.
    fn over_lanes(&self, range: &str) -> Result<(Document, Vec<String>), Failure> {
        let lanes = lane_range(range)?;
        let times = self.calls().over_lanes(lanes, &*Bar::working());
        let times = times.map_err(|error| no_lanes(error, range))?;
        for best in &times.best {
            output::note(&format!(
                "{} of {} bytes: the printed model takes {} lanes with a constant rate of each, {} \
                 where they share the link; corrected {}, with sends that overlap {}",
                best.op.name(),
                best.size,
                best.printed,
                best.shared,
                best.corrected,
                best.overlapped
            ));
        }
        let fastest =
            laneway_report::fastest(&times.rows.iter().map(lanes_row).collect::<Vec<_>>());
        let summary = Row::new().with("fastest", fastest.join(" "));
        Ok((self.document(times.rows, Some(summary)), fastest))
    }
}

/// Refuses a word that is not an operation, but may be the verb.
fn refuse_verb(matches: &ArgMatches) -> Result<(), Failure> {
    let mut words = matches.get_many::<String>("op").unwrap_or_default();
    let is_verb = |word: &&String| {
        words::known_collective(word).is_none() && nearest(word, ["measure"]).is_some()
    };
    match words.find(is_verb) {
        Some(word) => Err(words::unknown_collective(word, "laneway sites measure")),
        None => Ok(()),
    }
}

/// `1:32`, or one number.
fn lane_range(range: &str) -> Result<RangeInclusive<u32>, Failure> {
    let (low, high) = range.split_once(':').unwrap_or((range, range));
    match (low.parse::<u32>(), high.parse::<u32>()) {
        (Ok(low), Ok(high)) => Ok(low..=high),
        _ => {
            let what = format!("`{range}` is not a range of lanes");
            Err(Failure::usage(what, "a range is a number, or two as in 1:32", "--lanes 1:32"))
        }
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(("measure", matches)) = matches.subcommand() {
        return measure::run(matches);
    }
    let output = Output::from(matches)?;
    let plan = Plan::from(matches)?;
    let (document, sentences) = match matches.get_one::<String>("lanes") {
        Some(range) => plan.over_lanes(range)?,
        None => plan.choose(matches.get_flag("all"))?,
    };
    output.write_said(&document, None, &sentences)?;
    Ok(Exit::Done)
}

/// The fastest setting of each call, with its lower bound where one is known.
fn answers(rows: &[Row]) -> Vec<String> {
    let number = |row: &Row, name: &str| match row.get(name) {
        Some(Value::Real(number)) => Some(*number),
        _ => None,
    };
    let time = |row: &Row| number(row, "predicted_us").unwrap_or(f64::INFINITY);
    let key = |row: &Row| ["op", "size_bytes"].map(|name| row.get(name).cloned());
    let answer = |calls: &[Row]| {
        let best = time(calls.iter().min_by(|a, b| time(a).total_cmp(&time(b)))?);
        let level = calls.iter().filter(|row| time(row) == best);
        let names: Vec<String> =
            level.map(|row| row.get("spelled").map_or(String::new(), cell)).collect();
        let (first, equal) = (&calls[0], if names.len() > 1 { " (equal)" } else { "" });
        let size = number_of(first, "size_bytes").map_or(String::new(), bytes);
        let bound = number(first, "bound_us")
            .map_or(String::new(), |bound| format!("; lower bound {}", duration(bound)));
        let direct = number(first, "direct_bound_us").map_or(String::new(), |direct| {
            let [by, direct_by] = ["bound_by", "direct_bound_by"]
                .map(|name| first.get(name).map_or(String::new(), cell));
            let direct = duration(direct);
            format!(" ({by}), without relays at third sites {direct} ({direct_by})")
        });
        let (op, names) = (first.get("op").map_or(String::new(), cell), listed(&names));
        let time = duration(best);
        Some(format!("Fastest {op} at {size}: {names}{equal}, {time}{bound}{direct}."))
    };
    rows.chunk_by(|a, b| key(a) == key(b)).filter_map(answer).collect()
}

fn number_of(row: &Row, name: &str) -> Option<u64> {
    match row.get(name) {
        Some(Value::Whole(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// A number of lanes as an algorithm among others.
fn lanes_row(row: &Row) -> Row {
    let lanes = number_of(row, "p").unwrap_or_default();
    row.only(|name| ["op", "size_bytes"].contains(&name))
        .with("algorithm", counted(lanes, "lane"))
        .with("time_us", row.get("simulated_us").cloned())
}

/// A time in the unit that suits it: `529 ms`.
fn duration(us: f64) -> String {
    let (number, unit) = match us {
        1e6.. => (us / 1e6, "s"),
        1e3.. => (us / 1e3, "ms"),
        _ => (us, "us"),
    };
    let digits = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.digits$} {unit}")
}
