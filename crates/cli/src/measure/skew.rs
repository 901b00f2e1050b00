//! Clocks that are wrong on purpose: how far a measurement can be trusted where they are, is seen
//! where they are not.

use clap::{Arg, ArgMatches};
use laneway_core::{Clock, Failure};
use laneway_measure::clock::{MOST_DRIFT, Skewed};
use laneway_stats::SplitMix64;

use super::rule::number;

/// Each rank's clock is off by up to so much, either way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// Seconds.
    pub offset: f64,
    /// Seconds in a second.
    pub drift: f64,
}

pub fn args() -> [Arg; 2] {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.allow_negative_numbers(true)
    };
    [
        text("clock-offset", "SECONDS", "Set each rank's clock wrong by up to +-SECONDS, by seed"),
        text("clock-drift", "PPM", "Let each rank's clock drift by up to +-PPM millionths"),
    ]
}

/// Clocks are left alone where nobody asks.
pub fn asked(matches: &ArgMatches) -> Result<Option<Skew>, Failure> {
    let offset = number::<f64>(matches, "clock-offset", "a time in seconds", "0.5")?;
    let drift = number::<f64>(matches, "clock-drift", "a number of millionths", "10")?;
    if offset.is_none() && drift.is_none() {
        return Ok(None);
    }
    let refused = |name: &str, value: f64, most: f64, unit: &str| {
        let what = format!("no --{name} {value}");
        Failure::usage(what, format!("it is from 0 to {most} {unit}"), format!("--{name} 0.5"))
    };
    let (offset, drift) = (offset.unwrap_or(0.0), drift.unwrap_or(0.0));
    if !(0.0..=MOST_OFFSET).contains(&offset) {
        return Err(refused("clock-offset", offset, MOST_OFFSET, "seconds"));
    }
    if !(0.0..=MOST_DRIFT * 1e6).contains(&drift) {
        return Err(refused("clock-drift", drift, MOST_DRIFT * 1e6, "millionths"));
    }
    Ok(Some(Skew { offset, drift: drift / 1e6 }))
}

/// A day: beyond, what a number of seconds can tell becomes coarse.
const MOST_OFFSET: f64 = 86_400.0;

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
