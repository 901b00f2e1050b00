//! The true time of a cell where others send in bursts: the median over isolated calls at random
//! instants. One call is not it, and the method's own samples must not be.

use laneway_coll::default_algorithm;
use laneway_core::{Collective as Kind, Shape};
use laneway_measure::Starts;
use laneway_sim::platform::Platform;
use laneway_stats::{median, median_interval, sorted};

use super::cell::Cell;
use super::isolated::isolated_times;
use super::kind::longest_period;

/// Calls that mostly decide whether the truth is inside a bound, more of them, and those that
/// decide at last.
const CALLS: [u32; 2] = [500, 2_000];
const MANY: u32 = 10_000;
/// How sure the fewer must be.
const LEVEL: f64 = 0.9999;
/// The distance of starts in printed times; and on top up to this number of periods of others.
const APART: f64 = 3.0;
const PERIODS: f64 = 3.0;

/// The true median of a cell, in microseconds, as exactly as its bound asks for.
pub fn true_median_us(platform: &Platform, cell: &Cell) -> Result<f64, String> {
    let us = |times: &[f64]| median(times).map_or(f64::NAN, |median| 1e6 * median);
    for calls in CALLS {
        let times = isolated(platform, cell, calls)?;
        let own = median_interval(&sorted(&times), LEVEL);
        let is_decided = own.zip(cell.bound).is_none_or(|(own, bound)| {
            let (low, high) = (1e6 * own.low, 1e6 * own.high);
            let inside = bound.low_us <= low && high <= bound.high_us;
            inside || high < bound.low_us || bound.high_us < low
        });
        if is_decided {
            return Ok(us(&times));
        }
    }
    Ok(us(&isolated(platform, cell, MANY)?))
}

/// The times of `count` isolated calls.
fn isolated(platform: &Platform, cell: &Cell, count: u32) -> Result<Vec<f64>, String> {
    let kind = Kind::by_name(&cell.op).ok_or_else(|| format!("no operation {}", cell.op))?;
    let shape = Shape::new(kind, platform.hosts(), cell.size_bytes);
    match default_algorithm(&shape) {
        Some((algorithm, _)) if algorithm.name == cell.algorithm => {}
        _ => return Err(format!("{} was measured with {}", cell.op, cell.algorithm)),
    }
    let apart = APART * cell.time_us / 1e6;
    let spread = (PERIODS * longest_period(platform)).max(apart);
    isolated_times(platform, &shape, Starts { count, seed: 1, apart, spread })
}
