//! What the intervals of a table take for granted, in a line under it.

use laneway_core::{Row, Value};

use crate::output;

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

/// What a reader of these rows should know of their bounds; nothing where ranks share a clock.
fn line(rows: &[Row]) -> Option<&'static str> {
    let widest = rows.iter().filter_map(beyond).fold(0.0, f64::max);
    let compared = |row: &Row| number(row, "clock_error_us").is_some_and(|us| us > 0.0);
    if rows.iter().any(|row| row.get("assume") == Some(&"none".into())) {
        return Some(
            "intervals assume nothing of the ways between hosts but that no message arrives \
             before it leaves",
        );
    }
    let told = widest > WORTH_TELLING && rows.iter().any(compared);
    told.then_some(
        "ci_low_us and ci_high_us assume that ways take as long out as back, over which clocks \
         were compared; bound_low_us and bound_high_us hold whatever they take.\n      \
         try: --assume none; ranks of one host, or an MPI whose MPI_WTIME_IS_GLOBAL is true, \
         share one clock",
    )
}

/// Tells it under the table.
pub fn explain(rows: &[Row]) {
    if let Some(line) = line(rows) {
        output::note(line);
    }
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
        let said = |row: Row| line(&[row]).unwrap_or_default();
        assert_eq!(said(row([99.0, 101.0], 0.0, "symmetric")), "");
        assert_eq!(said(row([98.5, 101.5], 0.1, "symmetric")), "");
        assert!(said(row([40.0, 101.0], 0.1, "symmetric")).contains("--assume none"));
        assert_eq!(said(row([40.0, 101.0], 0.0, "symmetric")), "");
        assert!(said(row([99.0, 101.0], 0.0, "none")).contains("before it leaves"));
        assert_eq!(line(&[]), None);
    }
}
