//! A fitted model: which it is, what it knows, and whether it holds.

use laneway_core::{Rank, Schedule};

use crate::alike::Alike;
use crate::error::ModelError;
use crate::experiments::{Cost, Experiments, Kind, Timed};
use crate::follow::{Double, Overtake};
use crate::hockney::{Apart, Hockney, Lines};
use crate::lmo::{Lmo, SeenIn, pairs};
use crate::loggp::LogGp;
use crate::parameter::End;
use crate::plogp::PLogP;
use crate::probe::{Echo, Fan, Shift, Trip};
use crate::quality::{Check, Quality};
use crate::sweep::{Escalation, Leap};

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelKind {
    /// A start and a time for each byte, the same for all pairs.
    Hockney,
    /// The same, of each pair.
    HockneyPairs,
    /// Two of them: for eager messages, and for rendezvous.
    HockneySegments,
    /// LogGP.
    LogGp,
    /// PLogP.
    PLogP,
    /// LMO.
    Lmo,
}

impl ModelKind {
    /// All of them.
    pub const ALL: [ModelKind; 6] = [
        ModelKind::Hockney,
        ModelKind::HockneyPairs,
        ModelKind::HockneySegments,
        ModelKind::LogGp,
        ModelKind::PLogP,
        ModelKind::Lmo,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Hockney => "hockney",
            ModelKind::HockneyPairs => "hockney-pairs",
            ModelKind::HockneySegments => "hockney-segments",
            ModelKind::LogGp => "loggp",
            ModelKind::PLogP => "plogp",
            ModelKind::Lmo => "lmo",
        }
    }

    /// What its parameters are.
    pub fn sentence(self) -> &'static str {
        match self {
            ModelKind::Hockney => "a start and a time for each byte, the same for all pairs",
            ModelKind::HockneyPairs => "a start and a time for each byte of each pair",
            ModelKind::HockneySegments => "two of them: for eager messages, and for rendezvous",
            ModelKind::LogGp => "latency, overheads, gaps between messages and between bytes",
            ModelKind::PLogP => "latency, and overheads and gap as functions of the size",
            ModelKind::Lmo => "what each host adds to a message and a byte, and each pair's way",
        }
    }

    /// The model of that word.
    pub fn by_name(name: &str) -> Option<ModelKind> {
        ModelKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is fitted to gaps, which [`Request::gaps`](crate::Request::gaps) asks for.
    pub fn needs_gaps(self) -> bool {
        matches!(self, ModelKind::LogGp | ModelKind::PLogP)
    }
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Of one of its three kinds.
    Hockney(Hockney),
    /// LogGP.
    LogGp(LogGp),
    /// PLogP.
    PLogP(PLogP),
    /// LMO.
    Lmo(Lmo),
}

impl Model {
    /// Which model it is.
    pub fn kind(&self) -> ModelKind {
        match self {
            Model::Hockney(hockney) if hockney.hosts.is_some() => ModelKind::HockneyPairs,
            Model::Hockney(hockney) if hockney.lines.iter().any(|lines| lines.long.is_some()) => {
                ModelKind::HockneySegments
            }
            Model::Hockney(_) => ModelKind::Hockney,
            Model::LogGp(_) => ModelKind::LogGp,
            Model::PLogP(_) => ModelKind::PLogP,
            Model::Lmo(_) => ModelKind::Lmo,
        }
    }

