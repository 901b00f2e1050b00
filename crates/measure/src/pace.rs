//! How the samples of a batch lie in time: one after the other, or at random instants.
//!
//! What others do on a network comes in bursts, and samples of one burst are one sample. Random
//! instants see bursts and the time between them in the proportion in which they occur.

use laneway_core::{Clock, encode_fields};
use laneway_stats::SplitMix64;

/// The repetitions of one batch, the same on every rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Repetitions of the batch; 0 ends a measurement.
    pub count: u32,
    /// Seconds of a pause before each repetition, on average; each is random, up to twice as long.
    pub pause: f64,
    /// The same seed gives the same pauses.
    pub seed: u64,
}

impl Pace {
    /// One after the other.
    pub fn dense(count: u32) -> Pace {
        Pace { count, pause: 0.0, seed: 0 }
    }

    /// Only the first `count`.
    pub fn shortened(self, count: u32) -> Pace {
        Pace { count: self.count.min(count), ..self }
    }

    /// At most `count` repetitions of it, after the first `done`.
    pub fn part(self, done: u32, count: u32) -> Pace {
        let seed = self.seed.wrapping_add(u64::from(done) << 32);
        Pace { count: count.min(self.count - done), seed, ..self }
    }

    /// Seconds to wait before a repetition.
    pub fn pause_before(&self, repetition: u32) -> f64 {
        if self.pause <= 0.0 {
            return 0.0;
        }
        let place = self.seed.wrapping_add(u64::from(repetition) << 32);
        2.0 * self.pause * SplitMix64::new(place).uniform()
    }

    /// Seconds of all pauses.
    pub fn paused(&self) -> f64 {
        (0..self.count).map(|repetition| self.pause_before(repetition)).sum()
    }

    /// Waits before a repetition.
    pub fn wait_before(&self, repetition: u32, clock: &dyn Clock) {
        let pause = self.pause_before(repetition);
        if pause > 0.0 {
            clock.sleep_until(clock.now() + pause);
        }
    }
}

encode_fields!(Pace { count, pause, seed });

#[cfg(test)]
mod tests {
    use laneway_core::encode::Encode;

    use super::*;

    #[test]
    fn pauses_are_random_and_as_long_as_asked() {
        let pace = Pace { count: 900, pause: 0.5, seed: 7 };
        let pauses: Vec<f64> = (0..900).map(|repetition| pace.pause_before(repetition)).collect();
        assert!(pauses.iter().all(|pause| (0.0..1.0).contains(pause)) && pauses[0] != pauses[1]);
        assert_eq!(pace.paused(), pauses.iter().sum());
        assert!((pace.paused() / 900.0 - 0.5).abs() < 0.05);
        assert_eq!(Pace::dense(9).paused(), 0.0);
        assert_eq!(Pace::decode(&mut &pace.to_bytes()[..]), Some(pace));
        assert_eq!(pace.shortened(4).count, 4);
        let last = pace.part(890, 20);
        assert_eq!((last.count, last.pause_before(3)), (10, pauses[893]));
    }
}
