//! The benchmarks of table 1 and figure 2: one sweep over sizes for each operation and method.

use std::thread;

use laneway_core::{Collective as Kind, Comm, Row, Stage, Value, talk};
use laneway_measure::sweep::{Choice, Sweep, Swept};
use laneway_measure::{Method as Timing, Procedure, Rule};
use laneway_sites::Placed;

use super::cluster::{Cluster, PLATFORM};
use crate::error::PaperError;

/// A timing method, and the words that `laneway measure coll` takes besides its name.
pub struct Method {
    pub name: &'static str,
    timing: Timing,
    words: &'static str,
}

/// In the order of table 1, and after the paper's three our own.
pub static METHODS: [Method; 4] = [
    // The paper's cost comes from comparing the clocks for every repetition.
    Method { name: "global", timing: Timing::Global, words: " --resync 1 --sync offset" },
    Method { name: "maximum", timing: Timing::Maximum, words: "" },
    Method { name: "root", timing: Timing::Root, words: "" },
    Method { name: "start-time", timing: Timing::StartTime, words: " --truth" },
];

/// What was measured for one size, in microseconds.
#[derive(Clone, Copy)]
pub struct Point {
    pub size: u64,
    pub time: f64,
    pub cost: f64,
    /// How far apart the ranks began.
    pub skew: Option<f64>,
    pub truth: Option<f64>,
}

/// One benchmark: what a person would type for it, and its figures.
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

/// One sweep for each method, as many at a time as there are cores.
pub fn runs(cluster: &Cluster, operation: Kind, stage: &Stage) -> Result<Vec<Run>, PaperError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all = Vec::new();
    for some in METHODS.chunks(cores.min(METHODS.len())) {
        let found: Vec<Result<Run, PaperError>> = thread::scope(|scope| {
            let one = |method| {
                let found = run(cluster, operation, method);
                stage.step();
                found
            };
            let started = |method| scope.spawn(move || one(method));
            let started: Vec<_> = some.iter().map(started).collect();
            let ended = |handle: thread::ScopedJoinHandle<'_, _>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            started.into_iter().map(ended).collect()
        });
        all.extend(found.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(all)
}

fn run(cluster: &Cluster, operation: Kind, method: &'static Method) -> Result<Run, PaperError> {
    // paper: mpiblib 5: 0 to 100 KB with a stride of 1 KB, one repetition, both linear in LAM.
    let mut sweep = Sweep::new(vec![operation], (0..=100).map(|size| size << 10).collect());
    sweep.choices = vec![Choice::Named("linear".into())];
    (sweep.method, sweep.rule) = (method.timing, Rule::fixed(1));
    match method.timing {
        Timing::Global => (sweep.resync, sweep.procedure) = (1, Procedure::Offset),
        Timing::StartTime => sweep.truth = true,
        _ => {}
    }
    let (swept, _) = cluster.run(|comm| Ok(sweep_on(comm, &sweep)))?;
    let swept = swept?;
    let points: Option<Vec<Point>> = swept.rows().iter().map(point).collect();
    let points = points.filter(|points| !points.is_empty());
    let points = points.ok_or_else(|| PaperError::testbed("rows of a sweep lack a figure"))?;
    let line = format!(
        "laneway measure coll {} --algorithm linear --sizes 0:100K:+1K --reps 1 --timing {}{} \
         --backend sim:{PLATFORM}",
        operation.name(),
        method.name,
        method.words
    );
    Ok(Run { method, line, points })
}

/// The sweep as the command runs it, to the same figures: before it ranks agree that they can
/// begin, and learn where they are. Clocks that drift are compared that much later.
fn sweep_on(comm: &dyn Comm, sweep: &Sweep) -> Result<Swept, PaperError> {
    talk::objection(comm, None).map_err(PaperError::testbed)?;
    Placed::find(comm, Some(PLATFORM)).map_err(PaperError::testbed)?;
    sweep.run(comm, None, &()).map_err(PaperError::testbed)
}

fn point(row: &Row) -> Option<Point> {
    let number = |name: &str| match row.get(name)? {
        Value::Real(figure) => Some(*figure),
        Value::Whole(figure) => Some(*figure as f64),
        _ => None,
    };
    Some(Point {
        size: number("size_bytes")? as u64,
        time: number("time_us")?,
        cost: number("cost_us")?,
        skew: number("start_skew_us"),
        truth: number("truth_us"),
    })
}
