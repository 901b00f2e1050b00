//! Two lists of samples: do they differ, by how much, and how sure is that?

use crate::distribution::normal_cdf;
use crate::interval::{Interval, median_interval};
use crate::rank::ranks;
use crate::summary::{ends_are_finite, median, sorted};

/// Below this number of samples on both sides, and without ties, the test is exact, as in R.
const EXACT_BELOW: usize = 50;

/// The test of Mann and Whitney: were the two lists drawn from one distribution?
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RankTest {
    /// In how many pairs of an old and a new sample the new one is larger; ties count a half.
    pub u: f64,
    /// How probable a `u` so far from the middle is, on either side, if nothing changed.
    pub p_value: f64,
    /// How probable a `u` so large is if nothing changed: small where the new times are longer.
    pub p_slower: f64,
}

/// Exact for few samples without ties; otherwise the normal approximation, corrected for ties and
/// for the steps of `u`. `None` where a list is empty or not finite.
pub fn mann_whitney(old: &[f64], new: &[f64]) -> Option<RankTest> {
    let all: Vec<f64> = new.iter().chain(old).copied().collect();
    if old.is_empty() || new.is_empty() || all.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let ranks = ranks(&all);
    let (m, n) = (new.len() as f64, old.len() as f64);
    let u = ranks.places[..new.len()].iter().sum::<f64>() - m * (m + 1.0) / 2.0;
    let at_least = if ranks.ties == 0.0 && old.len().max(new.len()) < EXACT_BELOW {
        let chances = u_distribution(new.len(), old.len());
        let from = |u: f64| chances[u as usize..].iter().sum::<f64>().min(1.0);
        [from(u), from(m * n - u)]
    } else {
        let count = m + n;
        let ties = ranks.ties / (count * (count - 1.0));
        let spread = (m * n / 12.0 * (count + 1.0 - ties)).sqrt();
        // Where all samples are equal the two do not differ.
        let beyond = |u: f64| {
            let steps = m * n / 2.0 - u + 0.5;
            if spread > 0.0 { normal_cdf(steps / spread) } else { 1.0 }
        };
        [beyond(u), beyond(m * n - u)]
    };
    let [p_slower, p_faster] = at_least;
    Some(RankTest { u, p_value: (2.0 * p_slower.min(p_faster)).min(1.0), p_slower })
}

/// The probability of each value of U for `m` against `n` samples: the largest of all samples is of
/// the first list with probability `m / (m + n)` and then beats all `n` of the second.
fn u_distribution(m: usize, n: usize) -> Vec<f64> {
    // For the current size of the first list: one distribution for each size of the second.
    let mut table: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=n {
            let share = i as f64 / (i + j) as f64;
            let mut chances = vec![0.0; i * j + 1];
            for (u, chance) in table[j].iter().enumerate() {
                chances[u + j] += share * chance;
            }
            for (u, chance) in next[j - 1].iter().enumerate() {
                chances[u] += (1.0 - share) * chance;
            }
            next.push(chances);
        }
        table = next;
    }
    table.swap_remove(n)
}

/// By how much the new samples are larger: the median of the differences of all pairs (Hodges and
/// Lehmann). No difference is stored, so that long lists cost no memory.
pub fn hodges_lehmann(old: &[f64], new: &[f64]) -> Option<f64> {
    let (old, new) = (sorted(old), sorted(new));
    if !ends_are_finite(&old) || !ends_are_finite(&new) {
        return None;
    }
    let pairs = old.len() as u128 * new.len() as u128;
    let (low, high) = (difference(&old, &new, (pairs - 1) / 2), difference(&old, &new, pairs / 2));
    Some(low / 2.0 + high / 2.0).filter(|shift| shift.is_finite())
}

