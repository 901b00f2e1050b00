//! Resting until something can be done.

use std::time::Duration;

use laneway_path::Nanos;

use super::Endpoint;
use crate::system::clock::now;
use crate::system::readiness::poll;

/// Shorter sleeps are ended by a timer that stays from one to the next.
const SHORT: Duration = Duration::from_millis(10);

impl Endpoint {
    /// When something is due, if nothing arrives before.
    fn next_due(&mut self) -> Option<Nanos> {
        let due = self.connections.first_due();
        let devices = self.health.next_at().filter(|_| self.connections.has_waiting());
        let others = [self.handshakes.next_at(), self.next_of_streams(), devices];
        others.into_iter().chain([due]).flatten().min()
    }

    /// What a call that waits for this endpoint has to look at.
    pub(crate) fn descriptors(&self) -> [libc::pollfd; 2] {
        self.lines.descriptors()
    }

    /// How long nothing is to be done, if nothing arrives.
    pub(crate) fn max_sleep(&mut self, limit: Duration) -> Duration {
        if self.connections.has_dirty() || self.lines.streams.has_changes() {
            return Duration::ZERO;
        }
        let now = now();
        let due = [self.next_due(), self.connections.next_turn(now)].into_iter().flatten().min();
        let due = due.map(|at| Duration::from_nanos(at.saturating_sub(now)));
        due.map_or(limit, |due| due.min(limit))
    }

    /// Rests until something can be done, for so long at most, and does it; false where nothing
    /// was. A rest may end early.
    pub fn wait(&mut self, limit: Duration) -> bool {
        // What was handed over has left nothing undone when all threads sleep.
        if self.notices.is_empty() && self.connections.has_dirty() {
            self.transmit(now());
        }
        let limit = if self.notices.is_empty() { limit } else { Duration::ZERO };
        let mut rests = self.max_sleep(limit);
        if (Duration::from_nanos(1)..SHORT).contains(&rests) {
            let now = now();
            self.lines.wake_at(now, now + rests.as_nanos() as Nanos);
            rests = SHORT;
        }
        let mut descriptors = self.descriptors();
        poll(&mut descriptors, rests);
        self.serve(&descriptors, now())
    }

    /// Does what can be done now that these descriptors were looked at.
    pub(crate) fn serve(&mut self, descriptors: &[libc::pollfd; 2], now: Nanos) -> bool {
        let arrived = match descriptors.map(|descriptor| descriptor.revents != 0) {
            // The system has just said that nothing else is there.
            [true, false] => self.receive_over(self.lines.hot(), now),
            [_, true] => self.look(now),
            [false, false] => false,
        };
        self.go_on_after(arrived, now)
    }
}

/// Rests until one of these endpoints has something to do, for so long at most, and does it; false
/// where nothing was.
pub fn wait_for_any(endpoints: &mut [&mut Endpoint], limit: Duration) -> bool {
    if let [endpoint] = endpoints {
        return endpoint.wait(limit);
    }
    let has_notices = endpoints.iter().any(|endpoint| !endpoint.notices.is_empty());
    let limit = if has_notices { Duration::ZERO } else { limit };
    let rests = endpoints.iter_mut().map(|endpoint| endpoint.max_sleep(limit)).min();
    let mut descriptors: Vec<libc::pollfd> =
        endpoints.iter().flat_map(|endpoint| endpoint.descriptors()).collect();
    poll(&mut descriptors, rests.unwrap_or(limit));
    let mut any = false;
    for endpoint in endpoints {
        any |= endpoint.wait(Duration::ZERO);
    }
    any
}
