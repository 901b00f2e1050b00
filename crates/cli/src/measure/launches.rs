//! `--launches N`: the whole run again and again, because placement and memory differ between
//! launches: the interval over launches is the one to trust.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::{Document, Exit, Failure, Row, Value};
use laneway_report::{Record, Run, read};
use laneway_stats::log_mean_interval;

use super::row::brief;
use crate::output::Output;
use crate::progress::Progress;

/// More launches than this are a mistake.
const MOST_LAUNCHES: i64 = 1000;

/// What tells points apart.
const KEY: [&str; 7] = ["op", "algorithm", "form", "ranks", "root", "size_bytes", "isolation"];

pub fn args() -> [Arg; 2] {
    [
        Arg::new("launches")
            .long("launches")
            .value_name("N")
            .value_parser(value_parser!(u32).range(1..=MOST_LAUNCHES))
            .help("Launch everything N times, and give the interval over the launches"),
        Arg::new("launcher")
            .long("launcher")
            .value_name("WORDS")
            .help("What starts the ranks of each launch, as \"mpirun -n 4\""),
    ]
}

/// Runs the launches, if several were asked for.
pub fn run(matches: &ArgMatches, output: &Output, level: f64) -> Result<Option<Exit>, Failure> {
    let launches = matches.get_one::<u32>("launches").copied().unwrap_or(1);
    let launcher = matches.get_one::<String>("launcher");
    if laneway_local::is_rank() || (launches == 1 && launcher.is_none()) {
        return Ok(None);
    }
    if let Some(started) = laneway_mpi::launched() {
        let what = "a launcher cannot be launched by its own rank";
        let cause = format!("this process was started by {started:?}");
        let try_this = "laneway measure coll … --launches 5 --launcher \"mpirun -n 4\"";
        return Err(Failure::usage(what, cause, try_this));
    }
    let words: Vec<&str> = launcher.map_or(Vec::new(), |text| text.split_whitespace().collect());
    let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
    let document = |runs: &[Run]| {
        let env = Row::new().with("launcher", words.join(" "));
        let params = Row::new().with("launches", launches).with("seed", seed);
        let rows = merged(runs, level)?;
        Ok::<_, Failure>(Document { verb: "measure", env, params, rows, summary: None })
    };
    let mut progress = Progress::new(launches as usize, true);
    let (mut runs, mut exit) = (Vec::new(), Exit::Done);
    for number in 0..launches {
        progress.at(number as usize, "launches");
        let (run, missed) = launch(&words, seed.wrapping_add(u64::from(number)), number)?;
        if missed {
            exit = Exit::Precision;
        }
        runs.push(run);
        output.save(&document(&runs)?)?;
    }
    drop(progress);
    let full = document(&runs)?;
    let shown = full.rows.iter().map(brief).collect();
    output.write(&full, Some(&Document { rows: shown, ..full.clone() }))?;
    Ok(Some(exit))
}

/// This command's own words, but for those that belong to the outer run.
fn own_words() -> Vec<OsString> {
    const OUTER: [&str; 5] = ["--launches", "--launcher", "--format", "--export", "--seed"];
    let mut words = Vec::new();
    let mut all = std::env::args_os().skip(1);
    while let Some(word) = all.next() {
        let text = word.to_string_lossy();
        if OUTER.contains(&&*text) {
            all.next();
        } else if !OUTER.iter().any(|outer| text.starts_with(&format!("{outer}="))) {
            words.push(word);
        }
    }
    words
}

