//! Intervals: between which two values a median, a quantile or a mean lies, and how surely.

use crate::distribution::{binomial_cdf, t_quantile};
use crate::summary::{ends_are_finite, mean_and_stddev};

/// Holds the true value with probability `level`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The coverage in fact, which may be more than was asked for.
    pub level: f64,
}

impl Interval {
    /// Half the distance between the ends.
    pub fn half_width(&self) -> f64 {
        // Halved first: the difference of two finite numbers can overflow.
        self.high / 2.0 - self.low / 2.0
    }

    /// Whether a value lies between the ends, or on one.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The interval of the median, whatever the distribution: see [`quantile_interval`]. At a level of
/// 0.95 it takes six samples.
pub fn median_interval(sorted: &[f64], level: f64) -> Option<Interval> {
    quantile_interval(sorted, 0.5, level)
}

/// Two samples that have the quantile `q` of the distribution between them. How many samples fall
/// below a quantile is binomial whatever the distribution, so nothing is assumed but independence;
/// with ties the coverage is larger still. It is the narrowest pair that misses on either side with
/// at most half of what the level leaves; `None` where even the extremes miss more often.
pub fn quantile_interval(sorted: &[f64], q: f64, level: f64) -> Option<Interval> {
    if !ends_are_finite(sorted) || !is_level(level) || !is_level(q) {
        return None;
    }
    let count = sorted.len() as u64;
    let (below, missed_low) = deepest(count, q, (1.0 - level) / 2.0)?;
    let (above, missed_high) = deepest(count, 1.0 - q, (1.0 - level) / 2.0)?;
    Some(Interval {
        low: sorted[below as usize],
        high: sorted[(count - 1 - above) as usize],
        level: 1.0 - missed_low - missed_high,
    })
}

/// How many of `count` independent samples lie outside the interval of their median on either
/// side, and its coverage.
pub(crate) fn places_of_median(count: u64, level: f64) -> Option<(u64, f64)> {
    let (outside, missed) = deepest(count, 0.5, (1.0 - level) / 2.0).filter(|_| is_level(level))?;
    Some((outside, 1.0 - 2.0 * missed))
}

/// The largest `k` for which at most `k` of `count` samples lie below the quantile `q` with a
/// probability of at most `tail`, and that probability.
fn deepest(count: u64, q: f64, tail: f64) -> Option<(u64, f64)> {
    // A level such as 31/32 meets a probability exactly; rounding must not separate them.
    let fits = |k: u64| binomial_cdf(k, count, q).filter(|&p| p <= tail * (1.0 + 1e-12));
    let mut best = (0, fits(0)?);
    let mut too_many = count;
    while best.0 + 1 < too_many {
        let middle = best.0 + (too_many - best.0) / 2;
        match fits(middle) {
            Some(p) => best = (middle, p),
            None => too_many = middle,
        }
    }
    Some(best)
}

/// Student's interval of the mean, for samples that are nearly normal or many.
pub fn mean_interval(samples: &[f64], level: f64) -> Option<Interval> {
    if samples.len() < 2 || !is_level(level) {
        return None;
    }
    let (mean, stddev) = mean_and_stddev(samples)?;
    let count = samples.len() as f64;
    let half = t_quantile(0.5 + level / 2.0, count - 1.0)? * stddev / count.sqrt();
    let interval = Interval { low: mean - half, high: mean + half, level };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// Strictly between 0 and 1.
pub(crate) fn is_level(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(count: usize) -> Vec<f64> {
        (1..=count).map(|i| i as f64).collect()
    }

    /// The places that tables of the sign test give.
    #[test]
    fn known_places_of_the_median() {
        assert_eq!(median_interval(&ladder(5), 0.95), None);
        for (count, low, high, level) in [
            (6, 1.0, 6.0, 0.96875),
            (10, 2.0, 9.0, 0.978515625),
            (20, 6.0, 15.0, 0.9586105346679688),
        ] {
            let found = median_interval(&ladder(count), 0.95).expect("enough samples");
            assert_eq!((found.low, found.high), (low, high), "{count}");
            assert!((found.level - level).abs() < 1e-12, "{found:?}");
        }
        let exact = median_interval(&ladder(6), 0.96875).expect("the level is met exactly");
        assert_eq!((exact.low, exact.high), (1.0, 6.0));
        let many = median_interval(&ladder(100_000), 0.95).expect("enough samples");
        assert_eq!(many.low + many.high, 100_001.0);
        assert!(many.level >= 0.95 && many.level < 0.951, "{many:?}");
    }

    #[test]
    fn the_tail_takes_many_samples() {
        assert_eq!(quantile_interval(&ladder(300), 0.99, 0.95), None);
        let found = quantile_interval(&ladder(1000), 0.99, 0.95).expect("enough samples");
        assert!(found.holds(990.0) && found.level >= 0.95, "{found:?}");
    }

    #[test]
    fn ties_and_refusals() {
        let same = median_interval(&[2.0; 30], 0.95).expect("enough samples");
        assert_eq!((same.low, same.high), (2.0, 2.0));
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(median_interval(&ladder(50), level), None);
            assert_eq!(mean_interval(&ladder(50), level), None);
        }
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(mean_interval(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(mean_interval(&[f64::MAX, -f64::MAX], 0.95), None);
        assert_eq!(median_interval(&[1.0, f64::INFINITY], 0.5), None);
    }
}
