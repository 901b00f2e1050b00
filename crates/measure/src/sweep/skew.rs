//! Clocks that are wrong on purpose: how far a measurement can be trusted where they are, is seen
//! where they are not.

use laneway_core::Clock;
use laneway_stats::SplitMix64;

use crate::clock::Skewed;

/// Each rank's clock is off by up to so much, either way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// Seconds.
    pub offset: f64,
    /// Seconds in a second.
    pub drift: f64,
}

/// A day: beyond, the resolution of a number of seconds becomes coarse.
pub const MOST_OFFSET: f64 = 86_400.0;

impl Skew {
    /// What a rank has in place of its clock.
    pub fn of<'c>(&self, clock: &'c dyn Clock, seed: u64, rank: u32) -> Skewed<'c> {
        let mut random = SplitMix64::new(seed ^ (u64::from(rank) + 1) << 32);
        let mut within = |most: f64| most * (2.0 * random.uniform() - 1.0);
        let (offset, drift) = (within(self.offset), within(self.drift));
        Skewed { clock, offset, drift, since: clock.now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> f64 {
            12.0
        }

        fn sleep_until(&self, _: f64) {}
    }

    #[test]
    fn every_rank_has_its_own_within_the_bounds() {
        let skew = Skew { offset: 0.5, drift: 1e-5 };
        let all: Vec<Skewed> = (0..100).map(|rank| skew.of(&Noon, 7, rank)).collect();
        assert!(all.iter().all(|own| own.offset.abs() <= 0.5 && own.drift.abs() <= 1e-5));
        for part in [-0.25, 0.25] {
            // Beyond each quarter there are some.
            assert!(all.iter().any(|own| own.offset / part > 1.0), "{part}");
            assert!(all.iter().any(|own| own.drift / (part * 2e-5) > 1.0), "{part}");
        }
        assert_ne!(all[0].offset, all[1].offset);
        assert_eq!(skew.of(&Noon, 7, 3).offset, all[3].offset);
    }
}
