//! What no line has: gathers that escalate between two sizes, and scatters that leap at one.
//!
//! paper: mpiblib 4: on Ethernet, linear gathers of medium messages take many times as long now and
//! then. A mean of such times says nothing, so an escalation is a region of sizes, how often a call
//! in it escalates, and how much longer it takes then. A leap is a step of all longer scatters.

use laneway_coll::find;
use laneway_core::{Collective, Comm, Observer, Shape, Stage};
use laneway_measure::Rule;
use laneway_stats::distribution::t_quantile;
use laneway_stats::{median, median_interval, sorted};

use crate::error::ModelError;
use crate::meter::Meter;
use crate::model::Fitted;
use crate::parameter::{LEVEL, Parameter};

/// A call that takes this multiple of what the model says has escalated.
const ESCALATED: f64 = 2.0;
/// Fewer escalations than this part are chance.
const LEAST_PART: f64 = 0.03;
/// A step that is a smaller part of the time is not a leap.
const LEAST_LEAP: f64 = 0.2;

/// Times of single calls of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The size.
    pub bytes: u64,
    /// Seconds of each call.
    pub samples: Vec<f64>,
}

/// Linear gathers from one size to another escalate now and then.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Escalation {
    /// The first size that was seen to escalate, and the last.
    pub from_bytes: u64,
    /// The last size that was.
    pub to_bytes: u64,
    /// How often a call does.
    pub probability: Parameter,
    /// Seconds that it takes longer then, in the middle.
    pub seconds: Parameter,
}

impl Escalation {
    /// Whether calls of this size do.
    pub fn holds(&self, bytes: u64) -> bool {
        (self.from_bytes..=self.to_bytes).contains(&bytes)
    }
}

/// Linear scatters of more than this number of bytes take this much longer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Leap {
    /// The last size without it.
    pub after_bytes: u64,
    /// How much longer.
    pub seconds: Parameter,
}

/// Collective: `count` single calls of the linear algorithm of scatter or gather for each size,
/// each from a common start; reports its progress. On rank 0 the times; nothing elsewhere.
pub fn sweep(
    comm: &dyn Comm,
    collective: Collective,
    sizes: &[u64],
    calls: u32,
    observer: &dyn Observer,
) -> Result<Option<Vec<Sweep>>, ModelError> {
    let refuse = |why: &str| Err(ModelError::Request { why: why.into() });
    if comm.size() < 2 || calls == 0 || sizes.is_empty() {
        return refuse("a sweep takes two ranks, one size and one call at least");
    }
    let (algorithm, params) =
        find(collective, "linear").map_err(|why| ModelError::Refused { why: why.0 })?;
    let meter = Meter::new(comm)?;
    let mut found = Vec::new();
    let stage = Stage::new(observer, "sizes of linear calls", sizes.len() as u64);
    for &bytes in stage.over(sizes) {
        let shape = Shape::new(collective, comm.size(), bytes);
        let point = meter.samples(&shape, algorithm, params, &Rule::fixed(calls))?;
        found.extend(point.map(|point| Sweep { bytes, samples: point.samples }));
    }
    Ok((comm.rank() == 0).then_some(found))
}

impl Fitted {
    /// With what sweeps of linear gathers and scatters show beyond the model.
    pub fn with_sweeps(
        mut self,
        gathers: &[Sweep],
        scatters: &[Sweep],
    ) -> Result<Fitted, ModelError> {
        for sweep in gathers.iter().chain(scatters) {
            let bad = sweep.samples.iter().find(|time| !time.is_finite() || **time < 0.0);
            if let Some(&value) = bad {
                let experiment = format!("a call of {} B", sweep.bytes);
                return Err(ModelError::Sample { experiment, value });
            }
        }
        self.escalation = self.find_escalation(gathers)?;
        self.leap = self.find_leap(scatters)?;
        Ok(self)
    }

    /// What the linear algorithm takes by the model alone.
    fn linear(&self, collective: Collective, bytes: u64) -> Result<f64, ModelError> {
        let (algorithm, params) =
            find(collective, "linear").map_err(|why| ModelError::Refused { why: why.0 })?;
        let shape = Shape::new(collective, self.hosts.len() as u32, bytes);
        let schedule = algorithm.schedule(&shape, &params);
        let schedule = schedule.map_err(|why| ModelError::Refused { why: why.0 })?;
        Ok(self.read(&*schedule)?.seconds)
    }

