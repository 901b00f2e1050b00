//! All models beside each other: how far each is off for calls that were timed.

use laneway_coll::{Algorithm, Params, algorithms};
use laneway_core::{Collective, Comm, Observer, Shape, Stage};
use laneway_measure::Rule;
use laneway_stats::{quantile, sorted};

use crate::error::ModelError;
use crate::experiments::Experiments;
use crate::meter::Meter;
use crate::model::{Fitted, ModelKind, fit};
use crate::read::Prediction;

/// A call that was timed.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The call.
    pub shape: Shape,
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub params: Params,
    /// Bytes of a rank's block, or of the vector.
    pub bytes: u64,
    /// What it took.
    pub seconds: f64,
}

/// How far one model is off, as parts of what was measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The model.
    pub kind: ModelKind,
    /// Whether it holds: one that does not would predict nothing.
    pub holds: bool,
    /// Seconds that it says of each cell.
    pub said: Vec<f64>,
    /// What half of the calls are off at most.
    pub median: f64,
    /// What 95 % of the calls are off at most.
    pub tail: f64,
    /// What the worst is off.
    pub worst: f64,
    /// Operation, algorithm and bytes of the worst.
    pub worst_of: String,
    /// How many calls have an interval.
    pub promised: u64,
    /// How many of these took what lies in it.
    pub held: u64,
}

/// The part of the calls that `tail` is not exceeded in.
pub const TAIL: f64 = 0.95;

/// All models, each compared, or why it could not be fitted.
pub type Compared = Vec<(ModelKind, Result<Comparison, ModelError>)>;

/// Fits every model to the same experiments, and reads it for every cell.
pub fn compare(experiments: &Experiments, cells: &[Cell]) -> Compared {
    let one = |kind| (kind, fit(experiments, kind).and_then(|fitted| of(&fitted, cells)));
    ModelKind::ALL.into_iter().map(one).collect()
}

/// Collective: every algorithm of the operations at every size, each for its part of the time
/// at most; rank 0 has the cells.
pub fn time_calls(
    comm: &dyn Comm,
    ops: &[Collective],
    sizes: &[u64],
    budget: f64,
    observer: &dyn Observer,
) -> Result<Vec<Cell>, ModelError> {
    let mut calls = Vec::new();
    for &op in ops {
        for (algorithm, &bytes) in
            algorithms(op).flat_map(|algorithm| sizes.iter().map(move |size| (algorithm, size)))
        {
            let (shape, params) = (Shape::new(op, comm.size(), bytes), algorithm.defaults());
            if algorithm.schedule(&shape, &params).is_ok() {
                calls.push(Cell { shape, algorithm, params, bytes, seconds: 0.0 });
            }
        }
    }
    let usual = Rule::default();
    let part = budget / calls.len().max(1) as f64;
    let rule = Rule { budget: part.min(usual.budget), ..usual };
    let meter = Meter::new(comm)?;
    let mut cells = Vec::new();
    let stage = Stage::new(observer, "calls timed", calls.len() as u64);
    for call in stage.over(calls) {
        let time = meter.time(&call.shape, call.algorithm, call.params, &rule)?;
        let time = time.filter(|time| time.value > 0.0);
        cells.extend(time.map(|time| Cell { seconds: time.value, ..call }));
    }
    Ok(cells)
}

fn of(fitted: &Fitted, cells: &[Cell]) -> Result<Comparison, ModelError> {
    let (mut said, mut errors) = (Vec::new(), Vec::new());
    let (mut worst, mut worst_of) = (0.0, String::new());
    let (mut promised, mut held) = (0, 0);
    for cell in cells {
        let schedule = cell.algorithm.schedule(&cell.shape, &cell.params);
        let schedule = schedule.map_err(|why| ModelError::Refused { why: why.0 })?;
        let Prediction { seconds, interval } = fitted.read(&*schedule)?;
        let within = interval.map(|ends| ends.low <= cell.seconds && cell.seconds <= ends.high);
        promised += u64::from(within.is_some());
        held += u64::from(within == Some(true));
        let off = (seconds / cell.seconds - 1.0).abs();
        if off > worst {
            let (op, algorithm) = (cell.shape.collective.name(), cell.algorithm.name);
            (worst, worst_of) = (off, format!("{op} {algorithm} {} B", cell.bytes));
        }
        said.push(seconds);
        errors.push(off);
    }
    let errors = sorted(&errors);
    let at = |part: f64| quantile(&errors, part).unwrap_or(f64::NAN);
    Ok(Comparison {
        kind: fitted.model.kind(),
        holds: fitted.quality.holds(),
        said,
        median: at(0.5),
        tail: at(TAIL),
        worst,
        worst_of,
        promised,
        held,
    })
}
