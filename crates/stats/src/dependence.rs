//! Samples that are not independent: how many independent ones they are worth, and the interval of
//! their median.
//!
//! What others do on a network comes in bursts. Samples inside one burst agree with each other and
//! say little about the time between bursts, so an interval that takes them for independent is too
//! narrow. Here each sample counts as being above or below the median, which is all that the
//! interval of a median rests on, and what neighbours in time have in common is added up
//! (Newey and West 1987, with Bartlett's weights).

use crate::interval::{Interval, is_level, median_interval, places_of_median};
use crate::summary::{ends_are_finite, quantile, sorted};

/// Samples nearer to each other in time than this part of the whole span are neighbours.
const NEIGHBOURS: f64 = 0.125;
/// Fewer samples than this show no significant effect.
const LEAST: usize = 12;
/// Below this an effect is what independent samples show by chance as well. Above, it is known from
/// few bursts only, and taken for so much more (as Student's factor is more than the normal one).
const BY_CHANCE: f64 = 1.15;
const UNSURE: f64 = 1.25;

/// By how much the variance of the share of samples below the median exceeds that of independent
/// samples; 1 without evidence for more. `at` is when each was taken, in rising order.
pub fn design_effect(at: &[f64], samples: &[f64]) -> f64 {
    let ends = sorted(samples);
    let (Some(median), true) = (quantile(&ends, 0.5), ends_are_finite(&ends)) else { return 1.0 };
    let side = |x: &f64| if *x > median { 1.0 } else { -f64::from(u8::from(*x < median)) };
    let sides: Vec<f64> = samples.iter().map(side).collect();
    let mean = sides.iter().sum::<f64>() / sides.len() as f64;
    let sides: Vec<f64> = sides.iter().map(|side| side - mean).collect();
    let alone: f64 = sides.iter().map(|side| side * side).sum();
    let (Some(first), Some(last)) = (at.first(), at.last()) else { return 1.0 };
    let window = NEIGHBOURS * (last - first);
    let is_enough = samples.len() >= LEAST && at.len() == samples.len();
    if !is_enough || alone <= 0.0 || window <= 0.0 {
        return 1.0;
    }
    let mut together = alone;
    for (one, (when, side)) in at.iter().zip(&sides).enumerate() {
        for (later, other) in at[one + 1..].iter().zip(&sides[one + 1..]) {
            let apart = later - when;
            if apart >= window {
                break;
            }
            together += 2.0 * (1.0 - apart / window) * side * other;
        }
    }
    let effect = together / alone;
    if effect > BY_CHANCE { UNSURE * effect } else { 1.0 }
}

/// The interval of the median of samples that are worth `1 / effect` as many independent ones.
/// Where these are too few, it is all that was seen, and its level says how little that is.
pub fn dependent_interval(sorted: &[f64], level: f64, effect: f64) -> Option<Interval> {
    if effect <= 1.0 || !ends_are_finite(sorted) || !is_level(level) {
        return median_interval(sorted, level);
    }
    let worth = sorted.len() as f64 / effect;
    let all = (0, (1.0 - 0.5f64.powf(worth - 1.0)).max(0.0));
    let (place, level) = places_of_median(worth as u64, level).unwrap_or(all);
    let place = ((place as f64 * effect) as usize).min((sorted.len() - 1) / 2);
    Some(Interval { low: sorted[place], high: sorted[sorted.len() - 1 - place], level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Samples every millisecond; a state that lasts for `lasting` of them adds to the noise.
    fn series(count: usize, lasting: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = SplitMix64::new(seed);
        let mut state = 0.0;
        let mut samples = Vec::new();
        for place in 0..count {
            if place % lasting == 0 {
                state = random.uniform();
            }
            samples.push(100.0 + state + 0.1 * random.uniform());
        }
        ((0..count).map(|i| i as f64 * 1e-3).collect(), samples)
    }

    fn median_effect(count: usize, lasting: usize) -> f64 {
        let effect = |seed| {
            let (at, samples) = series(count, lasting, seed);
            design_effect(&at, &samples)
        };
        let effects: Vec<f64> = (0..200).map(effect).collect();
        crate::median(&effects).expect("some")
    }

    #[test]
    fn bursts_are_worth_few_samples() {
        assert_eq!(median_effect(400, 1), 1.0);
        let ten = median_effect(400, 10);
        assert!((6.0..=11.0).contains(&ten), "{ten}");
    }

    /// How many of the intervals of 400 samples hold the median.
    fn held(lasting: usize) -> u32 {
        let holds = |seed: u64| {
            let (at, samples) = series(400, lasting, seed + 7);
            let effect = design_effect(&at, &samples);
            let interval = dependent_interval(&sorted(&samples), 0.95, effect);
            u32::from(interval.is_some_and(|interval| interval.holds(100.55)))
        };
        (0..500).map(holds).sum()
    }

    #[test]
    fn the_interval_holds_whatever_the_bursts() {
        // 92 % of 500.
        for lasting in [1, 3, 10] {
            assert!(held(lasting) >= 460, "{lasting}: {}", held(lasting));
        }
    }

    #[test]
    fn too_few_are_worth_nothing() {
        let ladder: Vec<f64> = (0..20).map(f64::from).collect();
        let all = dependent_interval(&ladder, 0.95, 4.0).expect("what was seen");
        assert_eq!((all.low, all.high, all.level), (0.0, 19.0, 0.9375));
        let wide = dependent_interval(&ladder, 0.95, 2.0).expect("ten are enough");
        let narrow = dependent_interval(&ladder, 0.95, 1.0).expect("twenty are enough");
        assert!(wide.low < narrow.low && wide.high > narrow.high);
        assert_eq!(design_effect(&[], &[]), 1.0);
        assert_eq!(design_effect(&[0.0, 1.0], &[f64::NAN, 1.0]), 1.0);
        assert_eq!(design_effect(&[0.0; 20], &ladder), 1.0);
        assert_eq!(design_effect(&[0.0, 1.0, 2.0], &[1.0, 1.0, 2.0]), 1.0);
        assert_eq!(dependent_interval(&[], 0.95, 2.0), None);
    }
}