    fn find_escalation(&self, gathers: &[Sweep]) -> Result<Option<Escalation>, ModelError> {
        let mut region: Vec<(&Sweep, Vec<f64>)> = Vec::new();
        let mut sweeps: Vec<&Sweep> = gathers.iter().collect();
        sweeps.sort_by_key(|sweep| sweep.bytes);
        let mut last = 0;
        for sweep in sweeps {
            let usual = self.linear(Collective::Gather, sweep.bytes)?;
            let beyond = sweep.samples.iter().filter(|time| **time > ESCALATED * usual);
            let beyond: Vec<f64> = beyond.map(|time| time - usual).collect();
            let often = beyond.len() as f64 >= LEAST_PART * sweep.samples.len() as f64;
            if often && !beyond.is_empty() {
                region.push((sweep, beyond));
                last = region.len();
            } else if !region.is_empty() {
                // A size inside the region that happened not to escalate.
                region.push((sweep, beyond));
            }
        }
        region.truncate(last);
        let (Some((first, _)), Some((end, _))) = (region.first(), region.last()) else {
            return Ok(None);
        };
        let calls: usize = region.iter().map(|(sweep, _)| sweep.samples.len()).sum();
        let beyond: Vec<f64> = region.iter().flat_map(|(_, beyond)| beyond.clone()).collect();
        let value = median(&beyond).unwrap_or(0.0);
        let seconds = median_interval(&sorted(&beyond), LEVEL)
            .map_or(Parameter::exact(value), |i| Parameter { value, low: i.low, high: i.high });
        let probability = part(beyond.len(), calls);
        let (from_bytes, to_bytes) = (first.bytes, end.bytes);
        Ok(Some(Escalation { from_bytes, to_bytes, probability, seconds }))
    }

    fn find_leap(&self, scatters: &[Sweep]) -> Result<Option<Leap>, ModelError> {
        let mut beyond: Vec<(u64, f64, f64)> = Vec::new();
        for sweep in scatters {
            let Some(time) = median(&sweep.samples) else { continue };
            let usual = self.linear(Collective::Scatter, sweep.bytes)?;
            beyond.push((sweep.bytes, time - usual, time));
        }
        beyond.sort_by_key(|step| step.0);
        let middle = |steps: &[(u64, f64, f64)]| {
            let all: Vec<f64> = steps.iter().map(|step| step.1).collect();
            (median(&all).unwrap_or(0.0), sorted(&all))
        };
        let mut best: Option<Leap> = None;
        for at in 1..beyond.len() {
            let (before, after) = beyond.split_at(at);
            let ((low, _), (high, all)) = (middle(before), middle(after));
            let step = high - low;
            // Every longer one takes longer, and no shorter one does.
            let clear = before.iter().all(|(_, more, _)| *more - low < step / 2.0)
                && after.iter().all(|(_, more, time)| {
                    *more - low > step / 2.0 && step > LEAST_LEAP * (time - more)
                });
            if clear && best.is_none_or(|best| step > best.seconds.value) {
                let ends = [all.first(), all.last()].map(|end| end.map_or(step, |end| end - low));
                let seconds = Parameter { value: step, low: ends[0], high: ends[1] };
                best = Some(Leap { after_bytes: beyond[at - 1].0, seconds });
            }
        }
        Ok(best)
    }
}

/// The part that `some` are of `all`, with Wilson's interval.
fn part(some: usize, all: usize) -> Parameter {
    let (count, value) = (all.max(1) as f64, some as f64 / all.max(1) as f64);
    let z = t_quantile(0.5 + LEVEL / 2.0, 1e6).unwrap_or(2.0);
    let middle = (value + z * z / (2.0 * count)) / (1.0 + z * z / count);
    let inner = value * (1.0 - value) / count + z * z / (4.0 * count * count);
    let half = z / (1.0 + z * z / count) * inner.sqrt();
    let (low, high) = ((middle - half).max(0.0).min(value), (middle + half).min(1.0).max(value));
    Parameter { value, low, high }
}
