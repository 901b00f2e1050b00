//! Two files of measurements point by point: how many became slower, and which one the most.

use std::ffi::{c_char, c_double, c_int};

use laneway_core::Value;
use laneway_report::compare::{Point, Presence, Rule, Verdict, compare};
use laneway_report::{Run, plain, read};

use crate::arguments::{refused, word};
use crate::failure::{Exit, Failure};
use crate::last_error::answer;

const TRY: &str = "JSON or CSV that laneway wrote, or text of OSU or IMB";

/// How many points of two files came out how.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Comparison {
    /// They take longer than before, or move fewer bytes a second.
    pub slower: c_int,
    pub faster: c_int,
    /// They differ by no more than the threshold.
    pub same: c_int,
    /// The difference may be chance, or one file has no like of them.
    pub unknown: c_int,
    /// Points of one file alone, which are unknown as well.
    pub only_old: c_int,
    pub only_new: c_int,
}

/// Compares two files of measurements, JSON or CSV of laneway or text of OSU or IMB, as `laneway
/// compare` does: points are matched by operation, algorithm, ranks and size, and a difference
/// counts where it exceeds `threshold` (0.05 is 5 %) and is significant. The counts go to `out`,
/// which may be NULL. LANEWAY_WRONG: something is slower, or a file is
/// incomplete or lacks points of the other; the counts are there, and laneway_last_error() names
/// the point that lost the most, or what is missing. No MPI is needed.
///
/// # Safety
/// The texts are C strings, and `out` is NULL or has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_compare(
    old_file: *const c_char,
    new_file: *const c_char,
    threshold: c_double,
    out: *mut Comparison,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let (old, new) = unsafe { (word(old_file, "old_file")?, word(new_file, "new_file")?) };
        if !(0.0..=10.0).contains(&threshold) {
            let cause = format!("threshold is {threshold}");
            return Err(refused("no such threshold", cause, "0.05 for 5 %"));
        }
        let (counts, slower) = compared(&load(old)?, &load(new)?, threshold)?;
        if !out.is_null() {
            // SAFETY: as the caller promises.
            unsafe { *out = counts };
        }
        slower.map_or(Ok(()), Err)
    })
}

/// The counts, and what to say where something is slower.
fn compared(
    old: &Run,
    new: &Run,
    threshold: f64,
) -> Result<(Comparison, Option<Failure>), Failure> {
    let rule = Rule { threshold, ..Rule::default() };
    let found = compare(old, new, &rule).map_err(|nothing| {
        let what = format!("nothing in {} and {} can be compared", old.name, new.name);
        Failure::usage(what, nothing.to_string(), "two files of the same measurement")
    })?;
    let count = |verdict: Verdict| found.count(verdict) as c_int;
    let counts = Comparison {
        slower: count(Verdict::Slower),
        faster: count(Verdict::Faster),
        same: count(Verdict::Same),
        unknown: count(Verdict::Unknown),
        only_old: found.present(Presence::OnlyOld) as c_int,
        only_new: found.present(Presence::OnlyNew) as c_int,
    };
    let slower = found.points.iter().filter(|point| point.verdict == Verdict::Slower);
    let worst = slower.max_by(|a, b| slowdown(a).total_cmp(&slowdown(b)));
    let slower = worst.map(|worst| {
        let (slower, all) = (counts.slower, found.points.len());
        let what = format!("{slower} of {all} points are slower than before");
        let cause = format!("{}: {:.2} times as long as before", name(worst), slowdown(worst));
        Failure::new(Exit::Gate, what, cause, "repeat the launches before you trust single ones")
    });
    Ok((counts, slower.or_else(|| missing(&found))))
}

/// What to say where a run is not complete or lacks points of the other.
fn missing(found: &laneway_report::compare::Comparison) -> Option<Failure> {
    let what = "not all points were compared";
    let try_this = "files of two runs that came to their end, with the same points";
    found.gap().map(|gap| Failure::new(Exit::Gate, what, gap, try_this))
}

/// How many times as long it takes as before.
fn slowdown(point: &Point) -> f64 {
    point.slowdown().unwrap_or(1.0)
}

/// What distinguishes it, such as "op bcast, size_bytes 1024".
fn name(point: &Point) -> String {
    let known = point.identity.0.iter().filter(|(_, value)| *value != Value::Nothing);
    let parts = known.map(|(name, value)| format!("{name} {}", plain(value)));
    parts.collect::<Vec<_>>().join(", ")
}

fn load(file: &str) -> Result<Run, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::environment(format!("cannot read {file}"), error.to_string(), TRY)
    })?;
    read(file, &text).map_err(|error| {
        let what = format!("{file} is not a file of measurements");
        Failure::usage(what, error.to_string(), TRY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, times: [f64; 3]) -> Run {
        let rows = [8, 64, 512].into_iter().zip(times);
        let rows: String = rows.map(|(size, time)| format!("bcast,{size},{time}\n")).collect();
        read(name, &format!("op,size_bytes,time_us\n{rows}")).expect("rows")
    }

    #[test]
    fn the_point_that_lost_the_most_is_named() {
        let (old, new) = (run("old", [10.0, 20.0, 40.0]), run("new", [12.0, 30.0, 40.1]));
        let (counts, slower) = compared(&old, &new, 0.05).expect("the same points");
        assert_eq!((counts.slower, counts.same, counts.unknown), (2, 1, 0));
        let slower = slower.expect("a gate").to_string();
        assert!(slower.contains("2 of 3 points are slower"), "{slower}");
        assert!(slower.contains("size_bytes 64: 1.50 times"), "{slower}");
        assert!(compared(&old, &old, 0.05).expect("the same").1.is_none());
    }
}
