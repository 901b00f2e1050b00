//! The machine's monotonic clock, which all ranks of a local run share.

use laneway_core::Clock;

/// What the system may oversleep: this much is waited awake when there is a core for it.
const AWAKE: f64 = 60e-6;

pub(crate) struct Monotonic {
    /// Every rank has a core of its own.
    pub alone: bool,
}

impl Clock for Monotonic {
    fn now(&self) -> f64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure is valid for the call; this clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

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
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_ends_at_the_instant_or_later() {
        for alone in [false, true] {
            let clock = Monotonic { alone };
            let goal = clock.now() + 0.005;
            clock.sleep_until(goal);
            assert!(clock.now() >= goal);
            clock.sleep_until(goal - 1.0);
            assert!(clock.now() < goal + 5.0);
        }
    }
}
