//! What the intervals of measured rows take for granted.

use laneway_core::{Row, Value};

/// A bound that reaches beyond its interval by less than this part of the time says nothing new.
const WORTH_TELLING: f64 = 0.01;

fn number(row: &Row, name: &str) -> Option<f64> {
    match row.get(name) {
        Some(Value::Real(number)) => Some(*number),
        _ => None,
    }
}

/// By how much a row's bound reaches beyond its interval, as a part of its time.
fn beyond(row: &Row) -> Option<f64> {
    let [time, low, high] = ["time_us", "ci_low_us", "ci_high_us"].map(|name| number(row, name));
    let [least, most] = ["bound_low_us", "bound_high_us"].map(|name| number(row, name));
    Some((low? - least?).max(most? - high?) / time?)
}

/// How the intervals of rows are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// They assume nothing but that no message arrives before it leaves.
    AssumingNothing,
    /// They assume that ways take as long out as back, and that makes a difference.
    AssumingSymmetry,
}

/// What a reader of these rows should know of their intervals; `None` if ranks share a clock.
pub fn reading(rows: &[Row]) -> Option<Reading> {
    if rows.iter().any(|row| row.get("assume") == Some(&"none".into())) {
        return Some(Reading::AssumingNothing);
    }
    let widest = rows.iter().filter_map(beyond).fold(0.0, f64::max);
    let compared = |row: &Row| number(row, "clock_error_us").is_some_and(|us| us > 0.0);
    let differs = widest > WORTH_TELLING && rows.iter().any(compared);
    differs.then_some(Reading::AssumingSymmetry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bound: [f64; 2], clock_error_us: f64, assume: &str) -> Row {
        Row::new()
            .with("time_us", 100.0)
            .with("ci_low_us", 99.0)
            .with("ci_high_us", 101.0)
            .with("assume", assume)
            .with("bound_low_us", bound[0])
            .with("bound_high_us", bound[1])
            .with("clock_error_us", clock_error_us)
    }

    #[test]
    fn a_bound_is_explained_where_it_says_something_new() {
        let read = |row: Row| reading(&[row]);
        assert_eq!(read(row([99.0, 101.0], 0.0, "symmetric")), None);
        assert_eq!(read(row([98.5, 101.5], 0.1, "symmetric")), None);
        let symmetric = read(row([40.0, 101.0], 0.1, "symmetric"));
        assert_eq!(symmetric, Some(Reading::AssumingSymmetry));
        assert_eq!(read(row([40.0, 101.0], 0.0, "symmetric")), None);
        assert_eq!(read(row([99.0, 101.0], 0.0, "none")), Some(Reading::AssumingNothing));
        assert_eq!(reading(&[]), None);
    }
}
