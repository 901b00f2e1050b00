//! The window of a path, and the pace at which packets leave.
//!
//! The window grows until packets wait in a queue for longer than they should, and shrinks so that
//! a queue stays short: a long one would look like a dead path to a sender that waits for an
//! acknowledgement. A loss takes a part of the window once a round trip. Packets leave evenly, at a
//! little more than the rate that the window means, also when a path has just taken over.

use super::MOST_PACKETS;
use super::delay::{Advice, Delay, Share, WAIT};
use super::marks::Marks;
use crate::Nanos;
use crate::paths::RoundTrip;
use crate::wire::HEADER_BYTES;

/// For this number of round trips after a loss the delay of packets says little.
const LOSSY_TRIPS: u64 = 4;
/// For this number of round trips after a loss others are likely to fill the queue.
const SHARED_TRIPS: u64 = 64;
/// Packets of a window that may be one of many in a queue: delay takes nothing from it.
const FEW: u64 = 16;
/// Packets that waiting in a queue leaves of a larger one.
const YIELDS_TO: u64 = 8;
/// Windows of fewer packets leave at an even rate that varies.
const VARIES_BELOW: u64 = 64;
/// Packets of the first window.
const FIRST: u64 = 32;
/// The smallest is a part of a packet: then one leaves in several round trips.
const LEAST_PART: u64 = 256;
/// The same of a slow window: then one leaves in 32 ms.
const LEAST_SLOW_PART: u64 = 32;
/// In a round trip of this length a small window grows twice as much as in a short one.
const LONG_TRIP: Nanos = 4_000_000;
/// The time in which a slow window leaves.
const SLOW_TRIP: Nanos = 1_000_000;
/// What is left of a window after a loss, in parts of 1024.
const LEFT: u64 = 717;
/// Losses of so short a time, and two round trips, may prove together to be none.
const UNDONE_WITHIN: Nanos = 4_000_000;
const MOST_BYTES: u64 = 16 << 20;
/// As much may leave at once, so that the system takes it in one call: 65,507 bytes, less what a
/// driver adds to each of up to 64 packets. A call for a packet or two would cost nearly as much.
const BURST_BYTES: u64 = 63 << 10;
const SECOND: u64 = 1_000_000_000;
/// A window that was not full for this time is halved, down to what was used of it.
const UNUSED: Nanos = 200_000_000;

/// What losses did to the window, and whether they were losses.
struct Cut {
    at: Nanos,
    /// The window before the first of a few losses, where it ceased to double, and when.
    before: (u64, u64),
    began: Nanos,
    /// Losses since then that have not proved to be none.
    losses: u32,
    /// For so long others are likely to fill the queue.
    shared_until: Nanos,
}

impl Cut {
    /// Whether it may prove to be spurious.
    fn is_recent(&self, now: Nanos, trip: Nanos) -> bool {
        now < self.began + UNDONE_WITHIN + 2 * trip
    }
}

/// How much of the window is used.
#[derive(Default)]
struct Usage {
    /// When it was last the limit.
    full_at: Option<Nanos>,
    /// When it is halved if it is not full before.
    halves_at: Nanos,
    /// The most that was under way since that time was set.
    most: u64,
}

pub(super) struct Window {
    packet: u64,
    bytes: u64,
    /// Up to here it doubles in a round trip.
    doubles_to: u64,
    delay: Delay,
    marks: Marks,
    cut: Option<Cut>,
    usage: Usage,
    /// When all that has left would have left, at the even rate.
    paid_until: Nanos,
    /// What departures vary by.
    dice: u64,
    /// Whether the window leaves in a constant time in place of a round trip.
    is_slow: bool,
}

impl Window {
    pub fn new(packet: usize) -> Window {
        let packet = (packet as u64).max(1);
        Window {
            packet,
            bytes: FIRST * packet,
            doubles_to: MOST_BYTES,
            delay: Delay::new(),
            marks: Marks::new(),
            cut: None,
            usage: Usage::default(),
            paid_until: 0,
            dice: 0,
            is_slow: false,
        }
    }

    /// Whether another packet may leave while so much is under way. A second one always may: its
    /// pace is the limit, and its arrival shows whether the first was lost.
    pub fn has_room(&self, under_way: u64) -> bool {
        under_way <= self.packet || under_way < self.bytes
    }

