//! One point of a measurement: the samples of one operation, what they say, and how sure that is.

use std::fmt;

use laneway_core::talk::broadcast_value;
use laneway_core::{Clock, Comm, CommError};
use laneway_stats::{
    Interval, Summary, dependent_interval, design_effect, median, outliers, sorted,
};

use crate::clock::Bound;
use crate::flags;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::repeat::{Aim, Rule};
use crate::spread::{Evidence, Spread, until_next_visit};
use crate::talk::{broadcast, gather};
use crate::timing::{Batch, Sample, Stage, Timing};

/// How surely the truth lies within a point's bound, as far as samples differ by chance.
const BOUND_LEVEL: f64 = 0.9999;

/// What rank 0 knows when a point is done.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The name of the method, with what it fell back on where it did.
    pub timing: &'static str,
    /// Seconds; the median, or the mean where that was aimed at.
    pub estimate: f64,
    /// Where the truth lies if ways take as long out as back.
    pub interval: Option<Interval>,
    /// Where it lies whatever the ways take, however far apart the ranks began, and whatever lies
    /// between two steps of the clock.
    pub bound: Option<Bound>,
    /// Half the interval over the estimate.
    pub error: Option<f64>,
    /// Whether the precision that was asked for is reached.
    pub reached: bool,
    /// What the samples say in short; none without samples.
    pub summary: Option<Summary>,
    /// The samples that count, in the order they were taken.
    pub samples: Vec<f64>,
    /// The design effect: the number of samples that say as much as one independent sample.
    pub effect: f64,
    /// Repetitions that do not count: a rank began late, or the method was given up after them.
    pub rejected: u32,
    /// First samples that were left out because the operation had not settled.
    pub warm_up: u32,
    /// Samples beyond Tukey's far fences, which still count.
    pub outliers: u32,
    /// The median of how far apart the ranks began.
    pub skew: Option<f64>,
    /// Each rank's mean, of methods that give it.
    pub rank_means: Vec<f64>,
    /// Every rank's entry and exit on rank 0's clock, in seconds: repetition after repetition,
    /// those that do not count too; empty if the method does not give them.
    pub spans: Vec<(f64, f64)>,
    /// Seconds that the clocks of all ranks leave uncertain if ways are symmetric, at most.
    pub clock_error: f64,
    /// What the operation can take by other clocks that could be, where that was tried.
    pub by_other_clocks: Option<Bound>,
    /// Seconds that a call of nothing takes by the same way.
    pub overhead: f64,
    /// Seconds that the whole point took on rank 0, without its pauses.
    pub cost: f64,
    /// Seconds in which it paused.
    pub paused: f64,
    /// Whether it stopped early because another one is surely faster.
    pub lost: bool,
    /// What a reader must know.
    pub notes: Vec<&'static str>,
}

impl Point {
    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Each rank's mean over all samples, of which `before` were taken earlier.
    fn join_means(&mut self, batch: &Batch, before: usize) {
        let (before, now) = (before as f64, batch.samples.len() as f64);
        if self.rank_means.is_empty() {
            self.rank_means = batch.rank_means.clone();
        } else if now > 0.0 {
            for (mean, new) in self.rank_means.iter_mut().zip(&batch.rank_means) {
                *mean = (*mean * before + new * now) / (before + now);
            }
        }
    }

