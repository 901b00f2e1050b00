//! What the intervals of a table take for granted, in a line under it.

use laneway_core::Row;
use laneway_measure::sweep::{Reading, reading};

use crate::output;

/// Tells it under the table.
pub fn explain(rows: &[Row]) {
    match reading(rows) {
        None => {}
        Some(Reading::AssumingNothing) => output::note(
            "intervals assume nothing of the ways between hosts but that no message arrives \
             before it leaves",
        ),
        Some(Reading::AssumingSymmetry) => output::note(
            "ci_low_us and ci_high_us assume that ways take as long out as back, over which \
             clocks were compared; bound_low_us and bound_high_us hold whatever they take.\n      \
             try: --assume none; ranks of one host, or an MPI whose MPI_WTIME_IS_GLOBAL is true, \
             share one clock",
        ),
    }
}
