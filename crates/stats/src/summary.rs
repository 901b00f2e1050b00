//! A list of samples in seven figures, and the quantiles that the other files stand on.

/// What a list of samples says in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Of the sample: divided by `count - 1`; 0 for a single one.
    pub stddev: f64,
    /// The least of them.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
    /// Half of them lie below.
    pub median: f64,
    /// 99 of 100 lie below.
    pub p99: f64,
}

impl Summary {
    /// `None` without samples, where one is not finite, or where their squares overflow.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        let (mean, stddev) = mean_and_stddev(samples)?;
        let sorted = sorted(samples);
        Some(Summary {
            count: samples.len(),
            mean,
            stddev,
            min: *sorted.first()?,
            max: *sorted.last()?,
            median: quantile(&sorted, 0.5)?,
            p99: quantile(&sorted, 0.99)?,
        })
    }
}

/// A copy in rising order; anything that is not a number goes to the ends.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut copy = samples.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// The value below which the share `q` of the samples lies, by linear interpolation between the
/// two nearest (type 7 of Hyndman and Fan, the default of R).
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if !ends_are_finite(sorted) || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = sorted.len() - 1;
    let at = q * last as f64;
    let below = (at as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let share = at - below as f64;
    // Never `low + (high - low) * share`: the difference of two finite numbers can overflow.
    Some((low * (1.0 - share) + high * share).max(low).min(high))
}

/// The median of samples in any order.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(&sorted(samples), 0.5)
}

/// Rising order puts whatever is not finite at the ends, so the ends answer for all.
pub(crate) fn ends_are_finite(sorted: &[f64]) -> bool {
    matches!((sorted.first(), sorted.last()), (Some(a), Some(b)) if a.is_finite() && b.is_finite())
}

/// In three passes, since a sum of squares loses every digit where the mean is large against the
/// spread (NIST's NumAcc4): the second pass removes what the first rounded off.
pub(crate) fn mean_and_stddev(samples: &[f64]) -> Option<(f64, f64)> {
    let count = samples.len() as f64;
    let rough = samples.iter().sum::<f64>() / count;
    let mean = rough + samples.iter().map(|x| x - rough).sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    let stddev = (squares / (count - 1.0).max(1.0)).sqrt();
    (mean.is_finite() && stddev.is_finite()).then_some((mean, stddev))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_answer_is_refused() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(median(&[]), None);
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Summary::of(&[1.0, bad, 2.0]), None);
            assert_eq!(median(&[1.0, bad, 2.0]), None);
        }
        assert_eq!(Summary::of(&[f64::MAX, f64::MAX]), None, "the sum overflows");
        assert_eq!(quantile(&[1.0, 2.0], 1.5), None);
        assert_eq!(quantile(&[1.0, 2.0], f64::NAN), None);
    }

    #[test]
    fn ends_and_one_sample() {
        let one = Summary::of(&[3.5]).expect("a sample");
        assert_eq!((one.mean, one.stddev, one.median, one.p99), (3.5, 0.0, 3.5, 3.5));
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!(quantile(&sorted, 0.0), Some(1.0));
        assert_eq!(quantile(&sorted, 1.0), Some(4.0));
        assert_eq!(quantile(&[-f64::MAX, f64::MAX], 0.5), Some(0.0));
    }
}
