//! The clock of MPI: `MPI_Wtime`, global where the library says that its ranks share it.

use std::time::Duration;

use laneway_core::Clock;

/// Sleeping ends late by about this much, so the rest of a wait is spent looking at the clock.
const SPIN_SECONDS: f64 = 200e-6;

pub struct MpiClock {
    pub(crate) wtime: unsafe extern "C" fn() -> f64,
    pub(crate) global: bool,
}

impl Clock for MpiClock {
    #[inline]
    fn now(&self) -> f64 {
        // SAFETY: MPI_Wtime takes nothing and may be called from MPI's start to its end; a clock
        // is reached through a communicator, which lives between the two.
        unsafe { (self.wtime)() }
    }

    fn sleep_until(&self, instant: f64) {
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
