//! `laneway sim --record`: what each link carried over time, as rows or as a picture.

use clap::{Arg, ArgMatches};
use laneway_coll::{Algorithm, Params};
use laneway_core::{Failure, Row};
use laneway_report::links::{Interval, LinkUse};
use laneway_sim::network::Network;
use laneway_sim::platform::parse_time;
use laneway_sim::{Direction, Intervals, Recorder, Resource, directions};

use super::Plan;
use crate::links::RecordFile;

/// Intervals of a run, unless their length is given.
const INTERVALS: usize = 200;
/// More intervals than this are a mistake.
const MOST_INTERVALS: f64 = 100_000.0;

pub fn args() -> [Arg; 2] {
    [
        Arg::new("record")
            .long("record")
            .value_name("FILE")
            .help("Write the rate of each link over time: .json, .csv, .svg, .html; for one run"),
        Arg::new("every")
            .long("every")
            .value_name("TIME")
            .requires("record")
            .help("How long an interval of --record is: 1ms [default: the run in 200 intervals]"),
    ]
}

/// A record that was asked for, checked before anything runs.
pub struct Wanted {
    file: RecordFile,
    every: Option<f64>,
    algorithm: (&'static Algorithm, Params),
    size: u64,
}

impl Wanted {
    pub fn from(matches: &ArgMatches, plan: &Plan) -> Result<Option<Wanted>, Failure> {
        let Some(file) = matches.get_one::<String>("record") else { return Ok(None) };
        let file = RecordFile::from(file)?;
        let every = match matches.get_one::<String>("every") {
            None => None,
            Some(text) => Some(interval(text)?),
        };
        let (algorithm, size) = plan.one_run("a record shows one run")?;
        Ok(Some(Wanted { file, every, algorithm, size }))
    }

    /// Runs once for the time that it takes, and once more to watch.
    pub fn write(&self, plan: &Plan) -> Result<(), Failure> {
        let refused = |why| Failure::usage("nothing to record", why, "another --algorithm");
        let end = plan.simulate(self.algorithm, self.size, None)?.map_err(refused)?.finish;
        let intervals = self.intervals(end)?;
        let mut recorder = Recorder::new(plan.platform.resources().len(), intervals);
        plan.simulate(self.algorithm, self.size, Some(&mut recorder))?.map_err(refused)?;
        let uses = link_uses(plan, intervals, recorder.finish());
        if uses.is_empty() {
            let cause = "no byte passed a link";
            return Err(Failure::usage("nothing to record", cause, "--ranks 2 --sizes 64K"));
        }
        let params = Row::new()
            .with("platform", plan.platform.name())
            .with("op", plan.collective.name())
            .with("algorithm", self.algorithm.0.name)
            .with("ranks", plan.ranks)
            .with("root", plan.collective.has_root().then_some(plan.root))
            .with("size_bytes", self.size)
            .with("time_us", end * 1e6)
            .with("every_us", intervals.begin(1) * 1e6);
        let title = plan.title(self.algorithm.0, self.size);
        self.file.write(&title, uses, plan.env(), params)
    }

    fn intervals(&self, end: f64) -> Result<Intervals, Failure> {
        if end <= 0.0 {
            let cause = "the run takes no time";
            return Err(Failure::usage("nothing to record", cause, "--ranks 2 --sizes 64K"));
        }
        let Some(every) = self.every else { return Ok(Intervals::divide(end, INTERVALS)) };
        if end / every > MOST_INTERVALS {
            let cause = format!("the run of {:.6} s would have {:.0} of them", end, end / every);
            let try_this = format!("--every {:.0}us", (end / INTERVALS as f64 * 1e6).ceil());
            return Err(Failure::usage("the intervals are too short", cause, try_this));
        }
        Ok(Intervals::new(end, every))
    }
}

fn interval(text: &str) -> Result<f64, Failure> {
    let refuse = |cause| Failure::usage(format!("no interval `{text}`"), cause, "--every 1ms");
    match parse_time(text).map_err(refuse)? {
        0.0 => Err(refuse("an interval is longer than 0".into())),
        seconds => Ok(seconds),
    }
}

/// The bytes of each resource as directions of links; those that carried nothing are left out.
fn link_uses(plan: &Plan, intervals: Intervals, carried: Vec<Vec<f64>>) -> Vec<LinkUse> {
    let resources = plan.platform.resources();
    let named = directions(resources).into_iter().zip(resources).zip(carried);
    let used = named.filter(|(_, bytes)| !bytes.is_empty());
    let of = |((named, resource), bytes): ((Direction, &Resource), Vec<f64>)| {
        let interval = |(number, bytes): (usize, f64)| {
            let (at, end) = (intervals.begin(number), intervals.begin(number + 1));
            Interval { at_us: at * 1e6, length_us: (end - at) * 1e6, bytes }
        };
        LinkUse {
            link: named.link,
            direction: named.direction.to_owned(),
            // What is not shared has no capacity: each message may have the whole rate.
            capacity_mbit: resource.shared.then_some(resource.rate * 8e-6),
            intervals: bytes.into_iter().enumerate().map(interval).collect(),
        }
    };
    used.map(of).collect()
}
