//! `laneway sim --record`: what each link carried over time, as rows or as a picture.

use clap::{Arg, ArgMatches};
use laneway_core::Row;
use laneway_report::links::{Interval, LinkUse};
use laneway_sim::{LinkLoad, LinkRecord, record_links};
use laneway_sites::Run;

use super::Plan;
use crate::advice::sim::unrecorded;
use crate::failure::Failure;
use crate::links::RecordFile;
use crate::words;

pub fn args() -> [Arg; 2] {
    [
        Arg::new("record").long("record").value_name("FILE").help(
            "Write the rate of each link over time: .json, .csv, .svg or .html; needs one run",
        ),
        Arg::new("every")
            .long("every")
            .value_name("TIME")
            .requires("record")
            .help("The length of an interval of --record, as 1ms [default: 1/200 of the run]"),
    ]
}

/// A record that was asked for, checked before anything runs.
pub struct Wanted {
    file: RecordFile,
    every: Option<f64>,
    run: Run,
}

impl Wanted {
    pub fn from(matches: &ArgMatches, plan: &Plan) -> Result<Option<Wanted>, Failure> {
        let Some(file) = matches.get_one::<String>("record") else { return Ok(None) };
        let file = RecordFile::from(file)?;
        let every = match matches.get_one::<String>("every") {
            None => None,
            Some(text) => Some(words::seconds("every", text)?),
        };
        let run = plan.one_run("a record shows one run")?;
        Ok(Some(Wanted { file, every, run }))
    }

    /// Runs the schedule and writes what each link carried.
    pub fn write(&self, plan: &Plan) -> Result<(), Failure> {
        let Run { collective, algorithm, params, size } = self.run;
        let refused = |why| Failure::usage("nothing to record", why, "laneway info algorithms");
        let schedule = algorithm.schedule(&plan.calls().shape(collective, size), &params);
        let schedule = schedule.map_err(|refusal| refused(refusal.0))?;
        let record = record_links(&plan.platform, &*schedule, self.every);
        let record = record.map_err(|error| unrecorded(algorithm.name, error))?;
        if record.links.is_empty() {
            let cause = "no byte passed a link";
            return Err(Failure::usage("nothing to record", cause, "--ranks 2 --sizes 64K"));
        }
        let params = Row::new()
            .with("platform", plan.platform.name())
            .with("op", collective.name())
            .with("algorithm", algorithm.name)
            .with("ranks", plan.ranks)
            .with("root", plan.calls().root_of(collective))
            .with("size_bytes", size)
            .with("time_us", record.finish * 1e6)
            .with("every_us", record.intervals.begin(1) * 1e6);
        let title = plan.title(&self.run);
        self.file.write(&title, link_uses(record), plan.env(), params)
    }
}

/// The record as the report reads it, in microseconds and Mbit/s.
fn link_uses(record: LinkRecord) -> Vec<LinkUse> {
    let intervals = record.intervals;
    let interval = |(number, bytes): (usize, f64)| {
        let (at, end) = (intervals.begin(number), intervals.begin(number + 1));
        Interval { at_us: at * 1e6, length_us: (end - at) * 1e6, bytes }
    };
    let of = |load: LinkLoad| LinkUse {
        link: load.link,
        direction: load.direction.to_owned(),
        capacity_mbit: load.capacity.map(|rate| rate * 8e-6),
        intervals: load.bytes.into_iter().enumerate().map(interval).collect(),
    };
    record.links.into_iter().map(of).collect()
}
