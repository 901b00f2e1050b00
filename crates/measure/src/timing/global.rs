//! From the first entry to the last exit on one clock, after the stage's isolation.
//!
//! paper: mpiblib 2.1. Clocks are compared again after so many repetitions: the paper's cost comes
//! from comparing them after each.

use laneway_core::CommError;

use super::{Batch, Spans, Stage, Timing, isolated};
use crate::operation::Operation;

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
        count: u32,
    ) -> Result<Batch, CommError> {
        let mut own = Vec::with_capacity(count as usize);
        while own.len() < count as usize {
            let next = (count - own.len() as u32).min(self.resync.max(1));
            stage.clock.synchronise()?;
            own.extend(isolated(stage, operation, next)?);
        }
        // What lies between two comparisons is placed by interpolation.
        stage.clock.synchronise()?;
        let Some(spans) = Spans::gather(stage, &own)? else { return Ok(Batch::default()) };
        let all = 0..count as usize;
        Ok(Batch {
            samples: all.clone().map(|repetition| spans.whole(repetition)).collect(),
            skews: all.map(|repetition| spans.skew(repetition)).collect(),
            ..spans.batch()
        })
    }
}
