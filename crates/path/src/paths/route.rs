//! One path, as this end knows it: serial numbers, signs of life, round trips, packets in flight.

use std::collections::VecDeque;

use super::liveness::Liveness;
use super::replay::Replay;
use super::round_trip::{RoundTrip, RoundTrips};
use crate::congestion::{Flight, MOST_PACKETS};
use crate::wire::Counts;
use crate::{Nanos, PathId};

/// Packets whose time of sending is remembered: all that can be under way, and more.
const REMEMBERED: usize = 2 * MOST_PACKETS;

/// What the driver reports of a path's interface.
pub(crate) struct Link {
    /// Whether the interface can carry packets.
    pub carrier: bool,
    /// Whether the driver takes data for it.
    pub has_room: bool,
    /// Whether packets wait to leave by it at this end.
    pub queued_here: bool,
    /// The same at the peer's end, as far as is known.
    pub queued_there: bool,
}

pub(crate) struct Route {
    id: PathId,
    next_serial: u64,
    /// Serial number and time of packets whose arrival is not known.
    sent: VecDeque<(u64, Nanos)>,
    /// The latest packet that the peer reported.
    reported: Option<u64>,
    arrived: Replay,
    liveness: Liveness,
    trips: RoundTrips,
    /// What the peer is to learn of packets that arrived.
    pub counts: Counts,
    pub flight: Flight,
    pub link: Link,
}

impl Route {
    pub fn new(id: PathId, packet: usize) -> Route {
        Route {
            id,
            next_serial: 0,
            sent: VecDeque::new(),
            reported: None,
            arrived: Replay::default(),
            liveness: Liveness::default(),
            trips: RoundTrips::default(),
            counts: Counts::default(),
            flight: Flight::new(packet),
            link: Link { carrier: true, has_room: true, queued_here: false, queued_there: false },
        }
    }

    pub fn id(&self) -> PathId {
        self.id
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

    /// Records a packet that arrived over this path; false if it is a duplicate.
    pub fn on_arrival(&mut self, now: Nanos, serial: u64) -> bool {
        let fresh = self.arrived.take(serial);
        if fresh {
            self.liveness.on_arrival(now);
        }
        fresh
    }

    /// The serial number of the latest packet that arrived, and when.
    pub fn latest_arrival(&self) -> Option<(u64, Nanos)> {
        self.arrived.latest().zip(self.liveness.arrived_at())
    }

    /// The serial number of the latest packet that the peer reported.
    pub fn reported(&self) -> Option<u64> {
        self.reported
    }

    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// A packet that left by this path is known to have arrived.
    pub fn on_report(&mut self, now: Nanos) {
        self.liveness.on_report(now);
    }

    /// The peer has had this packet for `delay`; the round trip, if it is news.
    pub fn on_echo(&mut self, now: Nanos, serial: u64, delay: Nanos) -> Option<Nanos> {
        if serial >= self.next_serial || self.reported.is_some_and(|known| serial <= known) {
            return None;
        }
        let mut measured = None;
        self.reported = Some(serial);
        self.liveness.on_report(now);
        while let Some(&(number, at)) = self.sent.front() {
            if number > serial {
                break;
            }
            self.sent.pop_front();
            if number == serial {
                self.liveness.on_confirmed(at);
                let trip = (now - at.min(now)).saturating_sub(delay).max(1);
                self.trips.add(now, trip);
                measured = Some(trip);
            }
        }
        measured
    }

    /// The estimated round trip.
    pub fn trip(&self) -> RoundTrip {
        self.trips.estimate()
    }

    pub fn trips(&self) -> &RoundTrips {
        &self.trips
    }

    /// Whether data can leave by this path: the interface works, and the window has room.
    pub fn takes_data(&self) -> bool {
        self.flight.has_room() && self.link.carrier && self.link.has_room
    }
}