/// The difference `new - old` that has `place` smaller or equal ones before it, by halving the
/// range of all floating-point numbers: 64 walks along the two sorted lists.
fn difference(old: &[f64], new: &[f64], place: u128) -> f64 {
    let at_most = |value: f64| -> u128 {
        let mut count = 0;
        let mut first_too_large = 0;
        for x in old {
            while first_too_large < new.len() && new[first_too_large] - x <= value {
                first_too_large += 1;
            }
            count += first_too_large as u128;
        }
        count
    };
    let (mut low, mut high) = (ordinal(f64::NEG_INFINITY), ordinal(f64::INFINITY));
    while low < high {
        let middle = ((i128::from(low) + i128::from(high)).div_euclid(2)) as i64;
        if at_most(from_ordinal(middle)) > place {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_ordinal(low)
}

/// A whole number that grows as the floating-point number does.
fn ordinal(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn from_ordinal(ordinal: i64) -> f64 {
    let bits = if ordinal < 0 { i64::MIN - ordinal } else { ordinal };
    f64::from_bits(bits as u64)
}

/// The interval of the new median over the old one: 1.03 to 1.07 says that the new one is slower,
/// by 3 to 7 %.
///
/// Each median's logarithm has its own interval by order statistics, and on either side the two
/// distances from the estimate add up in squares (Zou and Donner 2008, "Construction of confidence
/// limits about effect measures"). Unlike a test of ranks this does not need two distributions of
/// one shape, and unlike one error for both sides it holds where one list has two peaks. Positive
/// samples only, and as many of each as [`median_interval`] needs.
pub fn ratio_interval(old: &[f64], new: &[f64], level: f64) -> Option<Interval> {
    let (old, old_range) = log_median(old, level)?;
    let (new, new_range) = log_median(new, level)?;
    let down = (new - new_range.low).hypot(old_range.high - old);
    let up = (new_range.high - new).hypot(old - old_range.low);
    let interval = Interval { low: (new - old - down).exp(), high: (new - old + up).exp(), level };
    interval.high.is_finite().then_some(interval)
}

/// The logarithm of the median and its interval.
fn log_median(samples: &[f64], level: f64) -> Option<(f64, Interval)> {
    if samples.iter().any(|&x| x <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = sorted(samples).iter().map(|x| x.ln()).collect();
    Some((median(&logarithms)?, median_interval(&logarithms, level)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn the_shift_is_the_median_of_all_differences() {
        let mut draws = SplitMix64::new(3);
        for (m, n) in [(1, 1), (2, 3), (7, 8), (20, 31)] {
            let mut list = |count| -> Vec<f64> {
                (0..count).map(|_| (draws.uniform() * 40.0).round() - 20.0).collect()
            };
            let (old, new) = (list(m), list(n));
            let all: Vec<f64> = new.iter().flat_map(|y| old.iter().map(move |x| y - x)).collect();
            assert_eq!(hodges_lehmann(&old, &new), median(&all), "{old:?} {new:?}");
        }
        let long: Vec<f64> = (0..30_000).map(f64::from).collect();
        let shifted: Vec<f64> = long.iter().map(|x| x + 2.5).collect();
        assert_eq!(hodges_lehmann(&long, &shifted), Some(2.5));
        assert_eq!(hodges_lehmann(&[], &long), None);
        assert_eq!(hodges_lehmann(&[f64::MAX], &[-f64::MAX]), None);
    }

    #[test]
    fn equal_lists_do_not_differ() {
        let same = mann_whitney(&[1.0; 9], &[1.0; 12]).expect("samples");
        assert_eq!((same.p_value, same.p_slower), (1.0, 1.0));
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn a_slower_list_is_seen() {
        let old: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 7)).collect();
        let new: Vec<f64> = old.iter().map(|x| x * 1.05).collect();
        let test = mann_whitney(&old, &new).expect("samples");
        assert!(test.p_slower < 1e-6 && test.p_value < 1e-6, "{test:?}");
        let back = mann_whitney(&new, &old).expect("samples");
        assert!(back.p_slower > 0.999 && (back.p_value - test.p_value).abs() < 1e-15);
        let ratio = ratio_interval(&old, &new, 0.95).expect("samples");
        assert!(ratio.low > 1.0 && ratio.holds(1.05), "{ratio:?}");
        assert_eq!(ratio_interval(&old, &new[..5], 0.95), None);
        assert_eq!(ratio_interval(&old, &[-1.0; 20], 0.95), None);
        assert_eq!(ratio_interval(&old, &[f64::NAN; 20], 0.95), None);
    }
}
