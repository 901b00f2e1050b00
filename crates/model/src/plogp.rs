//! PLogP: a latency, and the gap g(m) as a function of the size: T = L + g(m).
//!
//! g(m) has all that a message takes at either end, so that o_s(m) and o_r(m) lie within it; they
//! are kept for later use. Between two sizes that were measured is a line, and after the last it
//! goes on. One set for all ranks: the middle of what was measured.

use crate::error::ModelError;
use crate::experiments::{Experiments, Kind};
use crate::loggp::middle;
use crate::parameter::{End, Parameter};
use crate::ports::Passage;

/// What messages of one size take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The size.
    pub bytes: u64,
    /// g(m): from message to message.
    pub gap: Parameter,
    /// o_s(m) and o_r(m), where they were measured.
    pub send: Option<Parameter>,
    /// What a message keeps its receiver.
    pub receive: Option<Parameter>,
}

/// PLogP: latency, and gaps and overheads as functions of the size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PLogP {
    /// L: from one host to the other.
    pub latency: Parameter,
    /// By rising size; the first is 0.
    pub steps: Vec<Step>,
}

impl PLogP {
    /// From round trips and gaps.
    pub fn fit(experiments: &Experiments) -> Result<PLogP, ModelError> {
        let mut steps: Vec<Step> = Vec::new();
        for bytes in [0].into_iter().chain(experiments.sizes()?) {
            let mut gap = middle(experiments, Kind::Gap { bytes })?;
            // A longer message takes no less: what says so is noise.
            if let Some(before) = steps.last().map(|step| step.gap).filter(|b| b.value > gap.value)
            {
                gap = Parameter {
                    value: before.value,
                    low: gap.low,
                    high: gap.high.max(before.value),
                };
            }
            let send = middle(experiments, Kind::SendOverhead { bytes }).ok();
            let receive = middle(experiments, Kind::ReceiveOverhead { bytes }).ok();
            steps.push(Step { bytes, gap, send, receive });
        }
        let empty = Kind::RoundTrip { out_bytes: 0, back_bytes: 0 };
        let trip = middle(experiments, empty)?;
        let first = steps.first().map(|step| step.gap).unwrap_or_default();
        let latency = Parameter::sum(&[(0.5, trip), (-1.0, first)]).not_negative();
        Ok(PLogP { latency, steps })
    }

    /// g(m).
    pub fn gap(&self, bytes: u64, end: End) -> f64 {
        let after = self.steps.partition_point(|step| step.bytes < bytes).max(1);
        let last = self.steps.len().saturating_sub(1);
        let (Some(a), Some(b)) =
            (self.steps.get(after.min(last).saturating_sub(1)), self.steps.get(after.min(last)))
        else {
            return 0.0;
        };
        let [from, to] = [a.gap.at(end), b.gap.at(end)];
        if a.bytes == b.bytes {
            return from;
        }
        let part = (bytes as f64 - a.bytes as f64) / (b.bytes as f64 - a.bytes as f64);
        (from + part * (to - from)).max(0.0)
    }

    pub(crate) fn passage(&self, bytes: u64, end: End) -> Passage {
        let gap = self.gap(bytes, end);
        Passage { out: gap, latency: self.latency.at(end), transfer: gap, into: gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_lie_on_lines_between_sizes_and_beyond() {
        let step = |bytes: u64, gap: f64| {
            let (send, receive) = (None, None);
            Step { bytes, gap: Parameter::exact(gap), send, receive }
        };
        let steps = vec![step(0, 1.0), step(10, 2.0), step(30, 6.0)];
        let model = PLogP { latency: Parameter::default(), steps };
        let gaps = [0, 5, 10, 20, 30, 40].map(|bytes| model.gap(bytes, End::Value));
        assert_eq!(gaps, [1.0, 1.5, 2.0, 4.0, 6.0, 8.0]);
    }
}
