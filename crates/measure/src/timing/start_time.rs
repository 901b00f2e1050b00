//! All ranks begin at an agreed instant, without a barrier: from the first entry to the last exit.
//!
//! The instants of a whole batch are agreed on at once, a period apart that is a little longer than
//! the operation. A rank that comes late to one (because the operation before was not over, or the
//! system had other work) spoils that repetition: it is rejected, counted, and if there are many
//! the period grows. The time to inform all ranks is measured in each batch, and the next one
//! begins accordingly. On a real machine few are rejected, the latest: what lateness does
//! to the rest is in their bounds. Where a host has more ranks than cores, or ranks were far apart
//! batch after batch, ranks miss their starts: the method falls back on a barrier and the
//! ranks' own clocks, and says so.
//!
//! Ranks that share cores also fall into step: who runs first on a core goes on being first, often
//! for as long as the launch lives, and its median is one of several that the operation can have,
//! up to a third apart. So there every rank now and then sleeps for a while of its own, and all
//! come to be seen.

use laneway_core::talk::broadcast_value;
use laneway_core::{CommError, encode_fields};
use laneway_stats::{SplitMix64, quantile, sorted};

use super::shaken::Shaking;
use super::{Batch, Remarks, Spans, Stage, Timing, isolated, timed, warm_up};
use crate::clock::Bound;
use crate::flags;
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::{broadcast, gather};

/// A period, as a multiple of what the operation seems to take.
const PERIOD: f64 = 1.05;
/// By how much it grows when many come late, and how far.
const LONGER: f64 = 1.6;
const LONGEST: f64 = 8.0;
/// How far from its instant a rank may begin, as a part of the operation, and at least, in seconds.
const LATE_PART: f64 = 0.001;
const LATE_SECONDS: f64 = 1e-6;
/// The same in virtual time, unless clocks are known less well than that.
const LATE_VIRTUAL: f64 = 20e-9;
/// On a real machine some rank is always late. This part of the repetitions counts whatever the
/// lateness is, which their bounds show.
const KEPT: f64 = 0.85;
/// The operation is over by then in this part of the repetitions of a real machine.
const OVER: f64 = 0.9;
/// Where half of the repetitions begin apart by more than this part of what they take, the ranks
/// are not together; and this number of such batches in a row is the evidence that they never
/// will be.
const APART: f64 = 0.5;
const SPOILED: u32 = 8;
/// Seconds of a batch after which clocks that drift are compared again: at most, and while the
/// drift is hardly known.
const LONGEST_BATCH: f64 = 1.0;
const FIRST_BATCH: f64 = 0.05;
/// After this number of repetitions every rank sleeps for up to this time. Shorter sleeps leave
/// the ranks in step, and with fewer repetitions between them it is their cost that is measured.
const IN_STEP: u32 = 10;
const LONGEST_SLEEP: f64 = 1e-3;
/// The time until the first instant of a batch, as a multiple of what it took to reach all ranks;
/// and how much of it is kept where less would do.
const LEAD: f64 = 1.1;
const LEAD_KEPT: f64 = 0.8;

/// From the first entry to the last exit of ranks that begin at an agreed instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct StartTime {
    /// What one repetition seems to take, from its instant to the last exit; on rank 0.
    rough: f64,
    /// From announcing a batch to its first instant; on rank 0.
    lead: f64,
    /// How many times longer than usual the period is, because many came late.
    slower: f64,
    /// Whether `rough` rests on a repetition that began at an agreed instant.
    seen: bool,
    spoiled: u32,
    fallen_back: bool,
    /// Whether another launch has decided whether ranks begin in time.
    decided: bool,
    /// Whether ranks have begun apart on purpose.
    shaken: bool,
    /// How often this rank slept to get out of step.
    slept: u32,
}

/// The instants of one batch.
struct Appointments {
    /// When they were announced, by rank 0's clock.
    announced: f64,
    first: f64,
    period: f64,
    pace: Pace,
    /// Whether ranks begin apart a few times after it.
    shake: bool,
}

/// What rank 0 tells the others of a batch.
struct Agreed {
    first: f64,
    period: f64,
    /// Repetitions for which instants can be agreed on.
    fitting: u32,
    give_up: bool,
    shake: bool,
}

encode_fields!(Agreed { first, period, fitting, give_up, shake });

impl Appointments {
    /// How many of them lie within `seconds`.
    fn within(&self, seconds: f64) -> u32 {
        let mut last = self.period;
        let mut fitting = 1;
        while fitting < self.pace.count {
            last += self.period + self.pace.pause_before(fitting);
            if last > seconds {
                break;
            }
            fitting += 1;
        }
        fitting
    }

