//! What one end knows of a path: what it sent there, what arrived, what round trips take.

use std::collections::VecDeque;

use crate::Nanos;
use crate::congestion::{MOST_PACKETS, RoundTrip, Window};
use crate::replay::Replay;

/// Before the first round trip was seen.
const FIRST_TRIP: Nanos = 1_000_000;
/// Packets whose time of sending is remembered: all that can be under way, and more.
const REMEMBERED: usize = 2 * MOST_PACKETS;
/// For so long the longest round trip is remembered, at least.
const RECENT: Nanos = 200_000_000;

pub(crate) struct Route {
    next_serial: u64,
    /// Serial number and time of packets whose arrival is not known.
    sent: VecDeque<(u64, Nanos)>,
    arrived: Replay,
    /// When a packet came over this path.
    arrived_at: Option<Nanos>,
    /// When a packet left that is known to have arrived, and when that was heard of last.
    heard_sent_at: Option<Nanos>,
    heard_at: Option<Nanos>,
    trip: Option<RoundTrip>,
    /// The longest round trip of this stretch of time and of the one before.
    longest: [Nanos; 2],
    stretch_ends: Nanos,
    /// The latest packet that the peer said it has.
    pub heard_of: Option<u64>,
    pub window: Window,
    /// Bytes sent here that neither arrived nor are lost.
    pub in_flight: u64,
    /// What the interface says of itself.
    pub carrier: bool,
    /// Whether the driver takes data for it.
    pub has_room: bool,
    /// Whether packets wait to leave by it, at this end and at the peer's, as far as is known.
    pub queued_here: bool,
    pub queued_there: bool,
}

impl Route {
    pub fn new(packet: usize) -> Route {
        Route {
            next_serial: 0,
            sent: VecDeque::new(),
            arrived: Replay::default(),
            arrived_at: None,
            heard_sent_at: None,
            heard_at: None,
            trip: None,
            longest: [0; 2],
            stretch_ends: 0,
            heard_of: None,
            window: Window::new(packet),
            in_flight: 0,
            carrier: true,
            has_room: true,
            queued_here: false,
            queued_there: false,
        }
    }

    /// The serial number of a packet that leaves.
    pub fn next_serial(&mut self, now: Nanos) -> u64 {
        let serial = self.next_serial;
        self.next_serial += 1;
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((serial, now));
        serial
    }

    /// Takes note of a packet that came over this path; false where it came before.
    pub fn on_arrival(&mut self, now: Nanos, serial: u64) -> bool {
        let fresh = self.arrived.take(serial);
        if fresh {
            self.arrived_at = Some(now);
        }
        fresh
    }

    /// When the latest packet came, with its serial number.
    pub fn latest_arrival(&self) -> Option<(u64, Nanos)> {
        self.arrived.latest().zip(self.arrived_at)
    }

    /// Whether packets went through in both directions since then.
    pub fn is_alive_since(&self, then: Nanos) -> bool {
        self.arrived_at >= Some(then) && self.heard_sent_at >= Some(then)
    }

    /// When the last news came over this path of a packet that had left by it; it says nothing of
    /// packets that left later.
    pub fn last_sign_of_life(&self) -> Option<Nanos> {
        self.arrived_at.min(self.heard_at)
    }

    /// A packet that left by this path is known to have arrived.
    pub fn record_sign_of_life(&mut self, now: Nanos) {
        self.heard_at = Some(now);
    }

    /// The serial number whose lower 32 bits these are, nearest to the last that left.
    pub fn extend(&self, id: u32) -> u64 {
        let behind = (self.next_serial as u32).wrapping_sub(id);
        self.next_serial.saturating_sub(u64::from(behind))
    }

    /// The peer has had this packet for `delay`; the round trip, if it is news.
    pub fn on_echo(&mut self, now: Nanos, serial: u64, delay: Nanos) -> Option<Nanos> {
        if serial >= self.next_serial || self.heard_of.is_some_and(|known| serial <= known) {
            return None;
        }
        let mut seen = None;
        self.heard_of = Some(serial);
        self.record_sign_of_life(now);
        while let Some(&(number, at)) = self.sent.front() {
            if number > serial {
                break;
            }
            self.sent.pop_front();
            if number == serial {
                self.heard_sent_at = Some(at);
                let trip = (now - at.min(now)).saturating_sub(delay).max(1);
                self.on_trip(now, trip);
                seen = Some(trip);
            }
        }
        seen
    }

    fn on_trip(&mut self, now: Nanos, last: Nanos) {
        self.trip = Some(match self.trip {
            None => RoundTrip { last, smoothed: last, least: last },
            Some(trip) => RoundTrip {
                last,
                smoothed: (7 * trip.smoothed + last) / 8,
                least: trip.least.min(last),
            },
        });
        if now >= self.stretch_ends {
            self.longest = [0, self.longest[0]];
            self.stretch_ends = now + RECENT;
        }
        self.longest[0] = self.longest[0].max(last);
    }

    pub fn trip(&self) -> RoundTrip {
        let first = RoundTrip { last: FIRST_TRIP, smoothed: FIRST_TRIP, least: FIRST_TRIP };
        self.trip.unwrap_or(first)
    }

    /// None before the first round trip was seen.
    pub fn smoothed_trip(&self) -> Option<Nanos> {
        self.trip.map(|trip| trip.smoothed)
    }

    /// The longest round trip of late; a packet that takes longer may be lost, or wait in a queue
    /// that has just grown.
    pub fn longest_trip(&self) -> Nanos {
        let seen = self.longest[0].max(self.longest[1]);
        if self.trip.is_none() { FIRST_TRIP } else { seen }
    }
}
