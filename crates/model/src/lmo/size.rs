//! How ways depend on the size of a message: libraries change their protocol between sizes.
//!
//! Round trips of some pairs at many sizes show it. Of each size two factors are fitted to all of
//! these pairs, one for latencies and one for times of a byte; where a straight line says the same,
//! there are none.

use std::collections::BTreeMap;

use laneway_core::Rank;
use laneway_stats::median;

use super::overhead::beyond_line;
use super::{Lmo, Pair};
use crate::experiments::{Experiments, Kind};

/// What the latency and the time of a byte of every pair are multiplied by, for messages of a
/// length; between two of them by interpolation over the logarithm of the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeFactor {
    /// The size.
    pub bytes: u64,
    /// What the latency is multiplied by.
    pub latency: f64,
    /// What the time of a byte is multiplied by.
    pub per_byte: f64,
}

/// A straight line may be off by such a part of a round trip, at any size, in the middle of pairs.
const STRAIGHT: f64 = 0.03;
/// A message that takes so much longer at the next size is a step; one between sizes that differ by
/// less is not sought.
const STEP: f64 = 0.06;
const NEAR: f64 = 1.06;
/// No round trip is taken as known better than to such a part.
const SURE: f64 = 0.001;
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

impl Lmo {
    /// Sizes between two at which a message takes quite another time; the largest difference first.
    pub(crate) fn steps(&self) -> Vec<u64> {
        let middle = |of: &dyn Fn(&Pair) -> f64| {
            median(&self.pairs.iter().map(of).collect::<Vec<f64>>()).unwrap_or(0.0)
        };
        let latency = middle(&|pair| pair.latency.value);
        let per_byte = middle(&|pair| (pair.there.value + pair.back.value) / 2.0);
        let step = |two: &[SizeFactor]| {
            let (one, other) = (two[0], two[1]);
            let between = ((one.bytes as f64) * (other.bytes as f64)).sqrt().round();
            let time = |factor: SizeFactor| {
                factor.latency * latency + between * factor.per_byte * per_byte
            };
            let (one_time, other_time) = (time(one), time(other));
            let differs = (one_time - other_time).abs() / one_time.min(other_time);
            let apart = other.bytes as f64 > one.bytes as f64 * NEAR;
            (apart && differs > STEP).then_some((differs, between as u64))
        };
        let mut steps: Vec<(f64, u64)> = self.sizes.windows(2).filter_map(step).collect();
        steps.sort_by(|one, other| other.0.total_cmp(&one.0));
        steps.into_iter().map(|(_, bytes)| bytes).collect()
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

    /// Seconds a byte between the two longest messages; `None` if they give none.
    fn last_slope(&self) -> Option<f64> {
        let [.., one, other] = &self.samples[..] else { return None };
        let slope = (other.excess - one.excess) / (other.bytes - one.bytes);
        (slope > 0.0).then_some(slope)
    }
}

/// The factors that the experiments show beyond a model without them.
pub(super) fn find(experiments: &Experiments, straight: &Lmo) -> Vec<SizeFactor> {
    let index = experiments.index();
    let mut curves: BTreeMap<[Rank; 2], Curve> = BTreeMap::new();
    let mut sizes = Vec::new();
    for timed in experiments.fitted() {
        let (Kind::Curve { bytes }, &[i, j]) = (timed.kind, &timed.ranks[..]) else { continue };
        let empty = Kind::RoundTrip { out_bytes: 0, back_bytes: 0 };
        let Ok(empty) = index.needed(empty, &[i.min(j), i.max(j)]) else { continue };
        let (from, to) = (&straight.hosts[i as usize], &straight.hosts[j as usize]);
        let ends = from.per_byte_sent.value + to.per_byte_received.value;
        let trip = timed.time.value.max(f64::MIN_POSITIVE);
        let costs = bytes as f64 * ends + beyond_line(&straight.overheads, [from, to], bytes);
        let excess = trip - empty.value - costs;
        let latency = straight.pair(i, j).latency.value;
        let curve = curves.entry([i, j]).or_insert_with(|| Curve { latency, samples: Vec::new() });
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
    let size = bytes as f64;
    let point = |curve: &Curve| {
        let sample = curve.samples.iter().find(|one| one.bytes == size)?;
        let parts = [curve.latency / sample.trip, size * curve.last_slope()? / sample.trip];
        Some(Point { parts, off: sample.excess / sample.trip - parts[1] })
    };
    let points: Vec<Point> = curves.iter().filter_map(point).collect();
    // As strongly as the points disagree where nothing is held.
    let free = least_squares(&points, SURE.powi(2));
    let squares: f64 = points.iter().map(|point| point.left(free).powi(2)).sum();
    let disagree = squares / points.len().max(1) as f64;
    let [latency, per_byte] = least_squares(&points, disagree.max(SURE.powi(2)));
    SizeFactor { bytes, latency: (1.0 + latency).max(LEAST), per_byte: (1.0 + per_byte).max(LEAST) }
}

/// A pair at a size: how much of its round trip is latency, and how much bytes; and what it is off,
/// which both of them have to explain.
struct Point {
    parts: [f64; 2],
    off: f64,
}

impl Point {
    fn left(&self, by: [f64; 2]) -> f64 {
        self.off - self.parts[0] * by[0] - self.parts[1] * by[1]
    }
}

/// What to add to the two factors, which are held near 1: by so large a square of what is left of
/// all points as of a factor that is off by one.
fn least_squares(points: &[Point], hold: f64) -> [f64; 2] {
    let mut squares = [[hold, 0.0], [0.0, hold]];
    let mut products = [0.0; 2];
    for Point { parts, off } in points {
        for row in 0..2 {
            products[row] += parts[row] * off;
            for column in 0..2 {
                squares[row][column] += parts[row] * parts[column];
            }
        }
    }
    let [[a, b], [c, d]] = squares;
    let by = a * d - b * c;
    [(d * products[0] - b * products[1]) / by, (a * products[1] - c * products[0]) / by]
}

#[cfg(test)]
mod tests {
    use super::super::Host;
    use super::*;
    use crate::parameter::Parameter;

    /// Pairs whose latencies and rates differ little, with a step of latencies alone beyond 4 KiB.
    fn curves() -> Vec<Curve> {
        let curve = |number: u32| {
            let latency = 10e-6 * (1.0 + 0.05 * f64::from(number % 5));
            let per_byte = 1e-9 * (1.0 + 0.1 * f64::from(number % 3));
            let sample = |bytes: f64| {
                let factor = if bytes > 4096.0 { 6.0 } else { 1.0 };
                let excess = (factor - 1.0) * latency + bytes * per_byte;
                Sample { bytes, trip: 2.0 * latency + excess, excess }
            };
            let samples = (10..=19).map(|power| sample(f64::from(1 << power))).collect();
            Curve { latency, samples }
        };
        (0..15).map(curve).collect()
    }

    #[test]
    fn a_step_of_latencies_is_none_of_bytes() {
        for (bytes, latency) in [(2048, 1.0), (8192, 6.0), (65536, 6.0)] {
            let found = fit(&curves(), bytes);
            assert!((found.latency / latency - 1.0).abs() < 0.03, "{found:?}");
            assert!((found.per_byte - 1.0).abs() < 0.03, "{found:?}");
        }
    }

    #[test]
    fn steps_are_sought_where_the_time_leaps() {
        let exact = |value: f64| Parameter::exact(value);
        let (latency, there, back) = (exact(10e-6), exact(1e-9), exact(1e-9));
        let pair = Pair { latency, there, back, ..Pair::default() };
        let size = |bytes: u64| {
            let latency = if bytes > 4500 { 6.0 } else { 1.0 };
            SizeFactor { bytes, latency, per_byte: 1.0 }
        };
        let hosts = vec![Host::default(); 2];
        let mut lmo = Lmo {
            hosts,
            pairs: vec![pair],
            in_order: true,
            sizes: Vec::new(),
            sizes_on_cards: true,
            overheads: Vec::new(),
            others: None,
        };
        lmo.sizes = [2048, 4096, 8192, 16384].map(size).to_vec();
        for sought in [5793, 4871, 4467, 4665] {
            assert_eq!(lmo.steps(), [sought]);
            lmo.sizes.push(size(sought));
            lmo.sizes.sort_by_key(|size| size.bytes);
        }
        assert_eq!(lmo.steps(), [], "it is found: {:?}", lmo.sizes);
    }
}
