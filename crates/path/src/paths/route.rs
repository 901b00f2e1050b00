//! One path, as this end knows it: serial numbers, signs of life, round trips, packets in flight.

use std::collections::VecDeque;

use super::liveness::Liveness;
use super::loss::Loss;
use super::replay::Replay;
use super::round_trip::{RoundTrip, RoundTrips};
use super::stream::{Stream, StreamState};
use crate::congestion::{Flight, MOST_PACKETS};
use crate::wire::{Counts, Echo, Header};
use crate::{Nanos, PathId};

/// Packets whose time of sending is remembered: all that can be under way, and more.
const REMEMBERED: usize = 2 * MOST_PACKETS;
/// Probes of full length whose answers are waited for, at most.
const MOST_PROBES: usize = 512;
/// Probes of a trial that follow each other are this far apart, at most.
const TOGETHER: Nanos = 400_000;

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
    /// Serial number and time of probes of full length whose arrival is not known.
    probes: VecDeque<(u64, Nanos)>,
    /// The latest packet that the peer reported.
    reported: Option<u64>,
    arrived: Replay,
    liveness: Liveness,
    trips: RoundTrips,
    /// What the peer is to learn of packets that arrived.
    pub counts: Counts,
    loss: Loss,
    pub flight: Flight,
    pub link: Link,
    /// Where data goes by a stream.
    pub stream: Option<Stream>,
}

impl Route {
    pub fn new(id: PathId, packet: usize) -> Route {
        Route {
            id,
            next_serial: 0,
            sent: VecDeque::new(),
            probes: VecDeque::new(),
            reported: None,
            arrived: Replay::default(),
            liveness: Liveness::default(),
            trips: RoundTrips::default(),
            counts: Counts::default(),
            loss: Loss::default(),
            flight: Flight::new(packet),
            link: Link { carrier: true, has_room: true, queued_here: false, queued_there: false },
            stream: None,
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

    /// A packet that leaves is a probe of full length.
    pub fn on_probed(&mut self, now: Nanos, serial: u64) {
        if self.probes.len() == MOST_PROBES {
            self.probes.pop_front();
        }
        self.probes.push_back((serial, now));
    }

    /// How often probes of full length that left since this time are not known to have arrived;
    /// those that follow each other at once are one.
    pub fn probes_lost_since(&self, since: Nanos) -> u64 {
        let lost = self.probes.iter().map(|(_, at)| *at).filter(|at| *at >= since);
        let mut before = None;
        let begins = |at: &Nanos| before.replace(*at).is_none_or(|before| *at > before + TOGETHER);
        lost.filter(begins).count() as u64
    }

    /// Records a packet that arrived over this path; false if it is a duplicate.
    pub fn on_arrival(&mut self, now: Nanos, header: &Header) -> bool {
        let serial = header.serial;
        if let Some(stream) = self.stream.as_mut().filter(|_| header.framed) {
            return stream.on_arrival(serial);
        }
        let fresh = self.arrived.take(serial);
        if fresh {
            self.liveness.on_arrival(now);
        }
        fresh
    }

    /// The latest packet that arrived, and its age.
    pub fn echo(&self, now: Nanos) -> Option<Echo> {
        let (serial, at) = self.arrived.latest().zip(self.liveness.arrived_at())?;
        let delay_us = micros(now.saturating_sub(at));
        let (arrived, counts) = (self.arrived.count(), self.counts);
        Some(Echo { path: self.id, serial, delay_us, arrived, counts })
    }

    /// The number of packets that have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived.count()
    }

    /// The serial number of the latest packet that the peer reported.
    pub fn reported(&self) -> Option<u64> {
        self.reported
    }

    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// Takes what another connection has seen of this path.
    pub fn take_word(&mut self, life: &Liveness) {
        self.liveness.take_word(life);
    }

    /// A packet that left by this path is known to have arrived.
    pub fn on_report(&mut self, now: Nanos) {
        self.liveness.on_report(now);
    }

    /// What the peer reports of this path; the round trip, if it is news.
    pub fn on_echo(&mut self, now: Nanos, echo: &Echo) -> Option<Nanos> {
        let (serial, delay) = (echo.serial, Nanos::from(echo.delay_us) * 1000);
        if let Some(place) = self.probes.iter().position(|probe| probe.0 == serial)
            && let Some((_, sent_at)) = self.probes.remove(place)
        {
            self.liveness.on_carried(now, sent_at);
        }
        if serial >= self.next_serial || self.reported.is_some_and(|known| serial <= known) {
            return None;
        }
        let mut measured = None;
        self.reported = Some(serial);
        self.liveness.on_report(now);
        if self.stream.is_none() {
            self.loss.on_report(now, echo, self.trips.estimate());
        }
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

    /// What the kernel says of the stream: when it last made progress.
    pub fn on_stream_state(&mut self, now: Nanos, state: &StreamState) -> Option<Nanos> {
        let stream = self.stream.as_mut()?;
        stream.on_state(now, state);
        let StreamState { segments, retransmitted, .. } = *state;
        self.loss.on_segments(now, segments, retransmitted, self.trips.estimate());
        Some(stream.progress_at())
    }

    /// The packets that this path loses towards the peer.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// Begins to count anew.
    pub fn forget_loss(&mut self) {
        self.loss = Loss::default();
    }

    /// The estimated round trip.
    pub fn trip(&self) -> RoundTrip {
        self.trips.estimate()
    }

    pub fn trips(&self) -> &RoundTrips {
        &self.trips
    }

    /// Whether data can leave by this path: the interface works, and the window has room, or the
    /// stream.
    pub fn takes_data(&self) -> bool {
        let takes = self.stream.as_ref().map_or_else(|| self.flight.has_room(), Stream::is_open);
        takes && self.link.carrier && self.link.has_room
    }

    /// When the next packet of data may leave: a stream paces what it carries itself.
    pub fn next_departure(&self) -> Nanos {
        if self.stream.is_some() { 0 } else { self.flight.next_departure(self.trip()) }
    }

    /// Whether the stream can carry data; true where none is needed.
    pub fn has_stream(&self) -> bool {
        self.stream.as_ref().is_none_or(Stream::is_open)
    }
}

/// A time as packets encode it.
pub(crate) fn micros(time: Nanos) -> u32 {
    u32::try_from(time / 1000).unwrap_or(u32::MAX)
}
