//! The true times of an operation on a simulated cluster: isolated calls at random instants of the
//! simulation's own clock, whatever the clocks of the hosts show and whatever others send.

use laneway_core::{Clock, Comm, CommError};
use laneway_stats::SplitMix64;

use crate::operation::Operation;
use crate::talk::{broadcast, gather};

/// Seconds until all ranks have heard of the first instant; in a simulation they are free.
const LEAD_SECONDS: f64 = 10.0;
/// A rank that begins later than this came too late; virtual time is rounded.
const LATE_SECONDS: f64 = 5e-9;

/// When the calls begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starts {
    /// Calls that are made, those that are late included.
    pub count: u32,
    /// The same seed gives the same instants; all ranks need the same.
    pub seed: u64,
    /// Seconds from one start to the next at least; far more than a call takes, so that none meets
    /// the one before.
    pub apart: f64,
    /// And up to this much more, at random: several times the longest period of what others send.
    pub spread: f64,
}

/// What the calls took, in seconds and in their order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TrueTimes {
    /// Of each call, from its instant to the last exit.
    pub times: Vec<f64>,
    /// Calls that a rank came late to, as the one before was not over; they are not among the
    /// times. Where there are any, the starts were too near each other.
    pub late: u32,
}

/// Collective, on a simulated cluster: calls an operation at all these instants. `None` if nothing
/// is simulated, and on ranks other than 0.
pub fn true_times(
    comm: &dyn Comm,
    operation: &mut dyn Operation,
    starts: &Starts,
) -> Result<Option<TrueTimes>, CommError> {
    let Some(clock) = comm.clock().truth() else { return Ok(None) };
    let mut first = [clock.now() + LEAD_SECONDS];
    broadcast(comm, &mut first)?;
    let own = calls(clock, operation, starts, first[0])?;
    // What is collected must not meet what others are still doing.
    clock.sleep_until(clock.now() + LEAD_SECONDS);
    let all = gather(comm, &own)?;
    Ok((comm.rank() == 0).then(|| whole(&all, starts.count as usize)))
}

/// How late this rank began each call, and how long after its instant it was done.
fn calls(
    clock: &dyn Clock,
    operation: &mut dyn Operation,
    starts: &Starts,
    first: f64,
) -> Result<Vec<f64>, CommError> {
    let mut random = SplitMix64::new(starts.seed);
    let mut instant = first;
    let mut own = Vec::with_capacity(2 * starts.count as usize);
    for _ in 0..starts.count {
        instant += starts.apart + starts.spread * random.uniform();
        clock.sleep_until(instant);
        own.push(clock.now() - instant);
        operation.call()?;
        own.push(clock.now() - instant);
    }
    Ok(own)
}

/// Every call from its instant to the last exit.
fn whole(all: &[f64], count: usize) -> TrueTimes {
    let ranks = || all.chunks(2 * count);
    let mut found = TrueTimes::default();
    for call in 0..count {
        let late = ranks().map(|own| own[2 * call]).fold(0.0, f64::max);
        if late > LATE_SECONDS {
            found.late += 1;
        } else {
            found.times.push(ranks().map(|own| own[2 * call + 1]).fold(0.0, f64::max));
        }
    }
    found
}
