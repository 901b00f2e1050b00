//! A fitted model: which it is, what it knows, and whether it holds.

use laneway_core::Schedule;
use laneway_stats::quantile;

use crate::error::ModelError;
use crate::experiments::{Cost, Experiments, Kind, Timed};
use crate::lmo::Lmo;
use crate::parameter::{End, Parameter};
use crate::probe::{Fan, Shift};

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    Lmo,
}

impl ModelKind {
    pub const ALL: [ModelKind; 1] = [ModelKind::Lmo];

    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Lmo => "lmo",
        }
    }

    pub fn by_name(name: &str) -> Option<ModelKind> {
        ModelKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    Lmo(Lmo),
}

impl Model {
    pub fn kind(&self) -> ModelKind {
        match self {
            Model::Lmo(_) => ModelKind::Lmo,
        }
    }

    /// How many hosts it knows one by one; none where it is the same for any number.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Model::Lmo(lmo) => Some(lmo.hosts.len() as u32),
        }
    }

    /// What an experiment takes by the model; none where it cannot tell.
    fn says(&self, timed: &Timed, eager_bytes: u64) -> Result<Option<f64>, ModelError> {
        let ranks = timed.ranks.len() as u32;
        let schedule: Box<dyn Schedule> = match timed.kind {
            Kind::Fan { bytes, direction } => {
                Box::new(Fan { ranks, members: (0..ranks).collect(), bytes, direction })
            }
            Kind::Shift { bytes, distance } => Box::new(Shift { ranks, distance, bytes }),
            Kind::RoundTrip { out_bytes, back_bytes } => {
                Box::new(crate::probe::Trip { out_bytes, back_bytes })
            }
            _ => return Ok(None),
        };
        self.read(&*schedule, Some(&timed.ranks), eager_bytes, End::Value).map(Some)
    }
}

/// An experiment beside what the model says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub what: String,
    pub measured: Parameter,
    pub predicted: f64,
}

impl Check {
    /// How far the model is off, as a part of what was measured, beyond the measured interval.
    pub fn residual(&self) -> f64 {
        let Parameter { value, low, high } = self.measured;
        let off = (low - self.predicted).max(self.predicted - high).max(0.0);
        if off > 0.0 { off / value.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Whether a fit holds: what the model says of experiments beside what they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// What nine of ten experiments are off at most, as parts of their times.
    pub typical: f64,
    pub worst: f64,
    /// Which experiment is the worst.
    pub worst_of: String,
    /// The most that the worst may be.
    pub limit: f64,
}

impl Quality {
    pub fn of(checks: &[Check], limit: f64) -> Quality {
        let residuals: Vec<f64> = checks.iter().map(Check::residual).collect();
        let worst = checks.iter().max_by(|a, b| a.residual().total_cmp(&b.residual()));
        Quality {
            typical: quantile(&residuals, 0.9).unwrap_or(0.0),
            worst: worst.map_or(0.0, Check::residual),
            worst_of: worst.map_or(String::new(), |check| check.what.clone()),
            limit,
        }
    }

    pub fn holds(&self) -> bool {
        self.worst <= self.limit
    }

    pub(crate) fn demand(&self) -> Result<(), ModelError> {
        let Quality { worst: residual, limit, .. } = *self;
        match self.holds() {
            true => Ok(()),
            false => {
                let worst = self.worst_of.clone();
                Err(ModelError::DoesNotHold { worst, residual, limit })
            }
        }
    }
}

/// A model of a machine, ready to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    pub model: Model,
    /// The host of each rank that it was estimated on.
    pub hosts: Vec<String>,
    pub eager_bytes: u64,
    pub quality: Quality,
    pub cost: Cost,
}

/// LMO may be so far off for an experiment that was held back.
const LMO_LIMIT: f64 = 0.15;

/// Fits a model to what was measured. One that does not hold is a model too, for people to look at;
/// it refuses to predict.
pub fn fit(experiments: &Experiments, kind: ModelKind) -> Result<Fitted, ModelError> {
    experiments.validate()?;
    let (ranks, eager_bytes) = (experiments.ranks(), experiments.eager_bytes);
    if ranks < 2 {
        let experiment = "a round trip";
        return Err(ModelError::TooFewRanks { ranks, needed: 2, experiment });
    }
    let (model, limit) = match kind {
        ModelKind::Lmo => (Model::Lmo(Lmo::fit(experiments)?), LMO_LIMIT),
    };
    let checks = checks(&model, experiments)?;
    let quality = Quality::of(&checks, limit);
    let (hosts, cost) = (experiments.hosts.clone(), experiments.cost);
    Ok(Fitted { model, hosts, eager_bytes, quality, cost })
}

/// Every experiment that the model can tell the time of, beside it.
pub fn checks(model: &Model, experiments: &Experiments) -> Result<Vec<Check>, ModelError> {
    let mut checks = Vec::new();
    for timed in &experiments.timed {
        if let Some(predicted) = model.says(timed, experiments.eager_bytes)? {
            let what = timed.kind.describe(&timed.ranks);
            checks.push(Check { what, measured: timed.time, predicted });
        }
    }
    Ok(checks)
}
