//! Every rank times itself, and the longest counts.
//!
//! paper: mpiblib 2.1. It needs no common clock, but rests on all ranks beginning together: how far
//! apart they began is reported too, on the synchronised clock.

use laneway_core::CommError;

use super::{Batch, Remarks, Spans, Stage, Timing, isolated, warm_up};
use crate::operation::Operation;
use crate::pace::Pace;
use crate::talk::broadcast;

/// The longest of the ranks' own times; no common clock is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Maximum;

impl Timing for Maximum {
    fn name(&self) -> &'static str {
        "maximum"
    }

    /// The clocks are compared for the skew alone.
    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        stage.clock.synchronise()?;
        warm_up(stage, operation)?;
        // Rank 0 has just collected and would come last to the isolation, which a single repetition
        // shows: all come as between two batches.
        broadcast(stage.comm, &mut [0.0])
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        pace: Pace,
    ) -> Result<Batch, CommError> {
        let own = isolated(stage, operation, pace)?;
        let spans = Spans::gather(stage, &own, Remarks::default())?;
        Ok(spans.map_or_else(Batch::default, |spans| spans.longest_of_each()))
    }
}