    /// Counts acknowledged bytes.
    pub fn on_ack(&mut self, now: Nanos, acked: u64, trip: RoundTrip) {
        self.marks.acked += 1;
        if now.saturating_sub(trip.last) >= self.marks.round_began
            && let Some(parts) = self.marks.on_round(now)
        {
            self.yield_to_marks(parts);
        }
        let share = self.share(now, trip);
        self.slow_or_not(share, trip.last);
        let advice = self.delay.on_ack(now, trip, self.bytes, share);
        match advice {
            Some(Advice::Shrink(parts)) => {
                // Delays may be of others, who do not yield; only losses and marks leave less.
                let least = self.bytes.min(YIELDS_TO * self.packet);
                self.bytes = (self.bytes * parts / 1024).max(least);
                self.doubles_to = self.bytes;
            }
            Some(Advice::Restore { window, had_no_effect }) => {
                self.bytes = self.bytes.max(window);
                let doubles = had_no_effect && !self.is_likely_shared(now);
                self.doubles_to = if doubles { MOST_BYTES } else { self.bytes };
            }
            None if self.delay.waited(trip) > WAIT => {
                self.doubles_to = self.doubles_to.min(self.bytes);
                if self.is_small() && self.was_full(now, trip) {
                    self.grow_among_many(acked, trip);
                }
            }
            None if self.was_full(now, trip) => self.grow(acked, trip),
            None => {}
        }
        let most = MOST_BYTES.min(MOST_PACKETS as u64 * self.packet);
        self.bytes = self.bytes.clamp(self.least(), most);
    }

    /// Marks slow a window below a packet. Its rate would follow the round trip, which changes many
    /// times between two packets of many senders, so that all of them would wait and send together.
    /// So it leaves in a constant time.
    fn slow_or_not(&mut self, share: Share, trip: Nanos) {
        let (in_trip, limit) = match self.is_slow {
            true => (self.bytes * trip / SLOW_TRIP, self.packet),
            false => (self.bytes, self.packet / 2),
        };
        let is_slow = share == Share::Marked && in_trip < limit;
        if is_slow != self.is_slow {
            self.bytes = if is_slow { self.bytes * SLOW_TRIP / trip.max(1) } else { in_trip };
            (self.doubles_to, self.is_slow) = (self.bytes, is_slow);
        }
    }

    fn share(&self, now: Nanos, trip: RoundTrip) -> Share {
        let is_recent = |cut: &Cut| now < cut.at + LOSSY_TRIPS * trip.smoothed;
        match &self.cut {
            _ if self.marks.are_recent(now, trip.smoothed) => Share::Marked,
            _ if self.is_small() => Share::Small,
            Some(cut) if is_recent(cut) => Share::Lossy,
            _ => Share::Large,
        }
    }

    /// Whether others are likely to fill the queue, since packets were lost.
    fn is_likely_shared(&self, now: Nanos) -> bool {
        self.cut.as_ref().is_some_and(|cut| now < cut.shared_until)
    }

    /// Whether it may be one of many that share the queue.
    fn is_small(&self) -> bool {
        self.is_slow || self.bytes < FEW * self.packet
    }

    /// Whether the window was the limit when what arrives now left.
    fn was_full(&self, now: Nanos, trip: RoundTrip) -> bool {
        self.usage.full_at.is_some_and(|at| now <= at + 2 * trip.last.max(trip.smoothed))
    }

    fn grow(&mut self, acked: u64, trip: RoundTrip) {
        if self.bytes < self.doubles_to {
            self.bytes += acked.min(self.bytes);
            return;
        }
        if self.is_small() {
            return self.grow_among_many(acked, trip);
        }
        let step = match self.delay.is_shared() {
            // As TCP does beside others.
            true => (self.packet / 2).max(self.bytes / 256),
            false => (self.packet / 2).max(self.bytes / 64),
        };
        self.bytes += (acked.min(self.bytes) * step).div_ceil(self.bytes);
    }

    /// Grows a small window by a part of each packet that arrives, whatever its size; losses take a
    /// part of the window. So windows that share a queue become alike.
    fn grow_among_many(&mut self, acked: u64, trip: RoundTrip) {
        self.bytes += match self.is_slow {
            true => ((self.packet * self.bytes).isqrt() / 64).max(self.bytes / 32),
            false => acked * (LONG_TRIP + trip.smoothed.min(4 * LONG_TRIP)) / (64 * LONG_TRIP),
        };
    }

