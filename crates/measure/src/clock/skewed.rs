//! A clock that is off and drifts on purpose, over any other: what ranks on different machines
//! have, where there is one machine.

use laneway_core::Clock;

/// Shows `offset` seconds more than the other clock, and gains `drift` seconds in each of its.
#[derive(Clone, Copy)]
pub struct Skewed<'c> {
    /// The clock that it is derived from.
    pub clock: &'c dyn Clock,
    /// Seconds by which it is ahead before it drifts; below 0 it is behind.
    pub offset: f64,
    /// Seconds gained in each second of the other clock; below 0 it loses.
    pub drift: f64,
    /// When it began to drift, by the other clock.
    pub since: f64,
}

impl Skewed<'_> {
    /// What it shows at an instant of the other clock.
    pub fn shown_at(&self, instant: f64) -> f64 {
        instant + self.offset + self.drift * (instant - self.since)
    }
}

impl Clock for Skewed<'_> {
    fn now(&self) -> f64 {
        self.shown_at(self.clock.now())
    }

    fn sleep_until(&self, instant: f64) {
        let elapsed = (instant - self.offset - self.since) / (1.0 + self.drift);
        self.clock.sleep_until(self.since + elapsed);
    }

    fn truth(&self) -> Option<&dyn Clock> {
        self.clock.truth()
    }
}
