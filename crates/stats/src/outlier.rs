//! Outliers: how many samples lie far from the rest. They are counted and never removed.

use crate::summary::quantile;

/// How many samples lie beyond Tukey's far fences: three times the distance between the quartiles,
/// below the first or above the third. The fences come from the middle half of the samples, so that
/// outliers cannot hide each other, and a normal sample has one in 400,000. Where half of the
/// samples are equal, as with a coarse clock, the fences fall together and every other value
/// counts. 0 where there is nothing to judge.
pub fn outliers(sorted: &[f64]) -> usize {
    let Some((low, high)) = far_fences(sorted) else { return 0 };
    sorted.iter().filter(|&&x| x < low || x > high).count()
}

pub(crate) fn far_fences(sorted: &[f64]) -> Option<(f64, f64)> {
    let (first, third) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
    let reach = 3.0 * (third - first);
    Some((first - reach, third + reach))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_samples_are_counted_on_both_sides() {
        let mut samples: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(outliers(&samples), 0);
        samples.insert(0, -500.0);
        samples.extend([400.0, 1e9]);
        assert_eq!(outliers(&samples), 3);
    }

    #[test]
    fn a_coarse_clock_and_an_empty_list() {
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0]), 1);
        assert_eq!(outliers(&[]), 0);
        assert_eq!(outliers(&[1.0, f64::NAN]), 0);
    }
}