/// One launch: its rows, and whether it missed its precision.
fn launch(launcher: &[&str], seed: u64, number: u32) -> Result<(Run, bool), Failure> {
    let failed = |cause: String| {
        let what = format!("launch {} failed", number + 1);
        Failure::environment(what, cause, "the same command without --launches")
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut words: Vec<OsString> = launcher.iter().map(OsString::from).collect();
    words.push(program.into_os_string());
    words.extend(own_words());
    words.extend(["--seed".into(), seed.to_string().into(), "--format".into(), "json".into()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove("LANEWAY_FORMAT").stdin(Stdio::null());
    let found = command
        .output()
        .map_err(|error| failed(format!("{}: {error}", words[0].to_string_lossy())))?;
    let said = String::from_utf8_lossy(&found.stderr).trim().to_owned();
    let missed = found.status.code() == Some(Exit::Precision as i32);
    if !found.status.success() && !missed {
        return Err(failed(said));
    }
    let text = String::from_utf8_lossy(&found.stdout);
    // A launcher may say something of its own before.
    let json = text.find('{').map_or("", |at| &text[at..]);
    let name = format!("launch {}", number + 1);
    let run = read(&name, json).map_err(|error| failed(error.to_string()))?;
    Ok((run, missed))
}

/// The words and figures that a row of several launches shares with those of one.
fn merged(runs: &[Run], level: f64) -> Result<Vec<Row>, Failure> {
    let mut points: Vec<(Vec<Option<Value>>, Vec<&Record>)> = Vec::new();
    for record in runs.iter().flat_map(|run| &run.rows) {
        let key: Vec<Option<Value>> = KEY.iter().map(|name| record.get(name).cloned()).collect();
        match points.iter_mut().find(|(other, _)| *other == key) {
            Some((_, records)) => records.push(record),
            None => points.push((key, vec![record])),
        }
    }
    points.iter().map(|(_, records)| row(records, runs.len(), level)).collect()
}

fn row(records: &[&Record], launches: usize, level: f64) -> Result<Row, Failure> {
    let first = records[0];
    let all = |name: &str| records.iter().filter_map(|r| r.number(name)).collect::<Vec<f64>>();
    let times = all("time_us");
    let positive = times.len() == launches && times.iter().all(|time| *time > 0.0);
    if !positive {
        let what = "a point is missing from some launches";
        let cause =
            format!("{} of {launches} launches have it: {:?}", times.len(), first.get("op"));
        return Err(Failure::environment(what, cause, "fewer --sizes, or --launches 1"));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let estimate = mean(&times.iter().map(|time| time.ln()).collect::<Vec<_>>()).exp();
    let interval = log_mean_interval(&times, level);
    let word = |name: &str| first.get(name).cloned().unwrap_or(Value::Nothing);
    let mut flags: Vec<String> = Vec::new();
    for record in records {
        if let Some(Value::Text(text)) = record.get("flags") {
            flags.extend(text.split(',').filter(|flag| !flag.is_empty()).map(str::to_owned));
        }
    }
    flags.sort();
    flags.dedup();
    let total = |name: &str| all(name).iter().sum::<f64>() as u64;
    Ok(Row::new()
        .with("op", word("op"))
        .with("algorithm", word("algorithm"))
        .with("form", word("form"))
        .with("ranks", word("ranks"))
        .with("root", word("root"))
        .with("size_bytes", word("size_bytes"))
        .with("timing", word("timing"))
        .with("isolation", word("isolation"))
        .with("launches", launches as u64)
        .with("reps", total("reps"))
        .with("rejected", total("rejected"))
        .with("time_us", estimate)
        .with("ci_low_us", interval.map(|interval| interval.low))
        .with("ci_high_us", interval.map(|interval| interval.high))
        .with("ci_level", interval.map(|interval| interval.level))
        .with("ci_scope", interval.map(|_| "launches"))
        .with("mean_us", mean(&all("mean_us")))
        .with("median_us", laneway_stats::median(&times))
        .with("min_us", all("min_us").into_iter().fold(f64::INFINITY, f64::min))
        .with("max_us", all("max_us").into_iter().fold(0.0, f64::max))
        .with("p99_us", all("p99_us").into_iter().fold(0.0, f64::max))
        .with("clock_error_us", all("clock_error_us").into_iter().fold(0.0, f64::max))
        .with("flags", flags.join(","))
        .with("launch_times_us", times))
}