    /// How many hosts it knows one by one; `None` if it is the same for any number.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Model::Hockney(hockney) => hockney.hosts,
            Model::LogGp(_) | Model::PLogP(_) => None,
            Model::Lmo(lmo) => Some(lmo.hosts.len() as u32),
        }
    }

    /// Whether bytes cost nothing on some way: something else took all of the time.
    fn is_flat(&self) -> bool {
        match self {
            Model::Hockney(hockney) => {
                let last = |lines: &Lines| lines.long.unwrap_or(lines.short).per_byte.value;
                hockney.lines.iter().any(|lines| last(lines) <= 0.0)
            }
            Model::LogGp(loggp) => loggp.per_byte.value <= 0.0,
            Model::PLogP(_) => false,
            Model::Lmo(lmo) => {
                let way = |[i, j]: [Rank; 2]| {
                    let [from, to] = [i, j].map(|rank| &lmo.hosts[rank as usize]);
                    let ends = from.per_byte_sent.value + to.per_byte_received.value;
                    ends + lmo.per_byte(i, j).value
                };
                let both = |[i, j]: [Rank; 2]| way([i, j]).min(way([j, i]));
                pairs(lmo.hosts.len() as u32).any(|ranks| both(ranks) <= 0.0)
            }
        }
    }

    /// What an experiment takes by the model; `None` if the model has no prediction.
    pub(crate) fn says(&self, timed: &Timed, eager_bytes: u64) -> Result<Option<f64>, ModelError> {
        self.says_at(timed, eager_bytes, End::Value)
    }

    /// The same with every parameter at that end.
    fn says_at(
        &self,
        timed: &Timed,
        eager_bytes: u64,
        end: End,
    ) -> Result<Option<f64>, ModelError> {
        let read =
            |schedule: &dyn Schedule| self.read(schedule, Some(&timed.ranks), eager_bytes, end);
        schedule(timed).map(|schedule| read(&*schedule)).transpose()
    }

    /// The mean of many times. What was fitted to is that of the parameters alone; where more
    /// ranks wait for each other, it is that of calls beside others.
    fn expects(&self, timed: &Timed, eager_bytes: u64) -> Result<Option<f64>, ModelError> {
        let said = self.says(timed, eager_bytes)?;
        let (Some(seconds), true) = (said, timed.held_back) else { return Ok(said) };
        let Some(schedule) = schedule(timed) else { return Ok(said) };
        let times = self.times(&*schedule, Some(&timed.ranks), eager_bytes, seconds)?;
        Ok(match times.is_empty() {
            true => said,
            false => Some(times.iter().sum::<f64>() / times.len() as f64),
        })
    }

    /// Whether the model claims to tell an experiment: all but LMO are about messages between two
    /// ranks.
    fn claims(&self, timed: &Timed) -> bool {
        matches!(self, Model::Lmo(_)) || matches!(timed.kind, Kind::RoundTrip { .. })
    }

    /// An experiment beside what the model says of it; none where it cannot tell.
    fn check(&self, timed: &Timed, eager_bytes: u64) -> Result<Option<Check>, ModelError> {
        let Some(predicted) = self.expects(timed, eager_bytes)? else { return Ok(None) };
        // Of the others the low ends are what pairs differ by.
        let quiet = match self {
            Model::Lmo(_) if timed.is_disturbed() => {
                self.says_at(timed, eager_bytes, End::Low)?.unwrap_or(predicted)
            }
            _ => predicted,
        };
        let what = timed.kind.describe(&timed.ranks);
        let kind = if timed.held_back { "held back" } else { timed.kind.name() };
        let (measured, fastest) = (timed.time, timed.fastest);
        Ok(Some(Check { kind, what, measured, fastest, predicted, quiet }))
    }
}

/// An experiment among its ranks; none where it is no schedule.
fn schedule(timed: &Timed) -> Option<Box<dyn Schedule>> {
    let ranks = timed.ranks.len() as u32;
    let members = || (0..ranks).collect();
    Some(match timed.kind {
        Kind::Fan { bytes, direction } => {
            Box::new(Fan { ranks, members: members(), bytes, direction })
        }
        Kind::Shift { bytes, distance } => Box::new(Shift { ranks, distance, bytes }),
        Kind::Overtake { bytes } => Box::new(Overtake { ranks, members: [0, 1], bytes }),
        Kind::Double { bytes } => Box::new(Double { ranks, members: [0, 1], bytes }),
        Kind::Echo { bytes } => Box::new(Echo { ranks, members: members(), bytes }),
        Kind::RoundTrip { out_bytes, back_bytes } => Box::new(Trip { out_bytes, back_bytes }),
        Kind::Curve { bytes } => Box::new(Trip { out_bytes: bytes, back_bytes: 0 }),
        Kind::SendOverhead { .. } | Kind::ReceiveOverhead { .. } | Kind::Gap { .. } => return None,
    })
}

/// A model of a machine, ready to be asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The host of each rank that it was estimated on.
    pub hosts: Vec<String>,
    /// Messages up to this size leave before their receive is there;
    /// [`ALL_EAGER`](crate::ALL_EAGER) where every one does.
    pub eager_bytes: u64,
    /// Whether it holds.
    pub quality: Quality,
    /// What its estimation took.
    pub cost: Cost,
    /// What sweeps showed beyond the model.
    pub escalation: Option<Escalation>,
    /// The same of scatters.
    pub leap: Option<Leap>,
    /// Which hosts were taken as alike; none where every pair was measured.
    pub alike: Option<Alike>,
}

