//! The flags of measured rows: a word where a figure must be read with care. Code that sets one
//! takes the constant; [`FLAGS`] says what each means and what to do about it.

use laneway_core::{Row, Value};

/// The interval is wider than was aimed at.
pub const PRECISION: &str = "precision";
/// In a race it was stopped, as another one is faster.
pub const STOPPED_EARLY: &str = "stopped early: slower";
/// There was one repetition, which gives no interval.
pub const SINGLE: &str = "single";
/// The interval is Student's of the mean, as samples are too few for one of the median.
pub const STUDENT: &str = "student";
/// Samples agree in bursts, and the interval's level is lower than was asked.
pub const DEPENDENT: &str = "dependent";
/// Nothing says how sure the figure is.
pub const NO_INTERVAL: &str = "no interval";
/// Too few launches for an interval: their range stands in its place.
pub const RANGE: &str = "range";
/// The time is 0 or less: nothing was measured.
pub const NO_TIME: &str = "no time";
/// There were no bytes to send, or no rank to send them to.
pub const NOTHING_SENT: &str = "nothing sent";
/// The time is below [`TICKS`] steps of the clock.
pub const RESOLUTION: &str = "resolution";
/// Both ends are busy with a message at once, which leaves no L of LogP between them.
pub const OVERLAPPING: &str = "overlapping";
/// Ranks could not keep agreed instants, and the method fell back on maximum.
pub const START_MISSED: &str = "start missed";
/// Launches that are put together were timed by different methods.
pub const MIXED_TIMING: &str = "mixed timing";
/// Some samples are 0 or less after the confirmation was subtracted.
pub const NEGATIVE: &str = "negative";
/// Some samples are shorter than the confirmation that was taken away.
pub const CONFIRMATION: &str = "confirmation";

/// A time rests on a clock that shows this number of steps for it; below is [`RESOLUTION`].
pub const TICKS: f64 = 2.0;

/// A flag, explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flag {
    /// The word on the row: one of the constants of this module.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
    /// What to do.
    pub advice: &'static str,
}

/// A row whose flags have spaces between them, where a table may break them.
pub(crate) fn spaced(mut row: Row) -> Row {
    for (name, value) in &mut row.0 {
        match value {
            Value::Text(text) if name == "flags" => *text = text.replace(',', ", "),
            _ => {}
        }
    }
    row
}

/// What is known of a flag by its name.
pub fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.name == name)
}

/// All of them: the figure as a whole, its interval, its clock, its method.
pub static FLAGS: &[Flag] = &[
    Flag {
        name: NO_TIME,
        sentence: "The time is 0 or less, so nothing was measured; the exit code is 4.",
        advice: "Do not use the figure; take larger sizes, more repetitions or another timing.",
    },
    Flag {
        name: NOTHING_SENT,
        sentence: "Of 0 bytes, or on one rank, nothing is sent and there is nothing to measure.",
        advice: "Measure at least one byte on at least two ranks.",
    },
    Flag {
        name: PRECISION,
        sentence: "Repetitions or budget ran out before the interval was narrow enough.",
        advice: "Allow more repetitions and time, quiet the machine, or ask for less precision.",
    },
    Flag {
        name: STOPPED_EARLY,
        sentence: "Another algorithm of the race is faster, so measuring this one stopped early.",
        advice: "Nothing; without a race it is measured as precisely as the others.",
    },
    Flag {
        name: SINGLE,
        sentence: "One repetition: no interval, and no estimate of the variation.",
        advice: "Take six or more, or leave their number open.",
    },
    Flag {
        name: STUDENT,
        sentence: "Too few samples for an interval of the median: it is Student's of the mean.",
        advice: "Take six or more samples (at the usual level of 95 %).",
    },
    Flag {
        name: DEPENDENT,
        sentence: "Samples are correlated: ci_level is below the level that was requested.",
        advice: "Allow more time, so that more bursts are seen.",
    },
    Flag {
        name: NO_INTERVAL,
        sentence: "There is no interval: too few samples or launches, or some without a time.",
        advice: "Take more repetitions or six launches; do not compare the figure as it is.",
    },
    Flag {
        name: RANGE,
        sentence: "Too few launches for an interval: ci_low_us to ci_high_us is their range.",
        advice: "Take six or more launches (at the usual level of 95 %).",
    },
    Flag {
        name: RESOLUTION,
        sentence: "The time is below two steps of the clock: it could as well be half or double.",
        advice: "Take larger sizes, or time many at once: the timing loop, or a larger window.",
    },
    Flag {
        name: OVERLAPPING,
        sentence: "Send and receive overheads overlap in time, so that no L can be computed.",
        advice: "Nothing, the other figures hold; sizes below the eager limit may have an L.",
    },
    Flag {
        name: START_MISSED,
        sentence: "Ranks missed the agreed start times; the method fell back to maximum.",
        advice: "Give each rank a core of its own, or choose the timing maximum for all.",
    },
    Flag {
        name: MIXED_TIMING,
        sentence: "Launches were timed by different methods, whose times are not comparable.",
        advice: "Give each rank a core of its own, or choose the timing maximum for all launches.",
    },
    Flag {
        name: NEGATIVE,
        sentence: "Some samples are 0 or less after the confirmation was subtracted.",
        advice: "Use another confirmation, or the timing start-time, which subtracts nothing.",
    },
    Flag {
        name: CONFIRMATION,
        sentence: "Some samples are shorter than the confirmation that was subtracted from them.",
        advice: "Use a shorter confirmation, or the timing start-time, which subtracts nothing.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_there_once_and_explained() {
        for (at, flag) in FLAGS.iter().enumerate() {
            assert!(!FLAGS[..at].iter().any(|other| other.name == flag.name), "{}", flag.name);
            assert_eq!(find(flag.name), Some(flag));
            // A comma is between flags.
            assert!(!flag.name.is_empty() && !flag.name.contains(','), "{}", flag.name);
            for text in [flag.sentence, flag.advice] {
                assert!(text.ends_with('.') && text.len() < 90, "{text}");
            }
        }
        assert_eq!(find("nothing of the kind"), None);
    }

    #[test]
    fn every_constant_is_in_the_table() {
        let source = include_str!("flags.rs");
        let constants = source.lines().filter(|line| line.starts_with("pub const "));
        let mut names: Vec<&str> = constants.filter_map(|line| line.split('"').nth(1)).collect();
        let mut explained: Vec<&str> = FLAGS.iter().map(|flag| flag.name).collect();
        names.sort_unstable();
        explained.sort_unstable();
        assert_eq!(names, explained);
    }
}
