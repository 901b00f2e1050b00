//! All ranks begin at an agreed instant, without a barrier: from the first entry to the last exit.
//!
//! The instants of a whole batch are agreed on at once, a period apart that is a little longer than
//! the operation. A rank that comes late to one (because the operation before was not over, or the
//! system had other work) spoils that repetition: it is rejected, counted, and if there are many
//! the period grows. Where ranks share cores nobody can keep an appointment, and the method falls
//! back on a barrier and the ranks' own clocks, and says so.
//!
//! Ranks that share cores also fall into step: who runs first on a core goes on being first, often
//! for as long as the launch lives, and its median is one of several that the operation can have,
//! up to a third apart. So there every rank now and then sleeps for a while of its own, and all
//! come to be seen.

use laneway_core::CommError;
use laneway_stats::SplitMix64;

use super::{Batch, Spans, Stage, Timing, isolated, timed, warm_up};
use crate::operation::Operation;
use crate::talk::{announce, collect};

/// A period, as so many times what the operation seems to take.
const PERIOD: f64 = 1.05;
/// By how much it grows when many come late.
const LONGER: f64 = 1.6;
/// How late a rank may begin, as a part of the operation, and at least, in seconds.
const LATE_PART: f64 = 0.001;
const LATE_SECONDS: f64 = 1e-6;
/// So many batches of mostly late repetitions in a row, and nobody can keep an appointment.
const SPOILED: u32 = 3;
/// Seconds of a batch after which clocks that drift are compared again: at most, and while the
/// drift is hardly known.
const LONGEST_BATCH: f64 = 1.0;
const FIRST_BATCH: f64 = 0.05;
/// So many repetitions, and then every rank sleeps for up to so many seconds. Shorter sleeps leave
/// the ranks in step, and with fewer repetitions between them it is their cost that is measured.
const IN_STEP: u32 = 10;
const LONGEST_SLEEP: f64 = 1e-3;
/// The time until the first instant of a batch, as so many times what telling everybody takes.
const LEAD: f64 = 1.1;

#[derive(Clone, Copy, Debug, Default)]
pub struct StartTime {
    /// What one repetition seems to take, and what it takes to tell everybody something; on rank 0.
    rough: f64,
    telling: f64,
    period: f64,
    /// Whether the period rests on a repetition that began at an appointment.
    seen: bool,
    spoiled: u32,
    fallen_back: bool,
    /// How often this rank slept to get out of step.
    slept: u32,
}

impl StartTime {
    /// Collective: the repetitions of one batch, each at its instant.
    fn appointments(
        &self,
        stage: &Stage,
        operation: &mut dyn Operation,
        (first, period, count): (f64, f64, u32),
    ) -> Result<Vec<(f64, f64)>, CommError> {
        let mut own = Vec::with_capacity(count as usize);
        for repetition in 0..count {
            stage.clock.sleep_until(first + f64::from(repetition) * period);
            own.push(timed(stage, operation)?);
        }
        Ok(own)
    }

    /// Rank 0 looks at a batch: what counts, what was late, and how long the period should be.
    fn judged(&mut self, spans: &Spans, first: f64, count: u32) -> Batch {
        let mut batch = spans.batch();
        for repetition in 0..count as usize {
            let whole = spans.whole(repetition);
            let instant = first + repetition as f64 * self.period;
            let late = spans.last_entry(repetition) - instant;
            if late > (LATE_PART * whole).max(LATE_SECONDS) {
                batch.rejected += 1;
                continue;
            }
            batch.samples.push(whole);
            batch.skews.push(spans.skew(repetition));
        }
        let longest = (0..count as usize).map(|r| spans.whole(r)).fold(0.0, f64::max);
        let kept = batch.samples.iter().copied().fold(0.0, f64::max);
        self.rough = if kept > 0.0 { kept } else { longest.min(self.rough * 4.0) };
        if 2 * batch.rejected > count {
            self.spoiled += 1;
            self.period = (self.period * LONGER).max(PERIOD * self.rough);
        } else {
            self.spoiled = 0;
            self.period = PERIOD * self.rough;
        }
        batch
    }

    /// Collective: a batch after a barrier, by the ranks' own clocks.
    fn fall_back(
        &mut self,
        stage: &Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError> {
        let mut own = Vec::with_capacity(count as usize);
        for done in (0..count).step_by(IN_STEP as usize) {
            self.get_out_of_step(stage);
            own.extend(isolated(stage, operation, IN_STEP.min(count - done))?);
        }
        let spans = Spans::gather(stage, &own)?;
        let mut batch = spans.map_or_else(Batch::default, |spans| spans.longest_of_each());
        batch.notes.push("no appointments");
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
        if !self.seen {
            (self.rough, self.period) = (rough, PERIOD * rough);
        }
        // There and back, over the tree that announcements take.
        let begun = stage.clock.local();
        announce(stage.comm, &mut [0.0])?;
        collect(stage.comm, &[0.0])?;
        self.telling = stage.clock.local() - begun;
        Ok(())
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError> {
        if self.fallen_back {
            return self.fall_back(stage, operation, count);
        }
        let longest = stage.clock.foresight().clamp(FIRST_BATCH, LONGEST_BATCH);
        let most = (longest / self.period.max(1e-9)).max(1.0) as u32;
        let fitting = if stage.clock.is_global() { count } else { count.min(most) };
        // What a call after a barrier took may be too little, and all but the first come late.
        let fitting = if self.seen { fitting } else { 1 };
        let give_up = self.spoiled >= SPOILED;
        let first = stage.clock.now() + LEAD * self.telling / 2.0 + LATE_SECONDS;
        // Only rank 0 knows what the operation takes.
        let mut plan = [first, self.period, f64::from(fitting), f64::from(u8::from(give_up))];
        announce(stage.comm, &mut plan)?;
        let [first, period, fitting, give_up] = plan;
        if give_up != 0.0 {
            self.fallen_back = true;
            return self.fall_back(stage, operation, count);
        }
        self.seen = true;
        let count = fitting as u32;
        let own = self.appointments(stage, operation, (first, period, count))?;
        // Clocks that drift are compared before and after, so that what lies between is known.
        let missed = stage.clock.synchronise()?;
        let spans = Spans::gather_begun(stage, &own, missed)?;
        let Some(spans) = spans else { return Ok(Batch::default()) };
        Ok(self.judged(&spans, first, count))
    }
}
