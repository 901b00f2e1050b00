//! Series without isolation: the total of each over its length, on every rank, as IMB does.
//!
//! paper: mpiblib 2.2 and figure 1. Repetitions overlap, so this is not the time of one; it is here
//! for comparison. A series is one sample: the longest of the ranks' means.

use laneway_core::CommError;

use super::{Batch, Sample, Stage, Timing};
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::gather;

/// The mean of a series of calls that nothing keeps apart.
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
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let gate = stage.gate()?;
        let mut room = Default::default();
        let mut gate = gate.open(&mut room)?;
        let length = self.length.max(1);
        let mut means = Vec::with_capacity(pace.count as usize);
        let mut begun = Vec::with_capacity(pace.count as usize);
        for series in 0..pace.count {
            pace.wait_before(series, stage.comm.clock());
            gate.pass()?;
            let entry = stage.clock.local();
            begun.push(entry);
            for _ in 0..length {
                operation.call()?;
            }
            means.push((stage.clock.local() - entry) / f64::from(length));
        }
        let all = gather(stage.comm, &means)?;
        let ranks: Vec<&[f64]> = all.chunks(means.len().max(1)).collect();
        let longest = |at: usize| ranks.iter().map(|own| own[at]).fold(0.0, f64::max);
        let count = if ranks.is_empty() { 0 } else { means.len() };
        Ok(Batch {
            samples: (0..count).map(|at| Sample::certain(begun[at], longest(at))).collect(),
            rank_means: ranks.iter().map(|own| own.iter().sum::<f64>() / count as f64).collect(),
            ..Batch::default()
        })
    }
}
