//! How the overheads of hosts depend on the size of a message, where they are no straight line:
//! libraries copy short messages and pin long ones.
//!
//! Overheads of some hosts at many sizes show it. The factors are the middle of these hosts; where
//! a straight line says the same, there are none.

use std::collections::BTreeMap;

use laneway_stats::median;

use super::Host;
use crate::experiments::{Experiments, Kind};

/// What the overheads of every host are multiplied by, for messages of so many bytes; between two
/// of them by interpolation over the logarithm of the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadFactor {
    /// The size.
    pub bytes: u64,
    /// What the overhead of a send is multiplied by.
    pub send: f64,
    /// What the overhead of a receive is multiplied by.
    pub receive: f64,
}

/// A straight line may be off by such a part of an overhead, at any size, in the middle of hosts.
const STRAIGHT: f64 = 0.05;
/// An overhead that differs so much at the next size is a step; one between sizes that differ by
/// less is not sought.
const STEP: f64 = 0.06;
const NEAR: f64 = 1.06;
/// No factor is below.
const LEAST: f64 = 0.02;

/// The factors of a size.
pub(crate) fn at_overhead(factors: &[OverheadFactor], bytes: u64) -> OverheadFactor {
    let after = factors.partition_point(|factor| factor.bytes < bytes);
    let (before, next) = (after.checked_sub(1).map(|at| factors[at]), factors.get(after).copied());
    let between = |one: OverheadFactor, other: OverheadFactor, part: f64| OverheadFactor {
        bytes,
        send: one.send + part * (other.send - one.send),
        receive: one.receive + part * (other.receive - one.receive),
    };
    // The line begins with what an empty message costs.
    let none = OverheadFactor { bytes, send: 1.0, receive: 1.0 };
    match (before, next) {
        (None, None) => none,
        (Some(last), None) => OverheadFactor { bytes, ..last },
        (None, Some(first)) => between(none, first, bytes as f64 / first.bytes as f64),
        (Some(one), Some(other)) => {
            let log = |size: u64| (size as f64).ln();
            let part = (log(bytes) - log(one.bytes)) / (log(other.bytes) - log(one.bytes));
            between(one, other, part)
        }
    }
}

/// What a message costs its two hosts beyond their straight lines, in seconds.
pub(super) fn beyond_line(factors: &[OverheadFactor], [from, to]: [&Host; 2], bytes: u64) -> f64 {
    let factor = at_overhead(factors, bytes);
    let size = bytes as f64;
    (factor.send - 1.0) * (from.send.value + size * from.per_byte_sent.value)
        + (factor.receive - 1.0) * (to.receive.value + size * to.per_byte_received.value)
}

/// The factors that overheads show beyond the straight lines of their hosts.
pub(super) fn find(experiments: &Experiments, hosts: &[Host]) -> Vec<OverheadFactor> {
    let mut parts: BTreeMap<u64, [Vec<f64>; 2]> = BTreeMap::new();
    for timed in experiments.fitted() {
        let Some(host) = timed.ranks.first().map(|&rank| &hosts[rank as usize]) else { continue };
        let (which, bytes, line) = match timed.kind {
            Kind::SendOverhead { bytes } => (0, bytes, [host.send, host.per_byte_sent]),
            Kind::ReceiveOverhead { bytes } => (1, bytes, [host.receive, host.per_byte_received]),
            _ => continue,
        };
        let line = line[0].value + bytes as f64 * line[1].value;
        if bytes > 0 && bytes <= experiments.eager_bytes && line > 0.0 {
            parts.entry(bytes).or_default()[which].push(timed.time.value / line);
        }
    }
    let factor = |(bytes, parts): (u64, [Vec<f64>; 2])| {
        let [send, receive] = parts.map(|own| median(&own).unwrap_or(1.0).max(LEAST));
        OverheadFactor { bytes, send, receive }
    };
    let found: Vec<OverheadFactor> = parts.into_iter().map(factor).collect();
    let is_straight = |factor: f64| (factor - 1.0).abs() <= STRAIGHT;
    match found.iter().all(|one| is_straight(one.send) && is_straight(one.receive)) {
        true => Vec::new(),
        false => found,
    }
}

/// Sizes between two at which an overhead is quite another; the largest difference first.
pub(super) fn steps(factors: &[OverheadFactor]) -> Vec<u64> {
    let step = |two: &[OverheadFactor]| {
        let (one, other) = (two[0], two[1]);
        let differ = |a: f64, b: f64| (a - b).abs() / a.min(b);
        let differs = differ(one.send, other.send).max(differ(one.receive, other.receive));
        let between = ((one.bytes as f64) * (other.bytes as f64)).sqrt().round();
        let apart = other.bytes as f64 > one.bytes as f64 * NEAR;
        (apart && differs > STEP).then_some((differs, between as u64))
    };
    let mut steps: Vec<(f64, u64)> = factors.windows(2).filter_map(step).collect();
    steps.sort_by(|one, other| other.0.total_cmp(&one.0));
    steps.into_iter().map(|(_, bytes)| bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_lie_between_their_sizes() {
        let factor = |bytes: u64, send: f64| OverheadFactor { bytes, send, receive: 1.0 };
        let factors = [factor(100, 2.0), factor(10_000, 4.0)];
        let send = |bytes: u64| at_overhead(&factors, bytes).send;
        for (bytes, told) in [(0, 1.0), (50, 1.5), (100, 2.0), (1000, 3.0), (10_000, 4.0)] {
            assert!((send(bytes) - told).abs() < 1e-9, "{bytes}: {}", send(bytes));
        }
        assert_eq!(send(1 << 20), 4.0);
        assert_eq!(at_overhead(&[], 7).send, 1.0);
        assert_eq!(steps(&factors), [1000]);
    }
}
