//! Automatic warm-up: how many of the first samples still belong to the start of the machine.

use crate::compare::mann_whitney;
use crate::rank::ranks;

/// Samples in a batch, as in MSER-5 (White, Cobb and Spratt 2000): single ones would let a lucky
/// run of a few look stationary.
const BATCH: usize = 5;

/// How probable chance may be as the reason that the first samples differ.
const DOUBT: f64 = 0.01;

/// How many of the first samples to leave out, at most half of them.
///
/// The rule is MSER (White 1997, "An Effective Truncation Heuristic for Bias Reduction in
/// Simulation Output"): leave out the number of samples for which the standard error of the mean of
/// what remains is smallest. To drop slow first samples lowers the variance; to drop good ones only
/// lowers their number.
///
/// It is applied to the ranks of the samples. On the values one outlier in a thousand moves the
/// smallest error to just behind it; a rank is bounded, so it takes many samples that are slow
/// together, and these are what could move a median. A single slow first sample may therefore stay:
/// it moves no median.
///
/// In pure noise the smallest error lies anywhere, and would cost short lists many good samples; so
/// what is left out must differ from what remains by the test of Mann and Whitney. 0 otherwise, for
/// fewer than four batches, and where a sample is not finite.
pub fn warm_up(samples: &[f64]) -> usize {
    if samples.len() < 4 * BATCH || samples.iter().any(|x| !x.is_finite()) {
        return 0;
    }
    let places = ranks(samples).places;
    let batches: Vec<f64> =
        places.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let mut best = (f64::INFINITY, 0);
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    // From the end, so that each step adds one batch to the running variance (Welford 1962).
    for (dropped, batch) in batches.iter().enumerate().rev() {
        count += 1.0;
        let gap = batch - mean;
        mean += gap / count;
        squares += gap * (batch - mean);
        let error = squares / (count * count);
        // Of equal errors the one that drops least.
        if dropped * 2 <= batches.len() && error <= best.0 {
            best = (error, dropped);
        }
    }
    let (head, rest) = samples.split_at(best.1 * BATCH);
    let differs = mann_whitney(rest, head).is_some_and(|test| test.p_value < DOUBT);
    if differs { head.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Around 100, with a spread of 1.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut draws = SplitMix64::new(seed);
        (0..count).map(|_| 98.0 + (0..4).map(|_| draws.uniform()).sum::<f64>()).collect()
    }

    /// The 10th, the middle and the 90th of the answers over a hundred seeds.
    fn answers(series: impl Fn(u64) -> Vec<f64>) -> [usize; 3] {
        let mut found: Vec<usize> = (0..100).map(|seed| warm_up(&series(seed))).collect();
        found.sort_unstable();
        [found[10], found[50], found[90]]
    }

    #[test]
    fn a_slow_start_is_left_out() {
        let series = |seed| {
            let decay = |i: usize| 50.0 * (-(i as f64) / 10.0).exp();
            noise(500, seed).iter().enumerate().map(|(i, x)| x + decay(i)).collect()
        };
        let [low, middle, high] = answers(series);
        // The decay is down to the spread of the noise at 40 samples.
        assert!(low >= 30 && middle <= 60 && high <= 150, "{low} {middle} {high}");
    }

    #[test]
    fn a_step_is_found_to_a_batch() {
        let series = |seed| {
            noise(400, seed)
                .iter()
                .enumerate()
                .map(|(i, x)| x + (i < 83) as u8 as f64 * 5.0)
                .collect()
        };
        let [low, middle, high] = answers(series);
        assert!(low >= 80 && middle <= 95 && high <= 160, "{low} {middle} {high}");
    }

    #[test]
    fn noise_with_outliers_is_kept() {
        let series = |seed| {
            let mut samples = noise(400, seed);
            let mut draws = SplitMix64::new(seed + 1000);
            (0..8).for_each(|_| samples[draws.index(400)] *= 50.0);
            samples
        };
        assert_eq!(answers(series), [0, 0, 0]);
        assert_eq!(answers(|seed| noise(40, seed)), [0, 0, 0], "a short list");
    }

    #[test]
    fn nothing_to_decide() {
        assert_eq!(warm_up(&[3.0; 1000]), 0);
        assert_eq!(warm_up(&[9.0, 1.0, 1.0]), 0);
        assert_eq!(warm_up(&[]), 0);
        assert_eq!(warm_up(&[f64::NAN; 100]), 0);
        // On a simulated platform all but the first samples are the same.
        let mut exact = vec![1.7; 100];
        exact[0] = 38.1;
        assert_eq!(warm_up(&exact), 5);
        // A step behind the middle cannot be left out.
        let late: Vec<f64> = (0..100).map(|i| if i < 70 { 2.0 } else { 1.0 }).collect();
        assert!(warm_up(&late) <= 50);
    }
}
