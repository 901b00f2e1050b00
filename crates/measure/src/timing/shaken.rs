//! What it does to an operation that its ranks begin apart, beyond what that explains.
//!
//! The bound of a figure takes for granted that who begins later makes an operation at most so much
//! longer, and never shorter. Most operations are so. But where messages share a network, a rank
//! that begins a little later may meet others or just not, and an all-to-all may take a tenth less
//! or more. Nobody knows how far apart ranks really begin if the ways are not symmetric; so they
//! begin apart on purpose many times, by as much as nobody could see. If what is said above held,
//! what is left of any repetition after its last entry would be at most what any other takes from
//! its first entry; by as much as it is more, the bound is wider at both ends.

use laneway_core::CommError;
use laneway_stats::SplitMix64;

use super::{Remarks, Spans, Stage, timed};
use crate::operation::Operation;
use crate::talk::announce;

/// Repetitions that begin apart: at least and at most, and in between as many as fit into so many
/// seconds. What a few dozen instants hide is found by chance only, so long as it costs little.
const FEWEST: u32 = 8;
const MOST: u32 = 32;
const SECONDS: f64 = 0.25;

/// The most that was seen is not the most that there is: a part of it is added.
const UNSEEN: f64 = 0.25;

/// Repetitions that begin apart, from an instant on; known on every rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaking {
    pub first: f64,
    /// Seconds from one to the next, beside `reach`.
    pub period: f64,
    /// Seconds by which two ranks may begin apart.
    pub reach: f64,
}

impl Shaking {
    /// Collective: does them. By how many seconds they contradict each other or the samples, which
    /// took between these; on rank 0.
    pub fn surprise(
        mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        (least, most): (f64, f64),
    ) -> Result<f64, CommError> {
        let mut words = [self.first, self.period, self.reach];
        announce(stage.comm, &mut words)?;
        [self.first, self.period, self.reach] = words;
        let each = self.period + self.reach;
        let count = ((SECONDS / each) as u32).clamp(FEWEST, MOST);
        let instant = |repetition| self.first + f64::from(repetition) * each;
        let mut own = Vec::with_capacity(count as usize);
        for repetition in 0..count {
            let seed = u64::from(repetition) << 32 | u64::from(stage.comm.rank());
            let later = self.reach * SplitMix64::new(seed).uniform();
            stage.clock.sleep_until(instant(repetition) + later);
            own.push(timed(stage, operation)?);
        }
        stage.clock.sleep_until(instant(count));
        let Some(spans) = Spans::gather(stage, &own, Remarks::default())? else {
            return Ok(0.0);
        };
        // Samples differ by themselves where others disturb them: that is no surprise.
        let (mut less, mut more): (f64, f64) = (0.0, 0.0);
        for repetition in 0..count as usize {
            let whole = spans.whole(repetition);
            less = less.max(least - whole);
            more = more.max(whole - spans.skew(repetition) - most);
        }
        Ok((less + more) * (1.0 + UNSEEN))
    }
}
