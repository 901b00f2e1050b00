//! How many bytes may be under way on a path, and how fast they leave.
//!
//! The window grows until packets wait in a queue for longer than they should, and shrinks with the
//! waiting, so that a queue stays short: a long one would look like a dead path to a sender that
//! waits for an acknowledgement. A loss takes a part of the window once a round trip. Packets leave
//! evenly, at a little more than the rate that the window means, also when a path has just taken
//! over.

use crate::Nanos;
use crate::paths::RoundTrip;

/// How long packets may wait in a queue.
const WAIT: Nanos = 2_000_000;
/// Packets of the first window, and of the smallest.
const FIRST: u64 = 32;
const LEAST: u64 = 8;
/// What is left of a window after a loss, in tenths.
const LEFT: u64 = 7;
/// The most that is under way. A receiver holds back, and a sender remembers, twice the packets.
const MOST_BYTES: u64 = 16 << 20;
pub(crate) const MOST_PACKETS: usize = 1 << 13;
/// As much may leave at once, so that the system can take it in one call.
const BURST_BYTES: u64 = 64 << 10;
const SECOND: u64 = 1_000_000_000;

struct Window {
    packet: u64,
    bytes: u64,
    /// Up to here it doubles in a round trip.
    doubles_to: u64,
    cut_at: Option<Nanos>,
    /// When all that has left would have left, at the even rate.
    paid_until: Nanos,
}

/// What is in flight on a path, and the window that limits it.
pub(crate) struct Flight {
    window: Window,
    /// Bytes that neither arrived nor are lost.
    bytes: u64,
}

impl Flight {
    pub fn new(packet: usize) -> Flight {
        Flight { window: Window::new(packet), bytes: 0 }
    }

    /// The longest payload of a packet; the window begins anew.
    pub fn set_packet_bytes(&mut self, packet: usize) {
        self.window = Window::new(packet);
    }

    /// Whether another packet may leave, as far as the window is concerned.
    pub fn has_room(&self) -> bool {
        self.bytes == 0 || self.bytes < self.window.bytes()
    }

    /// The time at which the next packet may leave.
    pub fn next_departure(&self, trip: RoundTrip) -> Nanos {
        self.window.next_departure(trip.smoothed)
    }

    /// A packet of `bytes`, and `header` more, leaves; whether the window is full by this.
    pub fn on_sent(&mut self, now: Nanos, bytes: u64, header: u64, trip: RoundTrip) -> bool {
        self.bytes += bytes;
        let full = self.bytes + 2 * bytes >= self.window.bytes();
        self.window.on_sent(now, bytes + header, trip.smoothed);
        full
    }

    /// A packet has arrived.
    pub fn on_ack(&mut self, bytes: u64, trip: RoundTrip) {
        self.forget(bytes);
        self.window.on_ack(bytes, trip);
    }

    /// A packet is lost.
    pub fn on_loss(&mut self, now: Nanos, bytes: u64, trip: RoundTrip) {
        self.forget(bytes);
        self.window.on_loss(now, trip.smoothed);
    }