    /// Shrinks as packets were marked, to this number of parts in 1024.
    fn yield_to_marks(&mut self, parts: u64) {
        // All take this step before the first of them sees what it did, the later the slower.
        let whole = if self.is_slow { self.bytes.min(self.packet) } else { self.packet };
        let part = (self.packet * whole).isqrt();
        self.shrink(1024 - (1024 - parts) * part / self.packet);
    }

    /// Counts further packets with a mark.
    pub fn on_marks(&mut self, count: u64) {
        self.marks.marked += count;
    }

    /// Handles the loss of a packet.
    pub fn on_loss(&mut self, now: Nanos, trip: Nanos) {
        let before = (self.bytes, self.doubles_to);
        let cut = self.cut.take().filter(|cut| cut.is_recent(now, trip));
        let is_news = cut.as_ref().is_none_or(|cut| now >= cut.at + trip);
        let mut cut =
            cut.unwrap_or(Cut { at: now, before, began: now, losses: 0, shared_until: 0 });
        cut.losses += 1;
        if is_news {
            cut.at = now;
            cut.shared_until = now + SHARED_TRIPS * trip;
            self.shrink(LEFT);
        }
        self.cut = Some(cut);
    }

    /// A packet that counted as lost was not. If this holds for all of late, the window is as
    /// before. False if there was no loss of late.
    pub fn on_spurious_loss(&mut self, now: Nanos, trip: Nanos) -> bool {
        let Some(cut) = self.cut.as_mut().filter(|cut| cut.is_recent(now, trip)) else {
            return false;
        };
        cut.losses -= 1;
        if cut.losses == 0 {
            self.bytes = self.bytes.max(cut.before.0);
            self.doubles_to = cut.before.1;
            self.cut = None;
        }
        true
    }

    /// The smallest window.
    fn least(&self) -> u64 {
        self.packet.div_ceil(if self.is_slow { LEAST_SLOW_PART } else { LEAST_PART })
    }

    /// Shrinks to this number of parts in 1024.
    fn shrink(&mut self, parts: u64) {
        self.bytes = (self.bytes * parts / 1024).max(self.least());
        self.doubles_to = self.bytes;
        self.delay.end_trial();
    }

    /// Begins again with the first window: nothing is known of the path as it is now.
    pub fn restart(&mut self) {
        self.bytes = self.bytes.min(FIRST * self.packet);
        self.doubles_to = MOST_BYTES;
        self.delay = Delay::new();
        (self.cut, self.is_slow) = (None, false);
    }

    /// Nothing was acknowledged for long: as [`Window::restart`], except that one of many does not
    /// begin to double, when all of them have waited as long.
    pub fn on_timeout(&mut self) {
        if self.bytes >= YIELDS_TO * self.packet {
            self.restart();
        }
    }

    /// The time at which the next packet may leave.
    pub fn next_departure(&self, trip: RoundTrip) -> Nanos {
        let before = BURST_BYTES.saturating_sub(self.packet + HEADER_BYTES as u64);
        // A window of a few packets leaves evenly, too.
        let burst = before.min(self.bytes.saturating_sub(2 * self.packet));
        self.paid_until.saturating_sub(self.takes(burst, trip))
    }

    /// A packet leaves with `bytes`, after which `under_way` bytes are; whether the window is full
    /// by this.
    pub fn on_sent(&mut self, now: Nanos, bytes: u64, under_way: u64, trip: RoundTrip) -> bool {
        if now >= self.usage.halves_at {
            self.shrink_unused(now);
        }
        let full = under_way + 2 * bytes >= self.bytes;
        if full {
            self.usage = Usage { full_at: Some(now), halves_at: now + UNUSED, most: 0 };
        } else {
            self.usage.most = self.usage.most.max(under_way);
        }
        let begins = self.paid_until.max(now);
        let even = self.takes(bytes + HEADER_BYTES as u64, trip);
        self.paid_until = begins + if self.varies() { self.vary(now, even) } else { even };
        full
    }

    /// Whether the time between packets varies. If all left evenly, or when acknowledgements come,
    /// some would find a full queue each time, and others never.
    fn varies(&self) -> bool {
        self.bytes >= self.doubles_to && self.bytes < VARIES_BELOW * self.packet
    }