    fn instants(&self) -> Vec<f64> {
        let mut instant = self.first;
        let mut all = Vec::with_capacity(self.pace.count as usize);
        for repetition in 0..self.pace.count {
            if repetition > 0 {
                instant += self.period + self.pace.pause_before(repetition);
            }
            all.push(instant);
        }
        all
    }
}

impl StartTime {
    /// For a point of which it is known whether ranks begin in time: a launch among others
    /// follows the first one, so that all are timed alike.
    pub fn decided(begins_in_time: bool) -> StartTime {
        StartTime { fallen_back: !begins_in_time, decided: true, ..StartTime::default() }
    }

    /// Collective: the repetitions of one batch, each at its instant; and when this rank was ready
    /// for the first.
    fn keep(
        &self,
        stage: &Stage,
        operation: &mut dyn Operation,
        plan: &Appointments,
    ) -> Result<(f64, Vec<(f64, f64)>), CommError> {
        let ready = stage.clock.local();
        let mut own = Vec::with_capacity(plan.pace.count as usize);
        let instants = plan.instants();
        for instant in &instants {
            stage.clock.sleep_until(*instant);
            own.push(timed(stage, operation)?);
        }
        // Who is done early must not talk while others still work.
        let last = instants.last().copied().unwrap_or(plan.first);
        stage.clock.sleep_until(last + plan.period);
        Ok((ready, own))
    }

    /// Rank 0 looks at a batch: what counts, what was late, and when the next one should be.
    fn judge(&mut self, spans: &Spans, plan: &Appointments, real: bool) -> Batch {
        let instants = plan.instants();
        let apart = |(repetition, instant): (usize, &f64)| {
            let late = spans.last_entry(repetition) - instant;
            late.max(instant - spans.first_entry(repetition))
        };
        let late: Vec<f64> = instants.iter().enumerate().map(apart).collect();
        let needed = spans.ready() - plan.announced;
        self.lead = (LEAD * needed + LATE_SECONDS).max(LEAD_KEPT * self.lead);
        // A rank that learnt the instant too late says nothing about who begins in time.
        let informed_late = usize::from(spans.ready() > plan.first);
        let bearable = match real {
            true => {
                quantile(&sorted(&late[informed_late.min(late.len() - 1)..]), KEPT).unwrap_or(0.0)
            }
            false => 0.0,
        };
        let least = if real { LATE_SECONDS } else { LATE_VIRTUAL.max(2.0 * spans.clock_error()) };
        let usual = |whole: f64| (LATE_PART * whole).max(least);
        let mut batch = spans.batch();
        let mut busy = Vec::new();
        let (mut unusual, mut asunder) = (0, 0);
        for (repetition, instant) in instants.iter().enumerate() {
            let whole = spans.whole(repetition);
            if repetition >= informed_late {
                unusual += u32::from(late[repetition] > usual(whole));
                asunder += u32::from(spans.skew(repetition) > APART * whole);
            }
            if late[repetition] > usual(whole).max(bearable) {
                batch.rejected += 1;
                continue;
            }
            batch.samples.push(spans.sample(repetition, whole));
            busy.push(spans.last_exit(repetition) - instant);
        }
        let judged = (instants.len() - informed_late) as u32;
        self.adapt(spans, &busy, real, instants.len());
        let many = |late: u32| 2 * late > judged;
        self.slower = if many(unusual) { (self.slower * LONGER).min(LONGEST) } else { 1.0 };
        let spoiled = if real { many(asunder) } else { many(unusual) };
        if judged > 0 {
            self.spoiled = if spoiled { self.spoiled + 1 } else { 0 };
        }
        batch
    }

    /// What the operation seems to take.
    fn adapt(&mut self, spans: &Spans, busy: &[f64], real: bool, count: usize) {
        let longest = busy.iter().copied().fold(0.0, f64::max);
        self.rough = match (busy.is_empty(), real) {
            (false, true) => quantile(&sorted(busy), OVER).unwrap_or(longest),
            // What took long once may do so again, as others come and go.
            (false, false) => {
                if self.seen {
                    longest.max(self.rough)
                } else {
                    longest
                }
            }
            (true, _) => {
                let longest = (0..count).map(|r| spans.whole(r)).fold(0.0, f64::max);
                longest.min(self.rough * 4.0)
            }
        };
        self.seen |= !busy.is_empty();
    }

    /// Collective: what the operation takes by other clocks that could be.
    fn shake(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        batch: &Batch,
    ) -> Result<Option<Bound>, CommError> {
        // Without a sample to begin with, it is done again.
        self.shaken = !batch.samples.is_empty();
        let times = || batch.samples.iter().map(|sample| sample.time);
        let samples = Bound {
            low: times().fold(f64::INFINITY, f64::min),
            high: times().fold(f64::NEG_INFINITY, f64::max),
        };
        let first = stage.clock.now() + self.lead;
        let shaking = Shaking { first, period: PERIOD * self.rough * self.slower };
        let range = shaking.range(stage, operation, samples)?;
        Ok(range.filter(|_| self.shaken))
    }