    /// A packet is not counted any more, whatever became of it.
    pub fn forget(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Nothing is counted any more.
    pub fn clear(&mut self) {
        self.bytes = 0;
    }

    /// Begins again with the first window.
    pub fn restart(&mut self) {
        self.window.restart();
    }
}

impl Window {
    pub fn new(packet: usize) -> Window {
        let packet = (packet as u64).max(1);
        Window {
            packet,
            bytes: FIRST * packet,
            doubles_to: MOST_BYTES,
            cut_at: None,
            paid_until: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts acknowledged bytes.
    pub fn on_ack(&mut self, acked: u64, trip: RoundTrip) {
        let waited = trip.last.saturating_sub(trip.least);
        if self.bytes < self.doubles_to {
            if waited <= WAIT {
                self.bytes += acked;
            } else {
                self.doubles_to = self.bytes;
            }
        } else if waited <= WAIT {
            // A packet, or a 64th, a round trip.
            self.bytes += (acked * self.packet.max(self.bytes / 64)).div_ceil(self.bytes);
        } else {
            // By a quarter a round trip at most, the less the shorter packets waited too long.
            let over = (waited - WAIT).min(waited);
            self.bytes -= (acked * over / waited / 4).min(self.bytes);
            self.doubles_to = self.bytes;
        }
        let most = MOST_BYTES.min(MOST_PACKETS as u64 * self.packet);
        self.bytes = self.bytes.clamp(LEAST * self.packet, most);
    }

    /// Handles the loss of a packet.
    pub fn on_loss(&mut self, now: Nanos, trip: Nanos) {
        if self.cut_at.is_some_and(|at| now < at + trip) {
            return;
        }
        self.cut_at = Some(now);
        self.bytes = (self.bytes * LEFT / 10).max(LEAST * self.packet);
        self.doubles_to = self.bytes;
    }

    /// Begins again with the first window: nothing is known of the path as it is now.
    pub fn restart(&mut self) {
        self.bytes = self.bytes.min(FIRST * self.packet);
        self.doubles_to = MOST_BYTES;
        self.cut_at = None;
    }

    /// The time at which the next packet may leave.
    pub fn next_departure(&self, trip: Nanos) -> Nanos {
        self.paid_until.saturating_sub(self.takes(BURST_BYTES, trip))
    }

    /// A packet leaves.
    pub fn on_sent(&mut self, now: Nanos, bytes: u64, trip: Nanos) {
        self.paid_until = self.paid_until.max(now) + self.takes(bytes, trip);
    }

    /// How long these bytes take at the paced rate: five quarters of a window a round trip, and
    /// two while it doubles.
    fn takes(&self, bytes: u64, trip: Nanos) -> Nanos {
        let quarters = if self.bytes < self.doubles_to { 8 } else { 5 };
        let rate = (self.bytes * quarters / 4).max(1);
        // Packets and bursts are far shorter than the eight gigabytes for which 64 bits suffice.
        bytes * trip.min(SECOND) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: usize = 1000;
    const MS: Nanos = 1_000_000;

    fn trip(last: Nanos) -> RoundTrip {
        RoundTrip { last, smoothed: last, least: MS }
    }

    #[test]
    fn it_doubles_until_packets_wait_and_shrinks_while_they_do() {
        let mut window = Window::new(PACKET);
        for _ in 0..4 {
            let before = window.bytes();
            window.on_ack(before, trip(2 * MS));
            assert_eq!(window.bytes(), 2 * before);
        }
        window.on_ack(PACKET as u64, trip(4 * MS));
        let full = window.bytes();
        window.on_ack(full, trip(4 * MS));
        assert!(window.bytes() < full && window.bytes() > full / 2);
        let shrunk = window.bytes();
        window.on_ack(shrunk, trip(2 * MS));
        assert!(window.bytes() > shrunk && window.bytes() < shrunk + shrunk / 16);
        for _ in 0..100 {
            window.on_ack(window.bytes(), trip(100 * MS));
        }
        assert_eq!(window.bytes(), LEAST * PACKET as u64);
    }

    #[test]
    fn losses_of_one_round_trip_count_once() {
        let mut window = Window::new(PACKET);
        let before = window.bytes();
        window.on_loss(0, MS);
        window.on_loss(MS / 2, MS);
        assert_eq!(window.bytes(), before * 7 / 10);
        window.on_loss(MS, MS);
        assert_eq!(window.bytes(), before * 7 / 10 * 7 / 10);
    }

    #[test]
    fn what_exceeds_a_burst_leaves_evenly() {
        let mut window = Window::new(PACKET);
        let (mut now, mut sent) = (0, 0);
        while now < 10 * MS {
            now = now.max(window.next_departure(MS));
            window.on_sent(now, PACKET as u64, MS);
            sent += PACKET as u64;
        }
        // Two windows a round trip while it doubles, and a burst at the beginning.
        let even = 10 * 2 * window.bytes();
        assert!(sent >= even && sent <= even + BURST_BYTES + 2 * PACKET as u64, "{sent} {even}");
    }
}
