//! The monotonic clock of this host, and waits that end when they should.

use laneway_core::Clock;

/// What the system may oversleep: this much is waited awake when there is a core for it.
const AWAKE: f64 = 60e-6;

/// Seconds since this host started.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    /// Every rank of this host has a core of its own.
    pub alone: bool,
    /// All ranks are on this host.
    pub is_global: bool,
}

impl Clock for Monotonic {
    fn now(&self) -> f64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure is valid for the call; this clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    /// Sleeps until an instant, not for a time: a process that is preempted between a look at the
    /// clock and the sleep wakes no later for it.
    fn sleep_until(&self, instant: f64) {
        let asleep = instant - if self.alone { AWAKE } else { 0.0 };
        while self.now() < asleep {
            let time = libc::timespec {
                tv_sec: asleep as libc::time_t,
                tv_nsec: (asleep.fract() * 1e9) as libc::c_long,
            };
            // SAFETY: the time lives through the call. Interrupted or not, the loop looks again.
            unsafe {
                libc::clock_nanosleep(
                    libc::CLOCK_MONOTONIC,
                    libc::TIMER_ABSTIME,
                    &time,
                    std::ptr::null_mut(),
                )
            };
        }
        while self.now() < instant {
            std::hint::spin_loop();
        }
    }

    fn is_global(&self) -> bool {
        self.is_global
    }
}

/// Waits of this thread with a time limit end when they should, not up to 50 us later.
pub fn reduce_timer_slack() {
    // SAFETY: plain call on this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_ends_at_the_instant_or_later() {
        for alone in [false, true] {
            let clock = Monotonic { alone, is_global: true };
            let goal = clock.now() + 0.005;
            clock.sleep_until(goal);
            assert!(clock.now() >= goal);
            clock.sleep_until(goal - 1.0);
            assert!(clock.now() < goal + 5.0);
        }
    }

    #[test]
    fn past_and_invalid_instants_are_not_waited_for() {
        let clock = Monotonic { alone: true, is_global: false };
        assert!(!clock.is_global());
        let begun = clock.now();
        for instant in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0] {
            clock.sleep_until(instant);
        }
        assert!(clock.now() < begun + 5.0);
    }
}
