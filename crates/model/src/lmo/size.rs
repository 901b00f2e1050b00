//! How ways depend on the size of a message: libraries change their protocol between sizes.
//!
//! Round trips of some pairs at many sizes show it. Of each size two factors are fitted to all of
//! these pairs, one for latencies and one for times of a byte; where a straight line says the same,
//! there are none.

use std::collections::BTreeMap;

use laneway_core::Rank;
use laneway_stats::median;

use super::Host;
use crate::experiments::{Experiments, Index, Kind};

/// What the latency and the time of a byte of every pair are multiplied by, for messages of so many
/// bytes; between two of them by interpolation over the logarithm of the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeFactor {
    pub bytes: u64,
    pub latency: f64,
    pub per_byte: f64,
}

/// A straight line may be off by such a part of a round trip, at any size, in the middle of pairs.
const STRAIGHT: f64 = 0.03;
/// How strongly a factor that hardly matters is held to 1.
const HOLD: f64 = 1e-4;
/// No factor is below.
const LEAST: f64 = 0.02;

/// The factors of a size.
pub(crate) fn at_size(factors: &[SizeFactor], bytes: u64) -> SizeFactor {
    let none = SizeFactor { bytes, latency: 1.0, per_byte: 1.0 };
    let after = factors.partition_point(|factor| factor.bytes < bytes);
    let (before, next) = (after.checked_sub(1).map(|at| factors[at]), factors.get(after).copied());
    match (before, next) {
        (None, None) => none,
        (Some(last), None) => SizeFactor { bytes, ..last },
        // An empty message is what the latency was measured with.
        (None, Some(first)) => {
            let part = bytes as f64 / first.bytes as f64;
            SizeFactor { bytes, latency: 1.0 + part * (first.latency - 1.0), ..first }
        }
        (Some(one), Some(other)) => {
            let log = |size: u64| (size as f64).ln();
            let part = (log(bytes) - log(one.bytes)) / (log(other.bytes) - log(one.bytes));
            let between = |a: f64, b: f64| a + part * (b - a);
            SizeFactor {
                bytes,
                latency: between(one.latency, other.latency),
                per_byte: between(one.per_byte, other.per_byte),
            }
        }
    }
}

/// One pair at one size.
#[derive(Clone, Copy, Debug)]
struct Sample {
    bytes: f64,
    /// Seconds of the round trip.
    trip: f64,
    /// What it takes beyond an empty one, without what the hosts add.
    excess: f64,
}

/// A pair with its samples, which rise in size.
struct Curve {
    latency: f64,
    samples: Vec<Sample>,
}

impl Curve {
    /// Seconds a byte of a straight line through all sizes.
    fn line(&self) -> f64 {
        let sum = |of: &dyn Fn(&Sample) -> f64| self.samples.iter().map(of).sum::<f64>();
        let above = sum(&|one| one.bytes * one.excess / one.trip.powi(2));
        above / sum(&|one| (one.bytes / one.trip).powi(2))
    }

    /// Seconds a byte between the two longest messages; none where they tell none.
    fn last_slope(&self) -> Option<f64> {
        let [.., one, other] = &self.samples[..] else { return None };
        let slope = (other.excess - one.excess) / (other.bytes - one.bytes);
        (slope > 0.0).then_some(slope)
    }
}

/// The factors that the experiments show.
pub(super) fn find(
    experiments: &Experiments,
    index: &Index,
    hosts: &[Host],
    latency: &dyn Fn(Rank, Rank) -> f64,
) -> Vec<SizeFactor> {
    let mut curves: BTreeMap<[Rank; 2], Curve> = BTreeMap::new();
    let mut sizes = Vec::new();
    for timed in experiments.fitted() {
        let (Kind::Curve { bytes }, &[i, j]) = (timed.kind, &timed.ranks[..]) else { continue };
        let empty = Kind::RoundTrip { out_bytes: 0, back_bytes: 0 };
        let Ok(empty) = index.needed(empty, &[i.min(j), i.max(j)]) else { continue };
        let ends = hosts[i as usize].per_byte.value + hosts[j as usize].per_byte.value;
        let trip = timed.time.value.max(f64::MIN_POSITIVE);
        let excess = trip - empty.value - bytes as f64 * ends;
        let curve = curves.entry([i, j]);
        let curve = curve.or_insert_with(|| Curve { latency: latency(i, j), samples: Vec::new() });
        curve.samples.push(Sample { bytes: bytes as f64, trip, excess });
        sizes.push(bytes);
    }
    sizes.sort_unstable();
    sizes.dedup();
    let mut curves: Vec<Curve> = curves.into_values().collect();
    curves.iter_mut().for_each(|curve| curve.samples.sort_by(|a, b| a.bytes.total_cmp(&b.bytes)));
    match is_straight(&curves, &sizes) {
        true => Vec::new(),
        false => sizes.iter().map(|&bytes| fit(&curves, bytes)).collect(),
    }
}

fn is_straight(curves: &[Curve], sizes: &[u64]) -> bool {
    sizes.iter().all(|&size| {
        let off = |curve: &Curve| {
            let line = curve.line();
            let sample = curve.samples.iter().find(|one| one.bytes == size as f64)?;
            Some((sample.excess - line * sample.bytes) / sample.trip)
        };
        let off: Vec<f64> = curves.iter().filter_map(off).collect();
        median(&off).is_none_or(|off| off.abs() <= STRAIGHT)
    })
}

/// Least squares of what the pairs are off, as parts of their round trips.
fn fit(curves: &[Curve], bytes: u64) -> SizeFactor {
    let mut squares = [[HOLD, 0.0], [0.0, HOLD]];
    let mut products = [0.0; 2];
    let size = bytes as f64;
    let known = curves.iter().filter_map(|curve| {
        let sample = curve.samples.iter().find(|one| one.bytes == size)?;
        Some((curve, sample, curve.last_slope()?))
    });
    let known: Vec<_> = known.collect();
    for (curve, sample, slope) in &known {
        let parts = [curve.latency / sample.trip, size * slope / sample.trip];
        let off = sample.excess / sample.trip - parts[1];
        for row in 0..2 {
            products[row] += parts[row] * off / known.len() as f64;
            for column in 0..2 {
                squares[row][column] += parts[row] * parts[column] / known.len() as f64;
            }
        }
    }
    let [[a, b], [c, d]] = squares;
    let by = a * d - b * c;
    let latency = (d * products[0] - b * products[1]) / by;
    let per_byte = (a * products[1] - c * products[0]) / by;
    SizeFactor { bytes, latency: (1.0 + latency).max(LEAST), per_byte: (1.0 + per_byte).max(LEAST) }
}