    /// A time between half of this and three halves.
    fn vary(&mut self, now: Nanos, even: Nanos) -> Nanos {
        self.dice = (self.dice ^ now).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        even / 2 + even * (self.dice >> 54) / 1024
    }

    /// The time between packets, if no more than two leave in a round trip.
    pub fn pause(&self, trip: RoundTrip) -> Nanos {
        if self.bytes < 2 * self.packet { self.takes(self.packet, trip) } else { 0 }
    }

    /// What was not used for long is not known to fit any more.
    fn shrink_unused(&mut self, now: Nanos) {
        let times = ((now - self.usage.halves_at) / UNUSED).min(32);
        if self.usage.halves_at > 0 {
            self.doubles_to = self.doubles_to.max(self.bytes / 4 * 3);
            let halve = |bytes: u64, used: u64, times: u64| {
                let used = used.max(FIRST * self.packet).min(bytes);
                used + ((bytes - used) >> times)
            };
            // Nothing was used after the first time.
            self.bytes = halve(halve(self.bytes, self.usage.most, 1), 0, times);
        }
        (self.usage.halves_at, self.usage.most) = (now + UNUSED, 0);
    }

    /// How long these bytes take at the paced rate: five quarters of a window a round trip, one
    /// window if departures vary, and two while it doubles.
    fn takes(&self, bytes: u64, trip: RoundTrip) -> Nanos {
        let quarters = match () {
            _ if self.bytes < self.doubles_to => 8,
            _ if self.varies() => 4,
            _ => 5,
        };
        let trip = if self.is_slow { SLOW_TRIP } else { trip.smoothed };
        let rate = (self.bytes * quarters / 4).max(1);
        // Packets and bursts are far shorter than the eight gigabytes for which 64 bits suffice.
        bytes * trip.min(SECOND) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: usize = 1000;
    const PAYLOAD: u64 = (PACKET - HEADER_BYTES) as u64;
    const MS: Nanos = 1_000_000;

    fn trip(last: Nanos) -> RoundTrip {
        RoundTrip { last, smoothed: last, least: MS, is_old: false }
    }

    #[test]
    fn it_doubles_until_packets_wait_and_shrinks_if_they_do() {
        let (mut window, mut now) = (Window::new(PACKET), 0);
        let mut pass = |window: &mut Window, last: Nanos| {
            let before = window.bytes;
            window.on_sent(now, PACKET as u64, before, trip(last));
            now += last;
            window.on_ack(now, before, trip(last));
            (before, window.bytes)
        };
        for _ in 0..4 {
            let (before, after) = pass(&mut window, 2 * MS);
            assert_eq!(after, 2 * before);
        }
        let (full, shrunk) = pass(&mut window, 4 * MS);
        assert!(shrunk < full && shrunk >= full / 2);
        pass(&mut window, 4 * MS);
        for _ in 0..10 {
            let (before, after) = pass(&mut window, 2 * MS);
            assert!(after > before && after < before + before / 16);
        }
    }

    #[test]
    fn losses_of_one_round_trip_count_once() {
        let mut window = Window::new(PACKET);
        let before = window.bytes;
        window.on_loss(0, MS);
        window.on_loss(MS / 2, MS);
        assert_eq!(window.bytes, before * LEFT / 1024);
        window.on_loss(MS, MS);
        assert_eq!(window.bytes, before * LEFT / 1024 * LEFT / 1024);
    }

    #[test]
    fn what_was_only_late_is_undone() {
        let mut window = Window::new(PACKET);
        let before = window.bytes;
        (0..3).for_each(|k| window.on_loss(k * MS, MS));
        assert!(window.bytes < before);
        (0..3).for_each(|_| assert!(window.on_spurious_loss(3 * MS, MS)));
        assert_eq!(window.bytes, before);
        assert!(!window.on_spurious_loss(3 * MS, MS));
        (0..2).for_each(|k| window.on_loss(k * MS, MS));
        assert!(window.on_spurious_loss(3 * MS, MS));
        let after = before * LEFT / 1024 * LEFT / 1024;
        assert_eq!(window.bytes, after, "one was lost");
        window.on_loss(100 * MS, MS);
        assert!(window.on_spurious_loss(101 * MS, MS));
        assert_eq!(window.bytes, after, "but not this one");
        window.on_loss(200 * MS, MS);
        assert!(!window.on_spurious_loss(300 * MS, MS), "long ago");
    }

    #[test]
    fn a_window_that_is_not_full_does_not_grow() {
        let mut window = Window::new(PACKET);
        let before = window.bytes;
        for now in 1..100 {
            window.on_sent(now * MS, PAYLOAD, before / 2, trip(MS));
            window.on_ack(now * MS, PAYLOAD, trip(MS));
        }
        assert_eq!(window.bytes, before);
    }

    #[test]
    fn what_is_not_used_decays() {
        let mut window = Window::new(PACKET);
        for now in 1..8 {
            window.on_sent(now * MS, PAYLOAD, window.bytes, trip(MS));
            window.on_ack(now * MS + MS, window.bytes, trip(MS));
        }
        let before = window.bytes;
        assert!(before > 100 * FIRST * PACKET as u64);
        window.on_sent(7 * MS + UNUSED + 1, PAYLOAD, before / 4, trip(MS));
        assert!(window.bytes < before && window.bytes >= before / 2, "by half what is unused");
        window.on_sent(7 * MS + 20 * UNUSED, PAYLOAD, PAYLOAD, trip(MS));
        assert!(window.bytes < 2 * FIRST * PACKET as u64, "idle for seconds");
    }

    #[test]
    fn windows_of_many_become_alike() {
        let grown = [PACKET as u64 / 4, 4 * PACKET as u64].map(|before| {
            let mut window = Window { bytes: before, doubles_to: before, ..Window::new(PACKET) };
            window.on_sent(0, PAYLOAD, before, trip(MS));
            window.on_ack(MS, PACKET as u64, trip(MS));
            window.bytes - before
        });
        assert!(grown[0] > 0 && grown[0] == grown[1], "{grown:?}");
    }

    #[test]
    fn a_second_packet_leaves_when_its_time_has_come() {
        let bytes = PACKET as u64 / 8;
        let mut window = Window { bytes, doubles_to: bytes, ..Window::new(PACKET) };
        assert_eq!(window.pause(trip(MS)), 8 * MS);
        window.on_sent(0, PAYLOAD, PAYLOAD, trip(MS));
        assert!(window.has_room(PAYLOAD) && !window.has_room(2 * PACKET as u64));
        let next = window.next_departure(trip(MS));
        assert!((4 * MS..=12 * MS).contains(&next), "{next}");
    }

    #[test]
    fn a_slow_rate_does_not_follow_the_round_trip() {
        let bytes = PACKET as u64 / 8;
        let mut window = Window { bytes, doubles_to: bytes, ..Window::new(PACKET) };
        window.slow_or_not(Share::Marked, MS / 2);
        assert_eq!(window.pause(trip(MS / 2)), 4 * MS);
        assert_eq!(window.pause(trip(2 * MS)), 4 * MS);
        window.slow_or_not(Share::Small, MS / 2);
        assert_eq!(window.bytes, bytes);
    }

    /// Payloads of networks with packets of 1,500 and 9,000 bytes, and the tags behind them.
    #[test]
    fn a_burst_fits_one_call_to_the_system() {
        for (payload, fits) in [(1420, 44), (8920, 7), (65_000, 1)] {
            let mut window = Window { bytes: MOST_BYTES, ..Window::new(payload) };
            let mut sent = 0;
            while window.next_departure(trip(MS)) <= 100 * MS {
                window.on_sent(100 * MS, payload as u64, 0, trip(MS));
                sent += 1;
            }
            let tagged = payload + HEADER_BYTES + 16;
            assert_eq!(sent, fits, "{payload}");
            assert!(sent * tagged <= 65_507 && (sent + 1) * tagged > 65_507, "{payload}");
        }
    }

    #[test]
    fn what_exceeds_a_burst_leaves_evenly() {
        let mut window = Window::new(PACKET);
        let (mut now, mut sent) = (0, 0);
        while now < 10 * MS {
            now = now.max(window.next_departure(trip(MS)));
            window.on_sent(now, PAYLOAD, PAYLOAD, trip(MS));
            sent += PACKET as u64;
        }
        // Two windows a round trip while it doubles, and a burst at the beginning.
        let even = 10 * 2 * window.bytes;
        assert!(sent >= even && sent <= even + BURST_BYTES + 2 * PACKET as u64, "{sent} {even}");
    }
}
