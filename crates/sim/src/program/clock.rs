//! The clock of a rank's host in virtual time.

use std::cell::Cell;

use laneway_core::Clock;

use super::turns::Seat;
use super::{FREE_READS, LOOK_SECONDS};
use crate::network::HostClock;

/// The clock of a rank's host, which may be off and drift.
pub(super) struct SimClock<'t, 'a> {
    seat: Seat<'t, 'a>,
    host: HostClock,
    is_global: bool,
    /// The one that is neither off nor drifts, if this one may be.
    right: Option<Box<SimClock<'t, 'a>>>,
    /// The instant of the last reading, and how many readings it has had.
    reads: Cell<(f64, u32)>,
}

impl<'t, 'a> SimClock<'t, 'a> {
    pub fn new(seat: Seat<'t, 'a>) -> SimClock<'t, 'a> {
        let state = seat.any_state();
        let hosts = &state.cluster.hosts;
        let host = seat.network().clock(hosts[seat.rank() as usize]);
        let right = |host: &u32| seat.network().clock(*host) == HostClock::default();
        let is_global = hosts.iter().all(right);
        let clock = |host, is_global, right| {
            let reads = Cell::new((0.0, 0));
            SimClock { seat, host, is_global, right, reads }
        };
        let right = (!is_global).then(|| Box::new(clock(HostClock::default(), true, None)));
        clock(host, is_global, right)
    }
}

impl Clock for SimClock<'_, '_> {
    fn now(&self) -> f64 {
        let mut now = self.seat.any_state().cluster.now;
        let (last, reads) = self.reads.get();
        let reads = if now == last { reads + 1 } else { 0 };
        self.reads.set((now, reads));
        if reads > FREE_READS {
            // A run that has ended is reported by the next call that can.
            let _ = self.seat.sleep(now + LOOK_SECONDS);
            now = self.seat.any_state().cluster.now;
        }
        self.host.offset + (1.0 + self.host.drift) * now
    }

    fn sleep_until(&self, instant: f64) {
        let until = (instant - self.host.offset) / (1.0 + self.host.drift);
        if self.seat.sleep(until).is_err() && until.is_finite() {
            // No rank waits for another any more; a program that waits for an instant must see it.
            let now = &mut self.seat.any_state().cluster.now;
            *now = now.max(until);
        }
    }

    fn is_global(&self) -> bool {
        self.is_global
    }

    fn truth(&self) -> Option<&dyn Clock> {
        // The right clock is its own truth.
        Some(self.right.as_deref().map_or(self as &dyn Clock, |right| right))
    }
}
