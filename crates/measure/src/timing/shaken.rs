//! What an operation takes if clocks are otherwise than they seem.
//!
//! The bound of a sample takes for granted that who begins later makes an operation at most so much
//! longer, and never shorter. Most operations are so. But where messages share a network, a rank
//! that begins a little later may meet others or just not, and an all-to-all may take a tenth less
//! or more. When ranks really begin is unknown if the ways are not symmetric. So clocks are drawn
//! by chance from all that the messages allow ([`Ways::draw`]), all ranks begin at one instant by
//! these, and the time is read by these. The truth is one of the clocks that could be drawn: what
//! it takes lies among what these repetitions take, or a little beyond, as they are few.

use laneway_core::CommError;
use laneway_core::talk::broadcast_value;
use laneway_stats::SplitMix64;

use super::{Remarks, Spans, Stage, timed};
use crate::clock::{Bound, Ways};
use crate::operation::Operation;
use crate::talk::broadcast;

/// Clocks that are drawn: at least and at most, and in between as many as fit into these seconds.
const FEWEST: u32 = 8;
const MOST: u32 = 32;
const SECONDS: f64 = 1.0;

/// If all times between two limits were equally likely, the limits would lie within [`unseen`] of
/// the range of this number of times beyond it, but for about one case in 200; this is how sure the
/// greatest alone is of its limit.
const SURE: f64 = 0.9995;

fn unseen(count: u32) -> f64 {
    (1.0 - SURE).powf(-1.0 / f64::from(count)) - 1.0
}

/// Repetitions that begin apart, from an instant on; known on every rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaking {
    pub first: f64,
    /// Seconds from one to the next, beside what ranks begin apart.
    pub period: f64,
}

impl Shaking {
    /// Collective: what the operation can take besides what the samples took; on rank 0.
    pub fn range(
        self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        samples: Bound,
    ) -> Result<Option<Bound>, CommError> {
        let (rank, ranks) = (stage.comm.rank() as usize, stage.comm.size() as usize);
        let ways = stage.clock.known_ways().unwrap_or(&Ways::OneClock).clone();
        let known = (self.first, self.period, ways.widest());
        let (first, period, reach) = broadcast_value(stage.comm, &known)?;
        let each = period + 2.0 * reach;
        let count = ((SECONDS / each) as u32).clamp(FEWEST, MOST);
        let mut random = SplitMix64::new(1);
        let mut drawn: Vec<f64> = (0..count).flat_map(|_| ways.draw(ranks, &mut random)).collect();
        broadcast(stage.comm, &mut drawn)?;
        let instant = |number: usize| first + number as f64 * each + reach;
        let mut own = Vec::with_capacity(count as usize);
        for (number, corrections) in drawn.chunks(ranks).enumerate() {
            stage.clock.sleep_until(instant(number) - corrections[rank]);
            own.push(timed(stage, operation)?);
        }
        stage.clock.sleep_until(instant(count as usize));
        let Some(spans) = Spans::gather(stage, &own, Remarks::default())? else {
            return Ok(None);
        };
        let taken = drawn.chunks(ranks).enumerate().map(|(number, c)| spans.whole_by(number, c));
        let range = taken.fold(samples, |range, time| Bound {
            low: range.low.min(time),
            high: range.high.max(time),
        });
        Ok(Some(range.widened((range.high - range.low) * unseen(count))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits of uniform values are seldom beyond what this number of them allows for.
    #[test]
    fn what_was_not_seen_is_allowed_for() {
        let mut random = SplitMix64::new(1);
        for count in [FEWEST, MOST] {
            let mut is_missed = || {
                let values: Vec<f64> = (0..count).map(|_| random.uniform()).collect();
                let low = values.iter().copied().fold(1.0, f64::min);
                let high = values.iter().copied().fold(0.0, f64::max);
                let beyond = (high - low) * unseen(count);
                low - beyond > 0.0 || high + beyond < 1.0
            };
            let missed = (0..20_000).filter(|_| is_missed()).count();
            assert!(missed <= 100, "{missed} of 20,000 with {count}");
        }
    }
}
