//! What it does to an operation that its ranks begin apart, beyond what that explains.
//!
//! The bound of a figure takes for granted that who begins later makes an operation at most so much
//! longer, and never shorter. Most operations are so. But where messages share a network, a rank
//! that begins a little later may meet others or just not, and an all-to-all may take a tenth less
//! or more. Nobody knows how far apart ranks really begin if the ways are not symmetric; so they
//! begin apart on purpose a few times, by as much as nobody could see, and whatever the operation
//! then takes beyond the bound is added to it.

use laneway_core::CommError;
use laneway_stats::SplitMix64;

use super::{Remarks, Spans, Stage, timed};
use crate::clock::Bound;
use crate::operation::Operation;
use crate::talk::announce;

/// So many repetitions that begin apart.
pub(super) const SHAKEN: u32 = 8;

/// By how many seconds an operation takes less or more than its bound says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surprise {
    pub less: f64,
    pub more: f64,
}

impl Surprise {
    pub fn or(self, other: Surprise) -> Surprise {
        Surprise { less: self.less.max(other.less), more: self.more.max(other.more) }
    }

    /// A bound that has it.
    pub fn widened(self, bound: Bound) -> Bound {
        Bound { low: (bound.low - self.less).max(0.0), high: bound.high + self.more }
    }
}

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
    /// Collective: does them. What they took beyond what samples between these took, on rank 0.
    pub fn surprise(
        mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        (least, most): (f64, f64),
    ) -> Result<Surprise, CommError> {
        let mut words = [self.first, self.period, self.reach];
        announce(stage.comm, &mut words)?;
        [self.first, self.period, self.reach] = words;
        let instant = |repetition| self.first + f64::from(repetition) * (self.period + self.reach);
        let mut own = Vec::with_capacity(SHAKEN as usize);
        for repetition in 0..SHAKEN {
            let seed = u64::from(repetition) << 32 | u64::from(stage.comm.rank());
            let later = self.reach * SplitMix64::new(seed).uniform();
            stage.clock.sleep_until(instant(repetition) + later);
            own.push(timed(stage, operation)?);
        }
        stage.clock.sleep_until(instant(SHAKEN));
        let Some(spans) = Spans::gather(stage, &own, Remarks::default())? else {
            return Ok(Surprise::default());
        };
        let mut surprise = Surprise::default();
        for repetition in 0..SHAKEN as usize {
            let longest = spans.whole(repetition);
            let shortest = longest - spans.skew(repetition);
            let (less, more) = ((least - longest).max(0.0), (shortest - most).max(0.0));
            surprise = surprise.or(Surprise { less, more });
        }
        Ok(surprise)
    }
}
