//! A series without isolation: its total over its length, on every rank, as IMB does.
//!
//! paper: mpiblib 2.2 and figure 1. Repetitions overlap, so this is not the time of one; it is here
//! for comparison. A batch is one series and one sample: the longest of the ranks' means.

use laneway_core::CommError;

use super::{Batch, Stage, Timing};
use crate::operation::Operation;
use crate::talk::collect;

#[derive(Clone, Copy, Debug, Default)]
pub struct Series;

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
        let gate = stage.isolation.gate(stage.comm)?;
        let mut room = Default::default();
        gate.open(&mut room)?.pass()?;
        let entry = stage.clock.local();
        for _ in 0..count {
            operation.call()?;
        }
        let mean = (stage.clock.local() - entry) / f64::from(count);
        let rank_means = collect(stage.comm, &[mean])?;
        let longest = rank_means.iter().copied().fold(0.0, f64::max);
        let samples = if rank_means.is_empty() { Vec::new() } else { vec![longest] };
        Ok(Batch { samples, rank_means, ..Batch::default() })
    }
}
