//! How many bytes may be under way on a path, and how fast they leave.

mod delay;
mod marks;
mod reordering;
mod window;

use crate::Nanos;
use crate::paths::RoundTrip;
use crate::wire::Counts;
use reordering::Reordering;
use window::Window;

/// The most that is under way. A receiver holds back, and a sender remembers, twice the packets.
pub(crate) const MOST_PACKETS: usize = 1 << 13;

/// What is in flight on a path, and the window that limits it.
pub(crate) struct Flight {
    window: Window,
    /// Bytes that neither arrived nor are lost.
    bytes: u64,
    reordering: Reordering,
    counts: Counts,
    /// A packet leaves again that the peer has: its next duplicate is not a spurious loss.
    expects_duplicate: bool,
}

impl Flight {
    pub fn new(packet: usize) -> Flight {
        let (window, reordering) = (Window::new(packet), Reordering::default());
        let counts = Counts::default();
        Flight { window, bytes: 0, reordering, counts, expects_duplicate: false }
    }

    /// The longest payload of a packet; the window begins anew.
    pub fn set_packet_bytes(&mut self, packet: usize) {
        self.window = Window::new(packet);
    }

    /// Whether another packet may leave, as far as the window is concerned.
    pub fn has_room(&self) -> bool {
        self.window.has_room(self.bytes)
    }

    /// The time at which the next packet may leave.
    pub fn next_departure(&self, trip: RoundTrip) -> Nanos {
        self.window.next_departure(trip)
    }

    /// The time between packets, where there is no more than one in a round trip.
    pub fn pause(&self, trip: RoundTrip) -> Nanos {
        self.window.pause(trip)
    }

    /// A packet leaves; whether the window is full by this.
    pub fn on_sent(&mut self, now: Nanos, bytes: u64, trip: RoundTrip) -> bool {
        self.bytes += bytes;
        self.window.on_sent(now, bytes, self.bytes, trip)
    }

    /// A packet has arrived.
    pub fn on_ack(&mut self, now: Nanos, bytes: u64, trip: RoundTrip) {
        self.forget(bytes);
        self.window.on_ack(now, bytes, trip);
    }

    /// A packet arrived this much later than those behind it.
    pub fn on_late(&mut self, now: Nanos, late: Nanos, trip: RoundTrip) {
        self.reordering.add(now, late, trip);
    }

    /// How much later a packet must have left for the one before it to be lost.
    pub fn reordering_window(&mut self, now: Nanos, trip: RoundTrip) -> Nanos {
        self.reordering.window(now, trip)
    }

    /// A packet that counted as lost has arrived.
    pub fn on_spurious_loss(&mut self, now: Nanos, trip: RoundTrip) {
        self.window.on_spurious_loss(now, trip.smoothed);
    }

    /// What the peer counts of this path: packets with a congestion mark, and packets that came
    /// although they had come before.
    pub fn on_counts(&mut self, now: Nanos, counts: Counts, trip: RoundTrip) {
        let marked = counts.marked.wrapping_sub(self.counts.marked);
        let again = counts.again.wrapping_sub(self.counts.again);
        self.counts = counts;
        let expected = again > 0 && std::mem::take(&mut self.expects_duplicate);
        let again = again - u16::from(expected);
        self.window.on_marks(u64::from(marked));
        let is_spurious = |_: &u16| self.window.on_spurious_loss(now, trip.smoothed);
        let spurious = (0..again).filter(is_spurious).count();
        if spurious > 0 {
            // They were later than they were waited for.
            let window = self.reordering.window(now, trip);
            self.reordering.add(now, 2 * window, trip);
        }
    }

    /// A packet that the peer has, and has no receive for, is to leave again.
    pub fn on_not_ready(&mut self) {
        self.expects_duplicate = true;
    }

    /// A packet is lost.
    pub fn on_loss(&mut self, now: Nanos, bytes: u64, trip: RoundTrip) {
        self.forget(bytes);
        // It left before the packet that has shown its loss, which took the latest round trip.
        self.window.on_loss(now, trip.smoothed.max(trip.last));
    }

    /// A packet is not counted any more, whatever became of it.
    pub fn forget(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Nothing is counted any more.
    pub fn clear(&mut self) {
        self.bytes = 0;
    }

    /// Nothing was acknowledged for long.
    pub fn on_timeout(&mut self) {
        self.window.on_timeout();
    }

    /// Begins again with the first window.
    pub fn restart(&mut self) {
        self.window.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_for_a_receiver_that_was_not_ready_undoes_no_loss() {
        let (last, smoothed) = (1_000_000, 1_000_000);
        let trip = RoundTrip { last, smoothed, least: 900_000, is_old: false };
        let mut flight = Flight::new(1000);
        let mut now = 0;
        while flight.has_room() {
            now += 1;
            flight.on_sent(now, 1000, trip);
        }
        flight.on_not_ready();
        flight.on_loss(now, 1000, trip);
        assert!(!flight.has_room(), "the loss took a part of the window");
        flight.on_counts(now, Counts { marked: 0, again: 1 }, trip);
        assert!(!flight.has_room(), "the packet was sent again because no receive was posted");
        flight.on_counts(now, Counts { marked: 0, again: 2 }, trip);
        assert!(flight.has_room(), "the loss was none");
    }
}
