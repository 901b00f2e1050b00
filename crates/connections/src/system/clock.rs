//! The one clock of the driver, and how long ago the kernel saw something.

use laneway_path::Nanos;

/// A longer age means that the clock was set.
const LONGEST_AGE: Nanos = 10_000_000_000;

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours, and these clocks are always there.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    nanos(time)
}

fn nanos(time: libc::timespec) -> Nanos {
    time.tv_sec as Nanos * 1_000_000_000 + time.tv_nsec as Nanos
}

/// Nanoseconds of the system's clock that never jumps.
#[inline]
pub fn now() -> Nanos {
    read(libc::CLOCK_MONOTONIC)
}

/// How long ago this was, by the clock that people set; 0 where that cannot be.
pub fn age(at: libc::timespec) -> Nanos {
    let age = read(libc::CLOCK_REALTIME).saturating_sub(nanos(at));
    if age < LONGEST_AGE { age } else { 0 }
}
