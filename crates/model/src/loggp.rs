//! LogGP: T = o_s + L + (m - 1) G + o_r, and g between two messages of one rank.
//!
//! One set of parameters for all ranks: the middle of what was measured.

use crate::error::ModelError;
use crate::experiments::{Experiments, Kind, Timed};
use crate::hockney::pooled;
use crate::line::Line;
use crate::parameter::{End, Parameter};
use crate::ports::Passage;

/// LogGP: latency, overheads and gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogGp {
    /// L: from one host to the other.
    pub latency: Parameter,
    /// o_s and o_r: what a message keeps its sender, and its receiver.
    pub send: Parameter,
    /// What a message keeps its receiver.
    pub receive: Parameter,
    /// g: from message to message.
    pub gap: Parameter,
    /// G: from byte to byte.
    pub per_byte: Parameter,
}

impl LogGp {
    /// From round trips, overheads and gaps.
    pub fn fit(experiments: &Experiments) -> Result<LogGp, ModelError> {
        let send = middle(experiments, Kind::SendOverhead { bytes: 0 })?;
        let receive = middle(experiments, Kind::ReceiveOverhead { bytes: 0 })?;
        let gap = middle(experiments, Kind::Gap { bytes: 0 })?;
        let Line { startup, per_byte } = Line::fit(&pooled(experiments)?)?;
        let latency = Parameter::sum(&[(1.0, startup), (-1.0, send), (-1.0, receive)]);
        Ok(LogGp { latency: latency.not_negative(), send, receive, gap, per_byte })
    }

    pub(crate) fn passage(&self, bytes: u64, end: End) -> Passage {
        let transfer = self.per_byte.at(end) * bytes.saturating_sub(1) as f64;
        let taken = transfer + self.gap.at(end);
        Passage { out: taken, latency: self.latency.at(end), transfer, into: taken }
    }
}

/// The middle over all ranks that did an experiment.
pub(crate) fn middle(experiments: &Experiments, kind: Kind) -> Result<Parameter, ModelError> {
    let time = |timed: &Timed| (timed.kind == kind).then_some(timed.time);
    let all: Vec<Parameter> = experiments.fitted().filter_map(time).collect();
    let missing = || ModelError::Missing { experiment: missing(kind) };
    Ok(Parameter::middle(&all).ok_or_else(missing)?.not_negative())
}

fn missing(kind: Kind) -> String {
    match kind {
        Kind::SendOverhead { bytes } => format!("send overhead of {bytes} B"),
        Kind::ReceiveOverhead { bytes } => format!("receive overhead of {bytes} B"),
        Kind::Gap { bytes } => format!("gap between messages of {bytes} B"),
        other => format!("{other:?}"),
    }
}