    /// What the samples say.
    fn conclude(&mut self, samples: &[Sample], rule: &Rule) {
        let times = times(samples);
        self.warm_up = rule.warm_up(&times) as u32;
        let settled = &samples[self.warm_up as usize..];
        self.samples = times[self.warm_up as usize..].to_vec();
        let times = &self.samples;
        self.effect = effect(settled);
        self.estimate = rule.estimate(times);
        self.interval = interval(rule, settled, self.effect);
        let bound = self.interval.and_then(|interval| bound(settled, self.effect, interval));
        self.bound = bound.map(|bound| bound.or(self.by_other_clocks));
        self.error = match rule.aim {
            Aim::Mean { .. } => rule.error(times),
            Aim::Median { .. } => self.interval.map(|i| i.half_width() / self.estimate.abs()),
        };
        self.reached = !rule.varies() || rule.is_reached_of(times, self.effect);
        self.outliers = outliers(&sorted(times)) as u32;
        self.summary = Summary::of(times);
        let skews: Vec<f64> = settled.iter().filter_map(|sample| sample.skew).collect();
        self.skew = median(&skews);
        let few = !self.reached && self.interval.is_some_and(|i| i.level < rule.level());
        if let Some(flag) = rule.caution(self.samples.len() as u32) {
            self.note(flag);
        } else if few {
            self.note(flags::DEPENDENT);
        }
        if self.lost {
            self.note(flags::STOPPED_EARLY);
        } else if !self.reached {
            self.note(flags::PRECISION);
        }
        // What takes no time, or less, was not measured.
        if self.estimate <= 0.0 || self.estimate.is_nan() {
            self.note(flags::NO_TIME);
            self.reached = false;
        }
    }
}

/// The estimate, and its interval where it has one.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} us", 1e6 * self.estimate)?;
        match self.interval {
            Some(Interval { low, high, .. }) => {
                write!(f, " ({:.2} to {:.2} us)", 1e6 * low, 1e6 * high)
            }
            None => Ok(()),
        }
    }
}

fn times(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.time).collect()
}

/// How many samples say as much as one.
fn effect(samples: &[Sample]) -> f64 {
    let at: Vec<f64> = samples.iter().map(|sample| sample.at).collect();
    design_effect(&at, &times(samples))
}

/// The interval of the estimate, with what the comparison of clocks leaves uncertain.
fn interval(rule: &Rule, samples: &[Sample], effect: f64) -> Option<Interval> {
    let ends = |end: fn(&Bound) -> f64| {
        let all: Vec<f64> = samples.iter().map(|sample| end(&sample.range)).collect();
        rule.interval_of(&all, effect)
    };
    let middle = rule.interval_of(&times(samples), effect)?;
    let (low, high) = (ends(|range| range.low)?.low, ends(|range| range.high)?.high);
    Some(Interval { low: low.min(middle.low), high: high.max(middle.high), ..middle })
}

/// Between what the samples can have been at least and at most, and no narrower than the interval.
fn bound(samples: &[Sample], effect: f64, interval: Interval) -> Option<Bound> {
    let ends = |end: fn(&Bound) -> f64| {
        let all = sorted(&samples.iter().map(|sample| end(&sample.bound)).collect::<Vec<f64>>());
        let inner = dependent_interval(&all, BOUND_LEVEL, effect);
        inner.map(|inner| (inner.low, inner.high)).or(Some((*all.first()?, *all.last()?)))
    };
    let (low, _) = ends(|bound| bound.low)?;
    let (_, high) = ends(|bound| bound.high)?;
    Some(Bound { low: low.min(interval.low), high: high.max(interval.high) })
}

/// A point that is being measured, in as many visits as it takes. Points that are visited in turns
/// share the machine's good and bad spells.
pub struct Measuring<'t> {
    timing: Box<dyn Timing + 't>,
    point: Point,
    samples: Vec<Sample>,
    batches: u32,
    spread: Spread,
    /// The next batch, on every rank; none before the first, which the rule alone sets.
    next: Option<Pace>,
    /// When the last visit ended, by this rank's clock.
    left: Option<f64>,
    /// In a race: seconds that another one surely does not exceed, on rank 0.
    rival: Option<f64>,
    /// Whether entries and exits of every repetition are kept.
    keep_spans: bool,
}

/// Repetitions of one batch at most: rank 0 collects all numbers of a batch at once.
const LONGEST_BATCH: u32 = 100_000;

/// Batches before a race is lost on a real machine, whose spells may favour one.
const REAL_HEATS: u32 = 3;

