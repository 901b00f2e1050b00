//! Histograms: samples counted in bins of equal width, for pictures.

use crate::outlier::far_fences;
use crate::summary::{ends_are_finite, quantile};

/// Counts over bins from `low` to `high`, and what lies outside.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// Where the first class begins.
    pub low: f64,
    /// Where the last class ends.
    pub high: f64,
    /// How many values each class holds.
    pub counts: Vec<usize>,
    /// How many values lie below the first class.
    pub below: usize,
    /// How many values lie above the last class.
    pub above: usize,
}

impl Histogram {
    /// The width of a bin is that of Freedman and Diaconis, which follows the middle half of the
    /// samples; where that is 0 the number of bins is Sturges'. There are at most `most_bins`. The
    /// bins end at Tukey's far fences: otherwise one outlier would press all else into one bin.
    pub fn of(sorted: &[f64], most_bins: usize) -> Option<Histogram> {
        if !ends_are_finite(sorted) || most_bins == 0 {
            return None;
        }
        let count = sorted.len() as f64;
        let middle_half = quantile(sorted, 0.75)? - quantile(sorted, 0.25)?;
        let (mut low, mut high) = (*sorted.first()?, *sorted.last()?);
        if middle_half > 0.0 {
            let fences = far_fences(sorted)?;
            (low, high) = (low.max(fences.0), high.min(fences.1));
        }
        // Of halves, as the difference of two finite numbers can overflow.
        let range = high / 2.0 - low / 2.0;
        let bins = if range == 0.0 {
            1.0
        } else if middle_half > 0.0 {
            (range / (middle_half / count.cbrt())).ceil()
        } else {
            count.log2().ceil() + 1.0
        };
        let bins = (bins as usize).clamp(1, most_bins);
        let mut histogram = Histogram { low, high, counts: vec![0; bins], below: 0, above: 0 };
        for &x in sorted {
            if x < low {
                histogram.below += 1;
            } else if x > high {
                histogram.above += 1;
            } else {
                let share = if range > 0.0 { (x / 2.0 - low / 2.0) / range } else { 0.0 };
                histogram.counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
            }
        }
        Some(histogram)
    }

    /// Where bin `i` begins; with `i` the number of bins, where the last one ends.
    pub fn edge(&self, i: usize) -> f64 {
        let share = i as f64 / self.counts.len() as f64;
        self.low * (1.0 - share) + self.high * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(count: u32) -> Vec<f64> {
        (0..count).map(f64::from).collect()
    }

    #[test]
    fn the_rule_of_freedman_and_diaconis() {
        // Quartiles 249.75 and 749.25, so the width is 2 * 499.5 / 10, and 999 / 99.9 is 10.
        let found = Histogram::of(&ladder(1000), 50).expect("samples");
        assert_eq!(found.counts, [100; 10]);
        assert_eq!((found.edge(0), found.edge(10)), (0.0, 999.0));
        assert_eq!(Histogram::of(&ladder(1000), 4).expect("samples").counts, [250; 4]);
    }

    #[test]
    fn an_outlier_does_not_flatten_the_picture() {
        let mut samples = ladder(1000);
        samples.insert(0, -1e7);
        samples.extend([1e12, 1e13]);
        let found = Histogram::of(&samples, 50).expect("samples");
        assert_eq!((found.below, found.above), (1, 2));
        assert!(found.counts.len() > 10, "{found:?}");
        assert_eq!(found.counts.iter().sum::<usize>(), 1000);
    }

    #[test]
    fn lists_without_spread() {
        assert_eq!(Histogram::of(&[3.0; 9], 50).expect("samples").counts, [9]);
        let coarse = Histogram::of(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 50).expect("samples");
        assert_eq!(coarse.counts, [5, 0, 0, 1]);
        let wide = Histogram::of(&[-f64::MAX, 0.0, f64::MAX], 50).expect("samples");
        assert_eq!(wide.counts.iter().sum::<usize>(), 3);
        assert_eq!(Histogram::of(&[], 50), None);
        assert_eq!(Histogram::of(&[1.0], 0), None);
        assert_eq!(Histogram::of(&[f64::INFINITY], 50), None);
    }
}
