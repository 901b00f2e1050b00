//! Series without isolation: the total of each over its length, on every rank, as IMB does.
//!
//! paper: mpiblib 2.2 and figure 1. Repetitions overlap, so this is not the time of one; it is here
//! for comparison. A series is one sample: the longest of the ranks' means.

use laneway_core::CommError;

use super::{Batch, Stage, Timing};
use crate::operation::Operation;
use crate::talk::collect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Calls of one series, at least one.
    pub length: u32,
}

impl Default for Series {
    fn default() -> Series {
        Series { length: 100 }
    }
}

impl Timing for Series {
    fn name(&self) -> &'static str {
        "loop"
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError> {
        let gate = stage.gate()?;
        let mut room = Default::default();
        let mut gate = gate.open(&mut room)?;
        let length = self.length.max(1);
        let mut means = Vec::with_capacity(count as usize);
        for _ in 0..count {
            gate.pass()?;
            let entry = stage.clock.local();
            for _ in 0..length {
                operation.call()?;
            }
            means.push((stage.clock.local() - entry) / f64::from(length));
        }
        let all = collect(stage.comm, &means)?;
        let ranks: Vec<&[f64]> = all.chunks(means.len().max(1)).collect();
        let longest = |at: usize| ranks.iter().map(|own| own[at]).fold(0.0, f64::max);
        let count = if ranks.is_empty() { 0 } else { means.len() };
        Ok(Batch {
            samples: (0..count).map(longest).collect(),
            rank_means: ranks.iter().map(|own| own.iter().sum::<f64>() / count as f64).collect(),
            ..Batch::default()
        })
    }
}