impl<'t> Measuring<'t> {
    /// No sample is taken yet; all ranks use the same method.
    pub fn new(timing: Box<dyn Timing + 't>) -> Measuring<'t> {
        Measuring {
            timing,
            point: Point::default(),
            samples: Vec::new(),
            batches: 0,
            spread: Spread::new(),
            next: None,
            left: None,
            rival: None,
            keep_spans: true,
        }
    }

    /// Does not keep what every rank did in every repetition ([`Point::spans`]), which takes more
    /// memory than all else.
    pub fn without_spans(self) -> Measuring<'t> {
        Measuring { keep_spans: false, ..self }
    }

    /// Stop as soon as this one surely takes longer, by what rank 0 knows; the others only need to
    /// know that it is a race.
    pub fn race(&mut self, rival: f64) {
        self.rival = Some(rival);
    }

    /// What the samples say so far, on rank 0.
    pub fn interval(&self, rule: &Rule) -> Option<Interval> {
        interval(rule, &self.samples, effect(&self.samples))
    }

    /// Collective: prepares and takes one batch of samples. True on every rank where the rule is
    /// content.
    pub fn visit(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        rule: &Rule,
    ) -> Result<bool, CommError> {
        self.rest(stage, rule);
        let begun = stage.clock.local();
        self.timing.prepare(stage, operation)?;
        self.point.cost += stage.clock.local() - begun;
        let mut done = self.batch(stage, operation, rule)?;
        // In virtual time no other point has a turn in between: pauses cost nothing there.
        let stays = self.rival.is_none() && stage.comm.clock().is_virtual();
        while !done && stays {
            done = self.batch(stage, operation, rule)?;
        }
        self.left = Some(stage.clock.local());
        Ok(done)
    }

    /// On a real machine: lets some time pass since the last visit, if no other point has.
    fn rest(&mut self, stage: &Stage, rule: &Rule) {
        let Some(left) = self.left.filter(|_| !stage.comm.clock().is_virtual()) else { return };
        let now = stage.clock.local();
        let until = left + until_next_visit(rule, self.batches);
        if until > now {
            self.point.paused += until - now;
            stage.clock.sleep_until_local(until);
        }
    }

    /// Collective: one more batch.
    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        rule: &Rule,
    ) -> Result<bool, CommError> {
        let begun = stage.clock.local();
        let pace = match self.next {
            Some(pace) => pace,
            None => self.plan(stage, rule),
        };
        let pace = Pace { count: pace.count.clamp(1, LONGEST_BATCH), ..pace };
        self.batches += 1;
        let batch = self.timing.batch(stage, operation, pace)?;
        let taken = batch.samples.len() as u32 + batch.rejected;
        self.add(batch);
        self.point.lost = self.has_lost(stage, rule);
        // Some of the pauses may not have been made.
        let paused = pace.shortened(taken).paused();
        self.point.paused += paused;
        self.point.cost += stage.clock.local() - begun - paused;
        let sent_at = stage.clock.local();
        let next = if self.point.lost { Pace::dense(0) } else { self.plan(stage, rule) };
        let next = broadcast_value(stage.comm, &next)?;
        self.next = Some(next);
        self.point.cost += stage.clock.local() - sent_at;
        Ok(next.count == 0)
    }

    fn add(&mut self, batch: Batch) {
        let point = &mut self.point;
        // Samples of a method that was given up are not mixed with those of the other.
        let given_up = |notes: &[&str]| notes.contains(&flags::START_MISSED);
        if given_up(&batch.notes) && !given_up(&point.notes) {
            point.rejected += self.samples.len() as u32;
            self.samples.clear();
            point.spans.clear();
            point.rank_means.clear();
        }
        point.join_means(&batch, self.samples.len());
        self.samples.extend(batch.samples);
        point.rejected += batch.rejected;
        point.clock_error = point.clock_error.max(batch.clock_error);
        let before = point.by_other_clocks;
        point.by_other_clocks = batch.by_other_clocks.map(|range| range.or(before)).or(before);
        if self.keep_spans {
            point.spans.extend(batch.spans);
        }
        for note in batch.notes {
            point.note(note);
        }
    }

    /// What the next batch should be; what rank 0 says counts.
    fn plan(&mut self, stage: &Stage, rule: &Rule) -> Pace {
        let at: Vec<f64> = self.samples.iter().map(|sample| sample.at).collect();
        let evidence = Evidence {
            samples: &times(&self.samples),
            at: &at,
            effect: effect(&self.samples),
            spent: self.point.cost + self.point.paused,
            batches: self.batches,
            real: !stage.comm.clock().is_virtual(),
            one_clock: stage.clock.is_global(),
        };
        self.spread.next(rule, &evidence)
    }

    /// Whether it stops because another one is surely faster.
    fn has_lost(&self, stage: &Stage, rule: &Rule) -> bool {
        let Some(rival) = self.rival else { return false };
        let settled = stage.comm.clock().is_virtual() || self.batches >= REAL_HEATS;
        // What is enough at any rate has lost nothing.
        let spent = self.point.cost + self.point.paused;
        let open = rule.wanted_of(&times(&self.samples), effect(&self.samples), spent) > 0;
        open && settled && self.interval(rule).is_some_and(|own| own.low > rival)
    }

    /// What the visits came to, on rank 0.
    pub fn conclude(mut self, stage: &Stage, rule: &Rule) -> Option<Point> {
        if stage.comm.rank() != 0 {
            return None;
        }
        self.point.timing = self.timing.name();
        self.point.overhead = stage.overhead();
        self.point.conclude(&self.samples, rule);
        Some(self.point)
    }
}

