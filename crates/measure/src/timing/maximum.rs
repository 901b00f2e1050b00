//! Every rank times itself, and the longest counts.
//!
//! paper: mpiblib 2.1. It needs no common clock, but rests on everybody beginning together: how far
//! apart they began is told too, on the synchronised clock.

use laneway_core::CommError;

use super::{Batch, Spans, Stage, Timing, agree, isolated};
use crate::operation::Operation;

#[derive(Clone, Copy, Debug, Default)]
pub struct Maximum;

impl Timing for Maximum {
    fn name(&self) -> &'static str {
        "maximum"
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        wanted: u32,
    ) -> Result<Option<Batch>, CommError> {
        let count = agree(stage, wanted)?;
        if count == 0 {
            return Ok(None);
        }
        let own = isolated(stage, operation, count)?;
        let Some(spans) = Spans::gather(stage, &own)? else { return Ok(Some(Batch::default())) };
        let all = 0..count as usize;
        Ok(Some(Batch {
            samples: all.clone().map(|repetition| spans.longest(repetition)).collect(),
            skews: all.map(|repetition| spans.skew(repetition)).collect(),
            ..spans.batch()
        }))
    }
}
