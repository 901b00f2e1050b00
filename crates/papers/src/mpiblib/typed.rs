//! The commands that a person would type for table 1 and figure 2, run as they are.

use std::path::Path;
use std::thread;

use laneway_core::{Collective as Kind, Stage};
use laneway_report::{Record, read};

use super::cluster::PLATFORM;
use crate::error::PaperError;
use crate::typed::command;

/// A timing method by the words of `laneway measure coll`.
pub struct Method {
    pub name: &'static str,
    words: &'static [&'static str],
}

/// In the order of table 1, and after the paper's three the command's own.
pub static METHODS: [Method; 4] = [
    // The paper's cost comes from comparing the clocks for every repetition.
    Method { name: "global", words: &["--resync", "1", "--sync", "offset"] },
    Method { name: "maximum", words: &[] },
    Method { name: "root", words: &[] },
    Method { name: "start-time", words: &["--truth"] },
];

/// What a command says of one size, in microseconds.
#[derive(Clone, Copy)]
pub struct Point {
    pub size: u64,
    pub time: f64,
    pub cost: f64,
    /// How far apart the ranks began.
    pub skew: Option<f64>,
    pub truth: Option<f64>,
}

/// One benchmark: a command and its rows.
pub struct Run {
    pub method: &'static Method,
    pub line: String,
    pub points: Vec<Point>,
}

impl Run {
    /// Virtual seconds of all sizes together.
    pub fn seconds(&self) -> f64 {
        self.points.iter().map(|point| point.cost).sum::<f64>() * 1e-6
    }
}

/// One command for each method, two at a time where there are cores for it.
pub fn runs(program: &Path, operation: Kind, stage: &Stage) -> Result<Vec<Run>, PaperError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all = Vec::new();
    for some in METHODS.chunks(cores.min(METHODS.len())) {
        let found: Vec<Result<Run, PaperError>> = thread::scope(|scope| {
            let one = |method| {
                let found = run(program, operation, method);
                stage.step();
                found
            };
            let started = |method| scope.spawn(move || one(method));
            let started: Vec<_> = some.iter().map(started).collect();
            let ended = |handle: thread::ScopedJoinHandle<'_, _>| {
                handle
                    .join()
                    .unwrap_or_else(|_| Err(failed("laneway measure coll", "it stopped early")))
            };
            started.into_iter().map(ended).collect()
        });
        all.extend(found.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(all)
}

fn failed(line: &str, why: impl Into<String>) -> PaperError {
    PaperError::Command { line: line.into(), why: why.into() }
}

fn run(program: &Path, operation: Kind, method: &'static Method) -> Result<Run, PaperError> {
    let backend = format!("sim:{PLATFORM}");
    // paper: mpiblib 5: 0 to 100 KB with a stride of 1 KB, one repetition, both linear in LAM.
    let mut words = vec!["measure", "coll", operation.name(), "--algorithm", "linear"];
    words.extend(["--sizes", "0:100K:+1K", "--reps", "1", "--timing", method.name]);
    words.extend(method.words);
    words.extend(["--backend", &backend]);
    let line = format!("laneway {}", words.join(" "));
    words.extend(["--format", "json"]);
    let ended =
        command(program, &words).output().map_err(|error| failed(&line, error.to_string()))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        return Err(failed(&line, format!("it ended with {}, and said: {said}", ended.status)));
    }
    let found = read(method.name, &String::from_utf8_lossy(&ended.stdout));
    let found = found.map_err(|error| failed(&line, error.to_string()))?;
    let points: Option<Vec<Point>> = found.rows.iter().map(point).collect();
    let points = points.filter(|points| !points.is_empty());
    let points = points.ok_or_else(|| failed(&line, "its rows lack a figure"))?;
    Ok(Run { method, line, points })
}

fn point(row: &Record) -> Option<Point> {
    Some(Point {
        size: row.number("size_bytes")? as u64,
        time: row.number("time_us")?,
        cost: row.number("cost_us")?,
        skew: row.number("start_skew_us"),
        truth: row.number("truth_us"),
    })
}