/// Collective: measures one operation until the rule is content. What it came to, on rank 0.
pub fn measure(
    stage: &mut Stage,
    timing: &mut dyn Timing,
    operation: &mut dyn Operation,
    rule: &Rule,
) -> Result<Option<Point>, CommError> {
    let mut measuring = Measuring::new(Box::new(timing));
    let mut done = measuring.visit(stage, operation, rule)?;
    while !done {
        measuring.rest(stage, rule);
        done = measuring.batch(stage, operation, rule)?;
        measuring.left = Some(stage.clock.local());
    }
    Ok(measuring.conclude(stage, rule))
}

/// Seconds until all ranks have learnt an instant, and until none is at it any more: in a
/// simulation they are free.
const LEAD_SECONDS: f64 = 10.0;

/// Collective, on a simulated cluster: the true time of one call. After two others all ranks begin
/// at one instant of the simulation's own clock; from the first entry to the last exit. `None` if
/// nothing is simulated, and on ranks other than 0.
pub fn truth(comm: &dyn Comm, operation: &mut dyn Operation) -> Result<Option<f64>, CommError> {
    let Some(clock) = comm.clock().truth() else { return Ok(None) };
    let mut last = None;
    for _ in 0..=crate::timing::WARM_UP_CALLS {
        last = Some(once(comm, clock, operation)?);
    }
    Ok(last.flatten())
}

fn once(
    comm: &dyn Comm,
    clock: &dyn Clock,
    operation: &mut dyn Operation,
) -> Result<Option<f64>, CommError> {
    let mut instant = [clock.now() + LEAD_SECONDS];
    broadcast(comm, &mut instant)?;
    clock.sleep_until(instant[0]);
    let entry = clock.now();
    operation.call()?;
    let exit = clock.now();
    // What is collected must not meet what others are still doing.
    clock.sleep_until(instant[0] + LEAD_SECONDS);
    let all = gather(comm, &[entry, exit])?;
    let first = all.chunks(2).map(|span| span[0]).fold(f64::INFINITY, f64::min);
    let last = all.chunks(2).map(|span| span[1]).fold(f64::NEG_INFINITY, f64::max);
    Ok((comm.rank() == 0).then_some(last - first))
}
