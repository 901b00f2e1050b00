//! The bootstrap: the interval of any statistic, from samples drawn again out of the samples.

use crate::interval::{Interval, is_level};
use crate::random::SplitMix64;
use crate::summary::{quantile, sorted};

/// The percentile interval of a statistic over `resamples` lists, each drawn with replacement and
/// as long as the samples. The same seed gives the same interval. `None` for fewer than two
/// samples, for too few resamples to have one beyond each end, and where the statistic of a list is
/// not finite.
pub fn bootstrap(
    samples: &[f64],
    level: f64,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<Interval> {
    let tail = (1.0 - level) / 2.0;
    if samples.len() < 2 || !is_level(level) || tail * (resamples as f64) < 1.0 {
        return None;
    }
    let mut draws = SplitMix64::new(seed);
    let mut drawn = vec![0.0; samples.len()];
    let mut figures = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        drawn.fill_with(|| samples[draws.index(samples.len())]);
        figures.push(statistic(&drawn));
    }
    let figures = sorted(&figures);
    Some(Interval { low: quantile(&figures, tail)?, high: quantile(&figures, 1.0 - tail)?, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(samples: &[f64]) -> f64 {
        samples.iter().sum::<f64>() / samples.len() as f64
    }

    #[test]
    fn the_seed_decides() {
        let samples: Vec<f64> = (0..40).map(f64::from).collect();
        let first = bootstrap(&samples, 0.95, 500, 1, mean).expect("enough");
        assert_eq!(bootstrap(&samples, 0.95, 500, 1, mean), Some(first));
        assert_ne!(bootstrap(&samples, 0.95, 500, 2, mean), Some(first));
        assert!(first.holds(19.5), "{first:?}");
    }

    #[test]
    fn what_has_no_answer() {
        assert_eq!(bootstrap(&[1.0], 0.95, 500, 1, mean), None);
        assert_eq!(bootstrap(&[1.0, 2.0], 0.95, 39, 1, mean), None, "none beyond each end");
        assert_eq!(bootstrap(&[1.0, f64::NAN], 0.95, 500, 1, mean), None);
        assert_eq!(bootstrap(&[1.0, 2.0], 1.0, 500, 1, mean), None);
    }
}
