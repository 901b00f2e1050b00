//! How the samples of a batch lie in time: one after the other, or in groups with random pauses.
//!
//! What others do on a network comes in bursts, and samples of one burst are one sample. Groups at
//! random instants see bursts and the time between them in the proportion in which they occur.

use laneway_core::Clock;
use laneway_stats::SplitMix64;

/// The repetitions of one batch, the same on every rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    pub count: u32,
    /// So many directly after each other.
    pub group: u32,
    /// Seconds of a pause before each group, on average; each is random, up to twice as long.
    pub pause: f64,
    pub seed: u64,
}

impl Pace {
    /// One after the other.
    pub fn dense(count: u32) -> Pace {
        Pace { count, group: count.max(1), pause: 0.0, seed: 0 }
    }

    /// Only the first so many.
    pub fn shortened(self, count: u32) -> Pace {
        Pace { count: self.count.min(count), ..self }
    }

    /// Seconds to wait before a repetition.
    pub fn pause_before(&self, repetition: u32) -> f64 {
        if self.pause <= 0.0 || !repetition.is_multiple_of(self.group.max(1)) {
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

    /// As numbers, to be announced.
    pub(crate) fn words(&self) -> [f64; 4] {
        // A seed of 32 bits is a number exactly.
        [f64::from(self.count), f64::from(self.group), self.pause, self.seed as f64]
    }

    pub(crate) fn from_words([count, group, pause, seed]: [f64; 4]) -> Pace {
        Pace { count: count as u32, group: group as u32, pause, seed: seed as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_before_groups_and_random() {
        let pace = Pace { count: 9, group: 3, pause: 0.5, seed: 7 };
        let pauses: Vec<f64> = (0..9).map(|repetition| pace.pause_before(repetition)).collect();
        let drawn: Vec<f64> = pauses.iter().copied().filter(|pause| *pause > 0.0).collect();
        assert_eq!(drawn.len(), 3, "{pauses:?}");
        assert!(drawn.iter().all(|pause| *pause < 1.0) && drawn[0] != drawn[1]);
        assert_eq!([pauses[0], pauses[3], pauses[6]], drawn[..]);
        assert_eq!(pace.paused(), drawn.iter().sum());
        assert_eq!(Pace::dense(9).paused(), 0.0);
        assert_eq!(Pace::from_words(pace.words()), pace);
        assert_eq!(pace.shortened(4).count, 4);
    }
}