    /// Collective: a batch after a barrier, by the ranks' own clocks.
    fn fall_back(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let mut own = Vec::with_capacity(pace.count as usize);
        for done in (0..pace.count).step_by(IN_STEP as usize) {
            self.get_out_of_step(stage);
            own.extend(isolated(stage, operation, pace.part(done, IN_STEP))?);
        }
        let spans = Spans::gather(stage, &own, Remarks::default())?;
        let mut batch = spans.map_or_else(Batch::default, |spans| spans.longest_of_each());
        batch.note(flags::START_MISSED);
        Ok(batch)
    }

    /// Every rank sleeps a different while each time.
    fn get_out_of_step(&mut self, stage: &Stage) {
        self.slept += 1;
        let seed = u64::from(self.slept) << 32 | u64::from(stage.comm.rank());
        let part = SplitMix64::new(seed).uniform();
        let clock = stage.comm.clock();
        clock.sleep_until(clock.now() + part * LONGEST_SLEEP);
    }

    /// Collective: agrees on the instants of a batch, the first of them after a delay; none if
    /// agreed instants are given up. Clocks are compared in moments in which no other rank
    /// sends. A call at once would find others silent more often than one that comes alone does.
    fn agree(
        &self,
        stage: &Stage,
        pace: Pace,
        waiting: f64,
    ) -> Result<Option<Appointments>, CommError> {
        let announced = stage.clock.now();
        let (first, period) = (announced + self.lead + waiting, PERIOD * self.rough * self.slower);
        let shake = self.seen && !self.shaken && !stage.clock.is_global();
        let mut plan = Appointments { announced, first, period, pace, shake };
        // What a call after a barrier took may be too little, and all but the first come late.
        let fitting = match (self.seen, stage.clock.is_global()) {
            (false, _) => 1,
            (true, true) => pace.count,
            (true, false) => plan.within(trusted(stage) - waiting),
        };
        let give_up = !self.decided && self.spoiled >= SPOILED;
        // Only rank 0 knows what the operation takes.
        let known = Agreed { first, period, fitting, give_up, shake };
        let Agreed { first, period, fitting, give_up, shake } =
            broadcast_value(stage.comm, &known)?;
        (plan.first, plan.period, plan.shake) = (first, period, shake);
        plan.pace = pace.shortened(fitting);
        Ok((!give_up).then_some(plan))
    }
}

/// For how many seconds after a comparison of clocks instants are agreed on.
fn trusted(stage: &Stage) -> f64 {
    stage.clock.foresight().clamp(FIRST_BATCH, LONGEST_BATCH)
}

impl Timing for StartTime {
    fn name(&self) -> &'static str {
        if self.fallen_back { "start-time>maximum" } else { "start-time" }
    }

    fn rests_on_clock(&self) -> bool {
        !self.fallen_back
    }

    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        stage.clock.synchronise()?;
        let rough = warm_up(stage, operation)?;
        if self.lead > 0.0 {
            return Ok(());
        }
        (self.rough, self.slower) = (rough, 1.0);
        // Ranks that take turns on a core miss their starts.
        self.fallen_back |= !self.decided && stage.is_crowded()?;
        // There and back, over the tree that announcements take. Where the way there is longer than
        // the way back, the first batch shows it.
        let begun = stage.clock.local();
        broadcast(stage.comm, &mut [0.0])?;
        gather(stage.comm, &[0.0])?;
        self.lead = LEAD * (stage.clock.local() - begun) / 2.0 + LATE_SECONDS;
        Ok(())
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        if self.fallen_back {
            return self.fall_back(stage, operation, pace);
        }
        let real = !stage.comm.clock().is_virtual();
        let mut missed: f64 = 0.0;
        let pause = pace.pause_before(0);
        let waiting = pause.min(trusted(stage));
        if pause > 0.0 {
            stage.clock.sleep_until_local(stage.clock.local() + pause - waiting);
            missed = stage.clock.synchronise()?;
        }
        let Some(plan) = self.agree(stage, pace, waiting)? else {
            self.fallen_back = true;
            return self.fall_back(stage, operation, pace);
        };
        let (ready, own) = self.keep(stage, operation, &plan)?;
        // Clocks that drift are compared before and after, so that what lies between is known.
        missed = missed.max(stage.clock.synchronise()?);
        let remarks = Remarks { ready: stage.clock.global_of(ready), missed };
        let spans = Spans::gather(stage, &own, remarks)?;
        let mut batch = spans.map_or_else(Batch::default, |spans| self.judge(&spans, &plan, real));
        if plan.shake {
            batch.by_other_clocks = self.shake(stage, operation, &batch)?;
        }
        Ok(batch)
    }
}
