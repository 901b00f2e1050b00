//! A clock that a program can read and wait for: real, virtual, or skewed on purpose.

/// Seconds since an instant of the clock's own choosing.
pub trait Clock {
    /// The current time in seconds.
    fn now(&self) -> f64;

    /// Sleeps until `instant` of this clock; returns at once if it has passed.
    fn sleep_until(&self, instant: f64);

    /// Whether all ranks read one and the same clock.
    fn is_global(&self) -> bool {
        false
    }

    /// The clock of the simulation itself, which is exact on every rank; `None` where time is real.
    fn truth(&self) -> Option<&dyn Clock> {
        None
    }

    /// Whether its seconds are simulated, so that real time says nothing about a run.
    fn is_virtual(&self) -> bool {
        self.truth().is_some()
    }
}
