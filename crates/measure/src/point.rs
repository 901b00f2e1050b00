//! One point of a measurement: the samples of one operation, what they say, and how sure that is.

use laneway_core::{Clock, Comm, CommError};
use laneway_stats::{Interval, Summary, median, outliers, sorted};

use crate::operation::Operation;
use crate::repeat::Rule;
use crate::talk::{announce, collect};
use crate::timing::{Batch, Stage, Timing};

/// A figure rests on a clock that shows so many steps for it.
const TICKS: f64 = 20.0;
/// Ranks that began further apart than this, as a part of the time, did not begin together.
pub const SKEWED: f64 = 0.01;
/// What clocks may leave uncertain, as a part of a figure that rests on them.
const CLOCK_PART: f64 = 0.1;

/// What rank 0 knows when a point is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub timing: &'static str,
    /// Seconds; the median, or the mean where that was aimed at.
    pub estimate: f64,
    pub interval: Option<Interval>,
    /// Half the interval over the estimate.
    pub error: Option<f64>,
    /// Whether the precision that was asked for is reached.
    pub reached: bool,
    pub summary: Option<Summary>,
    /// The samples that count, in the order they were taken.
    pub samples: Vec<f64>,
    pub rejected: u32,
    /// First samples that were left out because the operation had not settled.
    pub warm_up: u32,
    pub outliers: u32,
    /// The median of how far apart the ranks began.
    pub skew: Option<f64>,
    /// Each rank's mean, of methods that tell it.
    pub rank_means: Vec<f64>,
    pub spans: Vec<(f64, f64)>,
    pub clock_error: f64,
    pub clock_unknowable: f64,
    /// Seconds that the whole point took on rank 0.
    pub cost: f64,
    /// Whether it stopped early because another one is surely faster.
    pub lost: bool,
    /// What a reader must know.
    pub notes: Vec<&'static str>,
}

impl Point {
    fn add(&mut self, batch: Batch) {
        // Samples of a method that was given up are not mixed with those of the other.
        if batch.notes.contains(&"no appointments") && !self.notes.contains(&"no appointments") {
            self.rejected += self.samples.len() as u32;
            self.samples.clear();
            self.spans.clear();
            self.rank_means.clear();
            self.skew = None;
        }
        self.join_means(&batch);
        self.samples.extend(batch.samples);
        self.rejected += batch.rejected;
        self.clock_error = self.clock_error.max(batch.clock_error);
        self.clock_unknowable = self.clock_unknowable.max(batch.clock_unknowable);
        self.spans.extend(batch.spans);
        self.skew = median(&batch.skews).or(self.skew);
        for note in batch.notes {
            self.note(note);
        }
    }

    /// Each rank's mean over all samples so far.
    fn join_means(&mut self, batch: &Batch) {
        let (before, now) = (self.samples.len() as f64, batch.samples.len() as f64);
        if self.rank_means.is_empty() {
            self.rank_means = batch.rank_means.clone();
        } else if now > 0.0 {
            for (mean, new) in self.rank_means.iter_mut().zip(&batch.rank_means) {
                *mean = (*mean * before + new * now) / (before + now);
            }
        }
    }

    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What the samples say.
    fn conclude(&mut self, rule: &Rule, tick: f64) {
        self.warm_up = rule.warm_up(&self.samples) as u32;
        let settled = &self.samples[self.warm_up as usize..];
        self.estimate = rule.estimate(settled);
        self.interval = rule.interval(settled);
        self.error = rule.error(settled);
        self.reached = rule.min_reps == rule.max_reps || rule.is_reached(settled);
        self.outliers = outliers(&sorted(settled)) as u32;
        self.summary = Summary::of(settled);
        self.samples.drain(..self.warm_up as usize);
        if let Some(flag) = rule.caution(self.samples.len() as u32) {
            self.note(flag);
        }
        if self.lost {
            self.note("lost the race");
        } else if !self.reached {
            self.note("precision");
        }
        if self.estimate < TICKS * tick {
            self.note("resolution");
        }
        // What takes no time, or less, was not measured.
        if self.estimate <= 0.0 || self.estimate.is_nan() {
            self.note("no time");
            self.reached = false;
        }
        if self.skew.is_some_and(|skew| skew > SKEWED * self.estimate.abs()) {
            self.note("skewed start");
        }
    }
}

/// A point that is being measured, in as many visits as it takes. Points that are visited in turns
/// share the machine's good and bad spells.
pub struct Measuring<'t> {
    timing: Box<dyn Timing + 't>,
    point: Point,
    batches: u32,
    /// Samples of the next batch, on every rank; none before the first, which the rule alone tells,
    /// and after the last.
    next: u32,
    /// In a race: seconds that another one surely does not exceed, on rank 0.
    rival: Option<f64>,
}

