//! What the intervals of a table take for granted, in a line under it.

use laneway_core::{Row, Value};
use laneway_measure::clock::Bound;
use laneway_measure::sweep::{Assume, Bounded, Reading, reading};
use laneway_stats::Interval;

use crate::output;

/// Prints it under the table of these points.
pub fn explain(assume: Assume, points: &[Bounded]) {
    match reading(assume, points) {
        None => {}
        Some(Reading::AssumingNothing) => {
            output::note("the intervals assume only that no message arrives before it is sent")
        }
        Some(Reading::AssumingSymmetry) => output::note(
            "ci_low_us and ci_high_us assume that messages between two hosts take as long there \
             as back; bound_low_us and bound_high_us hold without that assumption.\n      \
             try: --assume none; ranks of one host, or an MPI whose MPI_WTIME_IS_GLOBAL is true, \
             share one clock",
        ),
    }
}

/// The same for points of other processes, from the rows that they wrote.
pub fn explain_rows(rows: &[Row]) {
    let is_bare = rows.iter().any(|row| row.get("assume") == Some(&Assume::None.name().into()));
    let assume = if is_bare { Assume::None } else { Assume::Symmetric };
    explain(assume, &rows.iter().filter_map(bounded).collect::<Vec<_>>());
}

fn bounded(row: &Row) -> Option<Bounded> {
    let number = |name| match row.get(name) {
        Some(Value::Real(number)) => Some(*number),
        _ => None,
    };
    let interval = || {
        let [low, high, level] = ["ci_low_us", "ci_high_us", "ci_level"].map(number);
        Some(Interval { low: low?, high: high?, level: level? })
    };
    let bound = || {
        let [low, high] = ["bound_low_us", "bound_high_us"].map(number);
        Some(Bound { low: low?, high: high? })
    };
    let (interval, bound) = (interval(), bound());
    let (estimate, clock_error) = (number("time_us")?, number("clock_error_us").unwrap_or(0.0));
    Some(Bounded { estimate, interval, bound, clock_error })
}
