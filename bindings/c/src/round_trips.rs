//! The function that measures round trips between all pairs of ranks.

use std::ffi::{c_double, c_int};

use laneway_core::Comm;
use laneway_measure::p2p::{Lab, round_trips};
use laneway_measure::talk::broadcast;

use crate::arguments::{Figures, refused, rule};
use crate::flags::measured;
use crate::measure::{adopted, verdict};
use crate::together::{agree, broken, mark_of};

/// Collective over `comm`: round trips between all pairs of ranks i < j, `out` bytes there and
/// `back` bytes home; one pair after the other, or where `parallel` is not 0 at the same time those
/// that share no rank. Of p ranks, `times` in seconds, `reps` and `errors` have room for
/// p (p - 1) / 2, by i and then j, and are filled on every rank.
///
/// # Safety
/// The lists have so much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_round_trips(
    comm: c_int,
    out: c_int,
    back: c_int,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    parallel: c_int,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
) -> c_int {
    measured(|flags| {
        adopted(comm, |comm| {
            let ranks = comm.size() as usize;
            let pairs = ranks * (ranks - 1) / 2;
            let parallel = parallel != 0;
            // No method is chosen: the rank that sends first times its round trip.
            let plan = rule(min_reps, max_reps, alpha).and_then(|(rule, mark)| {
                let size = |size: c_int| {
                    let cause = format!("a message of {size} bytes");
                    usize::try_from(size).map_err(|_| refused("invalid size", cause, "0 or more"))
                };
                // SAFETY: as the caller promises.
                let figures = unsafe { Figures::new(pairs, times, reps, errors, flags)? };
                let words = [mark, out as u64, back as u64, u64::from(parallel)];
                Ok((rule, figures, size(out)?, size(back)?, mark_of(words)))
            });
            let mark = plan.as_ref().map_or(0, |plan| plan.4);
            let (rule, mut figures, out, back, _) = agree(comm, plan, mark)?;
            let own = comm.dup().map_err(broken)?;
            let lab = Lab::new(&*own, rule);
            let found = round_trips(&lab, out, back, parallel).map_err(broken)?;
            let mut words = vec![0.0; 3 * pairs];
            if let Some(found) = found {
                for (at, words) in words.chunks_mut(3).enumerate() {
                    let error = found.errors[at].unwrap_or(f64::NAN);
                    words.copy_from_slice(&[found.estimates[at], found.reps[at].into(), error]);
                }
            }
            broadcast(&*own, &mut words).map_err(broken)?;
            let mut reached = true;
            for words in words.chunks(3) {
                let (time, reps, error) = (words[0], words[1] as u32, words[2]);
                let (took, single) = (time > 0.0, reps == 1);
                let flags = match (single, took) {
                    (false, true) => "",
                    (true, true) => "single",
                    (false, false) => "no time",
                    (true, false) => "single,no time",
                };
                figures.put(time, reps, error, flags);
                reached &= took && (min_reps == max_reps || error <= alpha);
            }
            verdict(reached)
        })
    })
}
