//! What the intervals of a table take for granted, in a line under it.

use laneway_core::Row;
use laneway_measure::sweep::{Reading, reading};

use crate::output;

/// Prints it under the table.
pub fn explain(rows: &[Row]) {
    match reading(rows) {
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
