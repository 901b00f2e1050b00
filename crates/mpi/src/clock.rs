//! The clock of MPI: `MPI_Wtime`, global where the library says that its ranks share it. Where all
//! ranks run on one host it is that host's own clock instead, which they share whatever the library
//! says.

use std::cell::Cell;
use std::time::Duration;

use laneway_core::Clock;

use crate::flavour::smpi::Simulator;

/// Sleeping ends late by about this much, so the rest of a wait is spent looking at the clock.
const SPIN_SECONDS: f64 = 200e-6;

/// What virtual time may lack of an instant that it has reached.
const NOISE_SECONDS: f64 = 1e-12;

/// The longest single sleep in virtual time: a year.
const MOST_NANOSECONDS: f64 = 3.2e16;

pub struct MpiClock {
    source: Cell<unsafe extern "C" fn() -> f64>,
    global: Cell<bool>,
    simulator: Option<Simulator>,
}

/// Seconds since the host started.
extern "C" fn host_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a place of our own; every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

impl MpiClock {
    /// The library's own.
    pub(crate) fn of_library(
        wtime: unsafe extern "C" fn() -> f64,
        simulator: Option<Simulator>,
    ) -> MpiClock {
        MpiClock { source: Cell::new(wtime), global: Cell::new(false), simulator }
    }

    /// The library says that all ranks share it.
    pub(crate) fn share(&self, global: bool) {
        self.global.set(global);
    }

    /// All ranks run on one host, and read its clock from now on.
    pub(crate) fn take_host(&self) {
        self.source.set(host_seconds);
        self.global.set(true);
    }

    /// Where it comes from, for people.
    pub(crate) fn name(&self) -> &'static str {
        let host: unsafe extern "C" fn() -> f64 = host_seconds;
        if std::ptr::fn_addr_eq(self.source.get(), host) { "host" } else { "MPI_Wtime" }
    }

    /// Virtual time stands still while a rank looks at the clock, so no part of the wait is spent
    /// looking. The simulator wakes a sleeper at the very instant, which its call names in whole
    /// nanoseconds; a picosecond that is missing is the noise of the subtraction.
    fn sleep_in_simulation(&self, simulator: Simulator, instant: f64) {
        loop {
            let left = instant - self.now();
            if left.is_nan() || left <= NOISE_SECONDS {
                return;
            }
            let left_ns = ((left - NOISE_SECONDS) * 1e9).ceil().min(MOST_NANOSECONDS) as i64;
            let time = libc::timespec {
                tv_sec: left_ns / 1_000_000_000,
                tv_nsec: left_ns % 1_000_000_000,
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
        unsafe { (self.source.get())() }
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
        self.global.get()
    }

    fn truth(&self) -> Option<&dyn Clock> {
        self.simulator.map(|_| self as &dyn Clock)
    }
}
