//! The clock of MPI: `MPI_Wtime`, global where the library says that its ranks share it.

use std::time::Duration;

use laneway_core::Clock;

use crate::flavour::smpi::Simulator;

/// Sleeping ends late by about this much, so the rest of a wait is spent looking at the clock.
const SPIN_SECONDS: f64 = 200e-6;

pub struct MpiClock {
    pub(crate) wtime: unsafe extern "C" fn() -> f64,
    pub(crate) global: bool,
    pub(crate) simulator: Option<Simulator>,
}

impl MpiClock {
    /// Virtual time stands still while a rank looks at the clock, so no part of the wait is spent
    /// looking. The simulator wakes a sleeper at the very instant; only the last nanosecond, which
    /// its call cannot name, may be missing.
    fn sleep_in_simulation(&self, simulator: Simulator, instant: f64) {
        loop {
            let left = instant - self.now();
            if left.is_nan() || left <= 0.0 {
                return;
            }
            let time = libc::timespec {
                tv_sec: left as libc::time_t,
                tv_nsec: (left.fract() * 1e9).ceil().clamp(1.0, 999_999_999.0) as libc::c_long,
            };
            // SAFETY: the first argument is read, and the standard lets the second be null.
            unsafe { (simulator.sleep)(&time, std::ptr::null_mut()) };
        }
    }
}

impl Clock for MpiClock {
    #[inline]
    fn now(&self) -> f64 {
        // SAFETY: MPI_Wtime takes nothing and may be called from MPI's start to its end; a clock
        // is reached through a communicator, which lives between the two.
        unsafe { (self.wtime)() }
    }

    fn sleep_until(&self, instant: f64) {
        if let Some(simulator) = self.simulator {
            return self.sleep_in_simulation(simulator, instant);
        }
        let asleep = instant - self.now() - SPIN_SECONDS;
        if asleep > 0.0 {
            std::thread::sleep(Duration::try_from_secs_f64(asleep).unwrap_or(Duration::MAX));
        }
        while self.now() < instant {
            std::hint::spin_loop();
        }
    }

    fn is_global(&self) -> bool {
        self.global
    }
}