/// A real machine has good and bad spells: so many batches at least, of so many samples, see some
/// of them. A simulated one has none.
const REAL_BATCHES: u32 = 10;
const REAL_SAMPLES: u32 = 30;
/// So many batches before a race is lost, for the same reason.
const REAL_HEATS: u32 = 3;

impl<'t> Measuring<'t> {
    pub fn new(timing: Box<dyn Timing + 't>) -> Measuring<'t> {
        Measuring { timing, point: Point::default(), batches: 0, next: 0, rival: None }
    }

    /// Stop as soon as this one surely takes longer, by what rank 0 knows; the others only need to
    /// know that it is a race.
    pub fn race(&mut self, rival: f64) {
        self.rival = Some(rival);
    }

    /// What the samples say so far, on rank 0.
    pub fn interval(&self, rule: &Rule) -> Option<Interval> {
        rule.interval(&self.point.samples)
    }

    /// Collective: prepares and takes one batch of samples. True on every rank where the rule is
    /// content.
    pub fn visit(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        rule: &Rule,
    ) -> Result<bool, CommError> {
        let begun = stage.clock.local();
        self.timing.prepare(stage, operation)?;
        let mut done = self.batch(stage, operation, rule, begun)?;
        // A simulated machine has no spells that points would have to share, but may have a race.
        let stays = self.rival.is_none() && stage.comm.clock().is_virtual();
        while !done && stays {
            let begun = stage.clock.local();
            done = self.batch(stage, operation, rule, begun)?;
        }
        Ok(done)
    }

    /// Collective: one more batch.
    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        rule: &Rule,
        begun: f64,
    ) -> Result<bool, CommError> {
        if self.batches == 0 {
            self.next = self.wanted(stage, rule).max(1);
        }
        self.batches += 1;
        let batch = self.timing.batch(stage, operation, self.next)?;
        self.point.add(batch);
        self.point.cost += stage.clock.local() - begun;
        let told = stage.clock.local();
        self.point.lost = self.has_lost(stage, rule);
        let wanted = if self.point.lost { 0 } else { self.wanted(stage, rule) };
        let mut words = [f64::from(wanted)];
        announce(stage.comm, &mut words)?;
        self.next = words[0] as u32;
        self.point.cost += stage.clock.local() - told;
        Ok(self.next == 0)
    }

    /// How many samples the next batch should have.
    fn wanted(&self, stage: &Stage, rule: &Rule) -> u32 {
        let (have, spent) = (self.point.samples.len() as u32, self.point.cost);
        let wanted = rule.wanted(&self.point.samples, spent);
        let varies = rule.min_reps < rule.max_reps && !stage.comm.clock().is_virtual();
        let more = self.batches < REAL_BATCHES && spent < rule.budget && have < rule.max_reps;
        if varies && more {
            return wanted.max(REAL_SAMPLES).min(rule.max_reps - have);
        }
        wanted
    }

    /// Whether it stops because another one is surely faster.
    fn has_lost(&self, stage: &Stage, rule: &Rule) -> bool {
        // What is enough at any rate has lost nothing.
        let open = self.wanted(stage, rule) > 0;
        let settled = stage.comm.clock().is_virtual() || self.batches >= REAL_HEATS;
        open && settled
            && self
                .rival
                .is_some_and(|rival| self.interval(rule).is_some_and(|own| own.low > rival))
    }

    /// What the visits came to, on rank 0.
    pub fn conclude(mut self, stage: &Stage, rule: &Rule) -> Option<Point> {
        if stage.comm.rank() != 0 {
            return None;
        }
        self.point.timing = self.timing.name();
        self.point.conclude(rule, stage.clock.tick());
        let unsure = self.point.clock_error > CLOCK_PART * self.point.estimate.abs();
        if self.timing.rests_on_clock() && unsure {
            self.point.note("clock");
        }
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
        let begun = stage.clock.local();
        done = measuring.batch(stage, operation, rule, begun)?;
    }
    Ok(measuring.conclude(stage, rule))
}

/// Seconds until all ranks have heard of an instant, and until nobody is at it any more: in a
/// simulation they are free.
const LEAD_SECONDS: f64 = 10.0;

/// Collective, on a simulated cluster: the true time of one call. After two others all ranks begin
/// at one instant of the simulation's own clock; from the first entry to the last exit. None where
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
    announce(comm, &mut instant)?;
    clock.sleep_until(instant[0]);
    let entry = clock.now();
    operation.call()?;
    let exit = clock.now();
    // What is collected must not meet what others are still doing.
    clock.sleep_until(instant[0] + LEAD_SECONDS);
    let all = collect(comm, &[entry, exit])?;
    let first = all.chunks(2).map(|span| span[0]).fold(f64::INFINITY, f64::min);
    let last = all.chunks(2).map(|span| span[1]).fold(f64::NEG_INFINITY, f64::max);
    Ok((comm.rank() == 0).then_some(last - first))
}
