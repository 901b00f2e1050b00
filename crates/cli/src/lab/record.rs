//! `laneway lab record`: the rate of every link over time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_lab::{LabName, Link, Passed, Recorder, read_plan};
use laneway_report::links::{Interval, LinkUse};

use super::{failure, lab_arg, lab_name};
use crate::failure::{Exit, Failure};
use crate::links::RecordFile;
use crate::words;

pub fn command() -> Command {
    Command::new("record")
        .about("Records the rate of every link over time")
        .after_help(
            "The same rows as `laneway sim --record`, so that both can be drawn on one page.\n\n\
             Examples:\n  laneway lab record links.csv --for 10s\n  \
             laneway lab record links.svg --for 5s --every 50ms",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("Ends with .json, .csv, .svg or .html"),
        )
        .arg(
            Arg::new("for")
                .long("for")
                .value_name("TIME")
                .default_value("10s")
                .help("How long to record"),
        )
        .arg(lab_arg())
        .arg(every_arg())
}

pub fn every_arg() -> Arg {
    Arg::new("every")
        .long("every")
        .value_name("TIME")
        .default_value("100ms")
        .help("Length of an interval, from 1ms to 1h")
}

/// A time of the command line, within bounds that make sense for it.
fn time(matches: &ArgMatches, name: &str) -> Result<Duration, Failure> {
    let text = matches.get_one::<String>(name).map_or("", String::as_str);
    match words::seconds(name, text) {
        Ok(seconds) if (1e-3..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => {
            let what = format!("`--{name} {text}` is not a time from 1ms to 1h");
            Err(Failure::usage(what, "", format!("--{name} 100ms")))
        }
    }
}

pub fn every(matches: &ArgMatches) -> Result<Duration, Failure> {
    time(matches, "every")
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let (lab, every, length) = (lab_name(matches)?, every(matches)?, time(matches, "for")?);
    let file = RecordFile::from(matches.get_one::<String>("file").map_or("", String::as_str))?;
    let plan = read_plan(&lab).map_err(failure)?;
    let recorder = Recorder::new(&lab, &plan).map_err(failure)?;
    let stop = AtomicBool::new(false);
    let links = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(length);
            stop.store(true, Ordering::Release);
        });
        recorder.record(every, &stop)
    });
    save(&file, &lab, links.map_err(failure)?)?;
    Ok(Exit::Done)
}

/// Writes what links carried.
pub fn save(file: &RecordFile, lab: &LabName, links: Vec<Link>) -> Result<(), Failure> {
    let params = Row::new().with("lab", lab.as_str());
    let uses = links.iter().flat_map(uses).collect();
    file.write(&format!("lab {}", lab.as_str()), uses, Row::new(), params)
}

/// Both directions of a link; what carried nothing is left out.
fn uses(link: &Link) -> impl Iterator<Item = LinkUse> {
    [0, 1].into_iter().filter_map(|way| {
        let interval = |passed: &Passed| Interval {
            at_us: 1e6 * passed.at,
            length_us: 1e6 * passed.length,
            bytes: passed.bytes[way] as f64,
        };
        let used = LinkUse {
            link: link.name.clone(),
            direction: link.directions[way].to_string(),
            capacity_mbit: link.capacity[way].map(|rate| 8e-6 * rate),
            intervals: link.passed.iter().map(interval).collect(),
        };
        (used.bytes() > 0.0).then_some(used)
    })
}
