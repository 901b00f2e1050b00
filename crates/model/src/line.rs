//! A straight line through times of messages, with neither end below 0 and an interval for each.

use laneway_stats::distribution::t_quantile;
use laneway_stats::median;

use crate::error::ModelError;
use crate::parameter::{LEVEL, Parameter};

/// T(m) = startup + per_byte * m, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Seconds of an empty message.
    pub startup: Parameter,
    /// Seconds of a byte.
    pub per_byte: Parameter,
}

/// A message's bytes and its time.
pub(crate) type Point = (u64, Parameter);

/// Sums of least squares, each point weighted by the inverse square of its time: else the longest
/// messages alone would count.
struct Sums {
    weight: f64,
    x: f64,
    xx: f64,
    y: f64,
    xy: f64,
}

impl Line {
    /// The seconds of `bytes` bytes.
    pub fn at(&self, bytes: u64, end: crate::End) -> f64 {
        self.startup.at(end) + self.per_byte.at(end) * bytes as f64
    }

    pub(crate) fn fit(points: &[Point]) -> Result<Line, ModelError> {
        let first = points.first().map(|point| point.0);
        if points.iter().all(|point| Some(point.0) == first) {
            let only = first.map_or("no size at all".into(), |size| format!("only {size} B"));
            let why = format!("a line takes two sizes that differ, and there is {only}");
            return Err(ModelError::Sizes { why });
        }
        let least = least(points);
        let weights: Vec<f64> = points.iter().map(|point| weight(point, least)).collect();
        let mut sums = Sums { weight: 0.0, x: 0.0, xx: 0.0, y: 0.0, xy: 0.0 };
        for ((size, time), weight) in points.iter().zip(&weights) {
            let (x, y) = (*size as f64, time.value);
            sums.weight += weight;
            sums.x += weight * x;
            sums.xx += weight * x * x;
            sums.y += weight * y;
            sums.xy += weight * x * y;
        }
        // Each parameter is a sum of times with factors that the sizes alone decide; of the four
        // cases (both free, one at 0, both at 0) the first that has none below 0.
        let determinant = sums.weight * sums.xx - sums.x * sums.x;
        let startup = (sums.xx * sums.y - sums.x * sums.xy) / determinant;
        let per_byte = (sums.weight * sums.xy - sums.x * sums.y) / determinant;
        let factors = |size: u64, weight: f64| {
            let x = size as f64;
            match (startup >= 0.0, per_byte >= 0.0) {
                (true, true) => [
                    weight * (sums.xx - sums.x * x) / determinant,
                    weight * (sums.weight * x - sums.x) / determinant,
                ],
                (false, _) => [0.0, weight * x / sums.xx],
                (_, false) => [weight / sums.weight, 0.0],
            }
        };
        let factors: Vec<[f64; 2]> =
            points.iter().zip(&weights).map(|(point, weight)| factors(point.0, *weight)).collect();
        let value = |which: usize| -> f64 {
            let terms = points.iter().zip(&factors);
            terms.map(|((_, time), factors)| factors[which] * time.value).sum::<f64>().max(0.0)
        };
        let values = [value(0), value(1)];
        let half = |which: usize| half(points, &weights, &factors, values, which);
        let parameter = |which: usize| Parameter::around(values[which], half(which)).not_negative();
        Ok(Line { startup: parameter(0), per_byte: parameter(1) })
    }
}

/// Half of what the shortest messages take in the middle: a time that noise has made shorter, or
/// negative, counts no more than that.
fn least(points: &[Point]) -> f64 {
    let shortest = points.iter().map(|point| point.0).min();
    let short = points.iter().filter(|point| Some(point.0) == shortest);
    let times: Vec<f64> = short.map(|point| point.1.value).collect();
    (median(&times).unwrap_or(0.0) / 2.0).max(1e-12)
}

fn weight((_, time): &Point, least: f64) -> f64 {
    time.value.max(least).powi(-2)
}

/// Half the interval of one parameter: what the times' own intervals allow, and what the points lie
/// beside the line.
fn half(
    points: &[Point],
    weights: &[f64],
    factors: &[[f64; 2]],
    values: [f64; 2],
    which: usize,
) -> f64 {
    let own = points.iter().zip(factors).map(|((_, time), f)| (f[which] * time.half()).powi(2));
    let residual = |(size, time): &Point| time.value - values[0] - values[1] * *size as f64;
    let freedom = points.len() as f64 - 2.0;
    let squares = points.iter().zip(weights).map(|(point, w)| residual(point).powi(2) * w);
    let spread = (squares.sum::<f64>() / freedom.max(1.0)).sqrt();
    let beside: f64 =
        weights.iter().zip(factors).map(|(w, f)| (f[which] * spread).powi(2) / w).sum();
    let t =
        if freedom >= 1.0 { t_quantile(0.5 + LEVEL / 2.0, freedom).unwrap_or(2.0) } else { 0.0 };
    (own.sum::<f64>() + t * t * beside).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(startup: f64, per_byte: f64) -> Vec<Point> {
        let time = |size: u64| startup + per_byte * size as f64;
        [0, 100, 5000, 1 << 20].map(|size| (size, Parameter::exact(time(size)))).to_vec()
    }

    #[test]
    fn a_line_is_found_and_never_below_zero() {
        let line = Line::fit(&points(30e-6, 1e-9)).expect("a line");
        assert!((line.startup.value / 30e-6 - 1.0).abs() < 1e-9, "{line:?}");
        assert!((line.per_byte.value / 1e-9 - 1.0).abs() < 1e-9 && line.startup.is_sound());
        let mut falling = points(30e-6, 0.0);
        falling[3].1 = Parameter::exact(20e-6);
        let line = Line::fit(&falling).expect("a line");
        assert!(line.per_byte.value == 0.0 && line.startup.is_sound(), "{line:?}");
        assert!(line.startup.low < line.startup.value, "{line:?}");
        let mut late = points(0.0, 1e-9);
        late[0].1 = Parameter::exact(0.0);
        late[1].1 = Parameter::exact(1e-12);
        assert!(Line::fit(&late).expect("a line").startup.value >= 0.0);
    }

    /// A time below 0, or next to nothing, does not take the line with it.
    #[test]
    fn a_spoilt_point_counts_no_more_than_others() {
        for bad in [-1e-6, 0.0, 1e-12] {
            let mut spoilt: Vec<Point> = (0..5).flat_map(|_| points(30e-6, 1e-9)).collect();
            spoilt[2].1 = Parameter::exact(bad);
            let line = Line::fit(&spoilt).expect("a line");
            assert!((line.startup.value / 30e-6 - 1.0).abs() < 0.3, "{line:?}");
            assert!((line.per_byte.value / 1e-9 - 1.0).abs() < 0.1, "{line:?}");
        }
    }

    #[test]
    fn one_size_is_not_a_line() {
        let same = vec![(8, Parameter::exact(1e-6)); 4];
        assert!(matches!(Line::fit(&same), Err(ModelError::Sizes { .. })));
        assert!(matches!(Line::fit(&[]), Err(ModelError::Sizes { .. })));
    }
}
