//! Clocks that are wrong on purpose: how far a measurement can be trusted where they are, is seen
//! where they are not.

use clap::{Arg, ArgMatches};
use laneway_core::Failure;
use laneway_measure::clock::MOST_DRIFT;
use laneway_measure::sweep::{MOST_OFFSET, Skew};

use super::rule::number;

pub fn args() -> [Arg; 2] {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.allow_negative_numbers(true)
    };
    [
        text("clock-offset", "SECONDS", "Offset each rank's clock by up to +-SECONDS, by seed"),
        text("clock-drift", "PPM", "Let each rank's clock drift by up to +-PPM millionths"),
    ]
}

/// Clocks are left alone where nobody asks.
pub fn from_args(matches: &ArgMatches) -> Result<Option<Skew>, Failure> {
    let offset = number::<f64>(matches, "clock-offset", "a time in seconds", "0.5")?;
    let drift = number::<f64>(matches, "clock-drift", "a number of millionths", "10")?;
    if offset.is_none() && drift.is_none() {
        return Ok(None);
    }
    let refused = |name: &str, value: f64, most: f64, unit: &str| {
        let what = format!("--{name} {value} is out of range");
        Failure::usage(what, format!("the range is 0 to {most} {unit}"), format!("--{name} 0.5"))
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
