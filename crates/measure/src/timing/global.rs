//! From the first entry to the last exit on one clock, after the stage's isolation.
//!
//! paper: mpiblib 2.1. Clocks are compared again after a number of repetitions: the paper's cost
//! comes from comparing them after each.

use laneway_core::CommError;

use super::{Batch, Remarks, Spans, Stage, Timing, isolated};
use crate::operation::Operation;
use crate::pace::Pace;

/// From the first entry to the last exit by rank 0's clock.
#[derive(Clone, Copy, Debug)]
pub struct Global {
    /// Repetitions between two comparisons of the clocks.
    pub resync: u32,
}

impl Timing for Global {
    fn name(&self) -> &'static str {
        "global"
    }

    fn rests_on_clock(&self) -> bool {
        true
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let mut own = Vec::with_capacity(pace.count as usize);
        while own.len() < pace.count as usize {
            let next = (pace.count - own.len() as u32).min(self.resync.max(1));
            stage.clock.synchronise()?;
            let seed = pace.seed + own.len() as u64;
            own.extend(isolated(stage, operation, Pace { count: next, seed, ..pace })?);
        }
        // What lies between two comparisons is placed by interpolation.
        stage.clock.synchronise()?;
        let spans = Spans::gather(stage, &own, Remarks::default())?;
        let Some(spans) = spans else { return Ok(Batch::default()) };
        let sample = |repetition| spans.sample(repetition, spans.whole(repetition));
        Ok(Batch { samples: (0..own.len()).map(sample).collect(), ..spans.batch() })
    }
}
