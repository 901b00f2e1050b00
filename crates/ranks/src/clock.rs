//! The monotonic clock of a rank's host.

use std::time::Duration;

use laneway_core::Clock;

/// What the system may oversleep: this much is waited awake when there is a core for it.
const AWAKE: f64 = 60e-6;

pub(crate) struct Monotonic {
    /// Every rank of this host has a core of its own.
    pub alone: bool,
    /// All ranks are on one host.
    pub is_global: bool,
}

impl Clock for Monotonic {
    fn now(&self) -> f64 {
        laneway_net::now() as f64 * 1e-9
    }

    fn sleep_until(&self, instant: f64) {
        let asleep = instant - if self.alone { AWAKE } else { 0.0 };
        loop {
            let left = asleep - self.now();
            match Duration::try_from_secs_f64(left) {
                Ok(left) if !left.is_zero() => std::thread::sleep(left),
                _ => break,
            }
        }
        while self.now() < instant {
            std::hint::spin_loop();
        }
    }

    fn is_global(&self) -> bool {
        self.is_global
    }
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
}
