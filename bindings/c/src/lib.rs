//! Measuring as a C library, in the shape of the MPIBlib paper's section 4; and connections that
//! outlive their path, in the shape of the path-migration paper's section 3 (`paths`), which need
//! no MPI.
//!
//! Every function that measures takes the caller's communicator by its Fortran handle, which is an
//! `int` under every MPI; `laneway.h` converts it where the caller compiles. The MPI is the one
//! that is in the process already: none is linked, opened or started here, so one build serves all
//! of them. What a function answers is an exit code of the command, or a code of connections. No
//! panic leaves it.
//!
//! Begin with `measure.rs`, then `own.rs`, `experiments.rs`, `call/`, `sites.rs`, `models.rs` and
//! `compare.rs`; `arguments.rs` reads what C gives, `settings.rs` keeps what holds for several
//! calls, `together.rs` makes the ranks agree on all of it.

mod advice;
mod arguments;
mod call;
mod compare;
mod content;
mod experiments;
mod failure;
mod flags;
mod last_error;
mod measure;
mod models;
mod own;
mod paths;
mod round_trips;
mod settings;
mod sites;
mod together;

use std::ffi::{c_char, c_int};

/// Done, and as precise as was asked.
pub const LANEWAY_DONE: c_int = 0;
/// An operation gave a wrong answer, or the caller's function failed.
pub const LANEWAY_WRONG: c_int = 1;
/// An argument is wrong, or differs between ranks.
pub const LANEWAY_USAGE: c_int = 2;
/// There is no MPI, it is not running, or it failed; or the system refused something.
pub const LANEWAY_ENVIRONMENT: c_int = 3;
/// All figures are there; some are less precise than was asked, or no time above zero.
pub const LANEWAY_PRECISION: c_int = 4;
/// Paths: a connection is in no state for it, and goes on as before.
pub const LANEWAY_STATE: c_int = 5;
/// Paths: there is no such connection or handle, or not any more.
pub const LANEWAY_UNKNOWN: c_int = 6;
/// Paths: the peer did not answer in time, or has another secret.
pub const LANEWAY_NO_ANSWER: c_int = 7;

/// cbindgen:rename-all=ScreamingSnakeCase
/// The methods by which an operation is timed.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(clippy::enum_variant_names, reason = "C has one space of names")]
pub enum TimingMethod {
    /// On the root alone, until the others have confirmed, less what a confirmation takes.
    LanewayRoot,
    /// On every rank by its own clock; the longest counts.
    LanewayMaximum,
    /// From the first entry to the last exit on one clock, after a barrier.
    LanewayGlobal,
    /// All ranks begin at an agreed instant; from the first entry to the last exit.
    LanewayStartTime,
    /// Series of calls without isolation, the total of each over its length, as IMB does; the
    /// longest of the ranks counts. Calls overlap, so it is not the time of one.
    LanewayLoop,
    /// Each rank's part alone, acknowledged: of bcast and scatter, linear and binomial.
    LanewayTasks,
}

impl TimingMethod {
    const ALL: [TimingMethod; 6] = {
        use TimingMethod::*;
        [LanewayRoot, LanewayMaximum, LanewayGlobal, LanewayStartTime, LanewayLoop, LanewayTasks]
    };

    /// The one that C names by this number.
    fn of(number: c_int) -> Option<TimingMethod> {
        TimingMethod::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// The version of the library, for example "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn laneway_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What went wrong in this thread's last call, as lines "error: ", "cause: " and "try: "; empty
/// where nothing did. It stays until the thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_last_error() -> *const c_char {
    last_error::text()
}

/// What is to be known of one point, counted from 0, of this thread's last measurement before its
/// figures are trusted, on every rank: comma-separated words as in the column `flags` of the
/// command, for example "no time" where it is zero or less, "single" where it is one repetition,
/// "start missed" where the ranks could not begin together, "nothing sent" where there is
/// nothing to measure. Empty where there is nothing, and
/// where there is no such point. It stays until the thread's next measurement.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_last_flags(point: c_int) -> *const c_char {
    flags::text(point)
}