impl Fitted {
    /// A model whose parameters are known without experiments: it holds, and no sweep showed more.
    pub fn known(model: Model, hosts: Vec<String>, eager_bytes: u64) -> Fitted {
        let (quality, cost) = (Quality::default(), Cost::default());
        let (escalation, leap, alike) = (None, None, None);
        Fitted { model, hosts, eager_bytes, quality, cost, escalation, leap, alike }
    }
}

/// LMO may be so far off for any experiment, also those that were held back.
const LMO_LIMIT: f64 = 0.2;
/// The others may be so far off for a round trip.
const OTHERS_LIMIT: f64 = 0.3;

/// Fits a model to what was measured. One that does not hold is a model too, for people to look at;
/// it refuses to predict.
pub fn fit(experiments: &Experiments, kind: ModelKind) -> Result<Fitted, ModelError> {
    experiments.validate()?;
    let (all, eager_bytes) = (experiments, experiments.eager_bytes);
    let part = all.alike.as_ref().map(|alike| alike.part(all));
    let experiments = part.as_ref().unwrap_or(all);
    let ranks = experiments.ranks();
    if ranks < 2 {
        let experiment = "a round trip";
        return Err(ModelError::TooFewRanks { ranks, needed: 2, experiment });
    }
    let hockney = |apart: Apart| Hockney::fit(experiments, apart).map(Model::Hockney);
    let model = match kind {
        ModelKind::Hockney => hockney(Apart::Nothing)?,
        ModelKind::HockneyPairs => hockney(Apart::Pairs)?,
        ModelKind::HockneySegments => hockney(Apart::Segments)?,
        ModelKind::LogGp => Model::LogGp(LogGp::fit(experiments)?),
        ModelKind::PLogP => Model::PLogP(PLogP::fit(experiments)?),
        ModelKind::Lmo => fit_lmo(experiments)?,
    };
    let model = match &all.alike {
        Some(alike) => alike.expand(model),
        None => model,
    };
    let limit = if kind == ModelKind::Lmo { LMO_LIMIT } else { OTHERS_LIMIT };
    let (checks, trials) = (checks(&model, all)?, trials(&model, all)?);
    let mut quality = Quality::of(&checks, &trials, limit);
    if model.is_flat() {
        quality.worst = quality.worst.max(1.0);
        quality.worst_of = "what a byte takes: longer messages took no longer".to_string();
    }
    let (hosts, cost, alike) = (all.hosts.clone(), all.cost, all.alike.clone());
    let (escalation, leap) = (None, None);
    Ok(Fitted { model, hosts, eager_bytes, quality, cost, escalation, leap, alike })
}

/// What depends on the size is seen in the middle of the repetitions or in the fastest ones: the
/// model that says better what the experiments took, without those held back.
fn fit_lmo(experiments: &Experiments) -> Result<Model, ModelError> {
    let [middle, fastest] =
        [SeenIn::Middle, SeenIn::Fastest].map(|seen_in| Lmo::fit(experiments, seen_in));
    let (middle, fastest) = (middle?, fastest?);
    if middle == fastest {
        return Ok(Model::Lmo(middle));
    }
    let timed = experiments.fitted().cloned().collect();
    let fitted = Experiments { timed, ..experiments.clone() };
    let off = |model: &Model| -> Result<f64, ModelError> {
        let checks = checks(model, &fitted)?;
        let off = |check: &Check| (check.predicted / check.measured.value - 1.0).abs();
        Ok(checks.iter().map(off).sum())
    };
    let [middle, fastest] = [middle, fastest].map(Model::Lmo);
    Ok(if off(&middle)? < off(&fastest)? { middle } else { fastest })
}

/// Every experiment that the model claims to tell the time of, beside it.
pub fn checks(model: &Model, experiments: &Experiments) -> Result<Vec<Check>, ModelError> {
    let claimed = experiments.timed.iter().filter(|timed| model.claims(timed));
    let check = |timed| model.check(timed, experiments.eager_bytes).transpose();
    claimed.filter_map(check).collect()
}

/// The experiments that are like calls and that no fit saw, whether the model claims them or not.
fn trials(model: &Model, experiments: &Experiments) -> Result<Vec<Check>, ModelError> {
    let held_back = experiments.timed.iter().filter(|timed| timed.held_back);
    let check = |timed| model.check(timed, experiments.eager_bytes).transpose();
    held_back.filter_map(check).collect()
}
