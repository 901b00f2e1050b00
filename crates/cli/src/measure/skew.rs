//! Clocks that are wrong on purpose: how far a measurement can be trusted where they are, is seen
//! where they are not.

use clap::{Arg, ArgMatches};
use laneway_measure::clock::MOST_DRIFT;
use laneway_measure::sweep::{MOST_OFFSET, Skew};

use super::rule::number;
use crate::failure::Failure;
use crate::words;

pub fn args() -> [Arg; 2] {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.allow_negative_numbers(true)
    };
    [
        text(
            "clock-offset",
            "TIME",
            "Offset each rank's clock by up to +-TIME, by seed: 0.5, 500ms",
        ),
        text("clock-drift", "PPM", "Let each rank's clock drift by up to +-PPM millionths"),
    ]
}

/// No offset is a number too, and no time.
fn offset_seconds(text: &str) -> Result<f64, Failure> {
    text.parse().map_or_else(|_| words::seconds("clock-offset", text), Ok)
}

/// Clocks are left alone by default.
pub fn from_args(matches: &ArgMatches) -> Result<Option<Skew>, Failure> {
    let offset = matches.get_one::<String>("clock-offset").map(|text| offset_seconds(text));
    let offset = offset.transpose()?;
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
