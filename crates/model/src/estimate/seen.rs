//! What the repetitions of an experiment say together.
//!
//! Where others use the network now and then, times are skewed: more than half of the short
//! messages may meet no contention, and yet many of them in turn take longer than their medians.
//! Means add up; and where messages share a link fairly, the mean time is a straight line over
//! sizes, whatever the others send.

use laneway_stats::{mean_interval, sorted};

use crate::parameter::{LEVEL, Parameter};

/// What is slower than this part of all repetitions counts as they do: once in a while a process
/// is stopped for long, which is nothing of the network.
const KEPT: f64 = 0.95;
/// Numbers that it is sent as.
pub(super) const NUMBERS: usize = 5;

/// The mean with its interval, how far repetitions differ, and the fastest of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub mean: Parameter,
    /// Their standard deviation.
    pub spread: f64,
    pub fastest: f64,
}

impl Seen {
    pub fn of(samples: &[f64]) -> Seen {
        let mut rising = sorted(samples);
        let fastest = rising.first().copied().unwrap_or(f64::NAN);
        let last = rising.len().saturating_sub(1);
        let most = rising.get((KEPT * last as f64).ceil() as usize).copied();
        rising.iter_mut().for_each(|one| *one = one.min(most.unwrap_or(*one)));
        let count = rising.len() as f64;
        let mean = rising.iter().sum::<f64>() / count;
        let squares: f64 = rising.iter().map(|one| (one - mean).powi(2)).sum();
        let half = mean_interval(&rising, LEVEL).map_or(0.0, |interval| interval.half_width());
        Seen { mean: Parameter::around(mean, half), spread: (squares / count).sqrt(), fastest }
    }

    pub fn numbers(&self) -> [f64; NUMBERS] {
        let Seen { mean: Parameter { value, low, high }, spread, fastest } = *self;
        [value, low, high, spread, fastest]
    }

    pub fn from([value, low, high, spread, fastest]: [f64; NUMBERS]) -> Seen {
        Seen { mean: Parameter { value, low, high }, spread, fastest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_counts_what_disturbs_often_and_not_what_does_once() {
        let mut samples = vec![1.0; 100];
        let quiet = Seen::of(&samples);
        assert_eq!((quiet.mean, quiet.spread), (Parameter::exact(1.0), 0.0));
        samples[..20].fill(2.0);
        let often = Seen::of(&samples);
        assert!((often.mean.value - 1.2).abs() < 1e-12 && often.mean.holds(1.2), "{often:?}");
        assert!((often.spread - 0.4).abs() < 1e-12 && often.fastest == 1.0, "{often:?}");
        samples[99] = 1000.0;
        let once = Seen::of(&samples);
        assert!((once.mean.value - 1.21).abs() < 1e-12, "{once:?}");
        assert_eq!(Seen::from(once.numbers()), once);
    }
}
