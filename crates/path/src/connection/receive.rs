//! What arrives.

use super::{Connection, Event, Why};
use crate::incoming::Taken;
use crate::number::extend;
use crate::state::QpState;
use crate::wire::{Body, Echo, Range, read};
use crate::{Nanos, NotReadyTimer, PathId};

/// An acknowledgement waits so long for a packet that it could travel with.
const ACK_WAITS: Nanos = 100_000;
/// The number of packets that trigger an acknowledgement at once.
const ACK_AFTER: u32 = 16;
/// How many packets that left a path later must have arrived for one to be lost.
const REORDERED: u64 = 3;

impl Connection {
    /// A packet came over a path, at this time or before: when it reached this machine, if its
    /// driver knows that.
    pub fn on_packet(&mut self, now: Nanos, path: PathId, packet: &[u8]) {
        let Some((header, body)) = read(packet) else {
            self.counters.malformed += 1;
            return;
        };
        if header.to != self.number || header.path != path {
            self.counters.strange += 1;
            return;
        }
        let paths = self.routes.len();
        if usize::from(path.0) >= paths || usize::from(header.primary.0) >= paths {
            self.counters.strange += 1;
            return;
        }
        if !self.state.receives() {
            self.counters.unexpected += 1;
            return;
        }
        if !self.route(path).on_arrival(now, header.serial) {
            self.counters.replayed += 1;
            return;
        }
        if !self.established {
            self.established = true;
            if self.state == QpState::Rtr {
                self.events.push_back(Event::Established);
            }
        }
        self.counters.received += 1;
        let is_news = self.follow(now, header.epoch, header.primary);
        let expects = extend(self.outgoing.base(), header.expects);
        if expects <= self.outgoing.next() {
            let (echoes, early) = match &body {
                Body::Ack { echoes, early } => (&echoes[..], &early[..]),
                _ => (&[][..], &[][..]),
            };
            self.on_ack(now, expects, echoes, early);
        }
        match body {
            Body::Data { number, first, last, ack_wanted, bytes } => {
                let number = extend(self.incoming.expects(), number);
                let taken = self.incoming.on_data(number, first, last, bytes);
                self.on_taken(now, taken, ack_wanted);
            }
            // It says so until it knows that this end has followed.
            Body::Ack { .. } if is_news => self.ack_at = Some(now),
            Body::Ack { .. } => {}
            Body::NotReady { timer } => self.on_not_ready(now, timer),
            Body::Probe { id } => self.on_probe(now, path, id),
            Body::Answer { path: asked, id, delay_us, queued } => {
                if let Some(route) = self.routes.get_mut(usize::from(asked.0)) {
                    let serial = route.extend(id);
                    let trip = route.on_echo(now, serial, Nanos::from(delay_us) * 1000);
                    route.queued_there = queued;
                    trip.into_iter().for_each(|trip| self.counters.trips.count(trip));
                }
            }
            Body::Arm { bytes } => self.on_arm(now, path, bytes),
            Body::Arming { .. } => self.on_arming(now, path),
        }
        self.report_drained();
    }

    pub(super) fn on_taken(&mut self, now: Nanos, taken: Taken, ack_wanted: bool) {
        while let Some(message) = self.incoming.pop() {
            self.events.push_back(Event::Received { id: message.id, message: message.bytes });
        }
        self.unacknowledged += 1;
        let at_once = ack_wanted || taken != Taken::InOrder || self.unacknowledged >= ACK_AFTER;
        let at = if at_once { now } else { now + ACK_WAITS };
        self.ack_at = Some(self.ack_at.map_or(at, |before| before.min(at)));
        match taken {
            Taken::InOrder | Taken::Early => {}
            Taken::Refused => self.counters.duplicates += 1,
            Taken::NotReady => self.not_ready_due = true,
            Taken::Broken => self.fail(Why::Message),
        }
    }

    /// The peer has everything before `expects`, and some after it.
    fn on_ack(&mut self, now: Nanos, expects: u64, echoes: &[Echo], early: &[Range]) {
        let paths = self.routes.len();
        let known = || echoes.iter().filter(|echo| usize::from(echo.path.0) < paths);
        for echo in known() {
            let delay = Nanos::from(echo.delay_us) * 1000;
            let trip = self.route(echo.path).on_echo(now, echo.serial, delay);
            trip.into_iter().for_each(|trip| self.counters.trips.count(trip));
        }
        let ranges = early.iter().map(|range| {
            let start = expects + u64::from(range.after);
            start..start + u64::from(range.count)
        });
        let (before, routes, mut settled) = (self.outgoing.base(), &mut self.routes, 0);
        self.outgoing.on_ack(expects, ranges, |path, bytes| {
            let route = &mut routes[usize::from(path.0)];
            route.in_flight = route.in_flight.saturating_sub(bytes);
            route.record_sign_of_life(now);
            let trip = route.trip();
            route.window.on_ack(bytes, trip);
            settled += 1;
        });
        if settled > 0 {
            self.waiting_since = self.waiting_since.max(now);
            self.retries_left = self.retries.count();
        }
        if self.outgoing.base() > before {
            self.not_ready_until = None;
            self.waiting_since = now;
            self.not_ready_left = self.not_ready_retries.count();
        }
        for echo in known() {
            if let Some(limit) = echo.serial.checked_sub(REORDERED) {
                self.lose_up_to(now, echo.path, limit);
            }
        }
        while let Some((id, message)) = self.outgoing.pop_done() {
            self.events.push_back(Event::Sent { id, message });
        }
    }

    /// Packets that left a path up to this one and have not arrived are lost.
    pub(super) fn lose_up_to(&mut self, now: Nanos, path: PathId, serial: u64) {
        let route = &mut self.routes[usize::from(path.0)];
        let trip = route.trip().smoothed;
        self.outgoing.lose_up_to(path, serial, |bytes| {
            route.in_flight = route.in_flight.saturating_sub(bytes);
            route.window.on_loss(now, trip);
        });
    }

    /// The oldest packet under way is lost: the path that it had left.
    pub(super) fn lose_oldest(&mut self) -> Option<PathId> {
        let (path, bytes) = self.outgoing.lose_oldest()?;
        let route = self.route(path);
        route.in_flight = route.in_flight.saturating_sub(bytes);
        Some(path)
    }

    /// The peer has no receive for the next message.
    fn on_not_ready(&mut self, now: Nanos, timer: u8) {
        let waiting = self.not_ready_until.is_some();
        let Some(timer) = NotReadyTimer::new(timer).filter(|_| !waiting) else { return };
        if !self.outgoing.has_outstanding() {
            return;
        }
        if !self.not_ready_retries.has_no_end() {
            if self.not_ready_left == 0 {
                return self.fail(Why::NotReadyRetries);
            }
            self.not_ready_left -= 1;
        }
        self.lose_oldest();
        self.not_ready_until = Some(now + timer.nanos());
        self.waiting_since = now + timer.nanos();
        self.suspicion = None;
        self.retries_left = self.retries.count();
    }

    /// Answered over the path that is asked about, and over another one.
    fn on_probe(&mut self, now: Nanos, path: PathId, id: u32) {
        let other = if path == self.primary { self.alternate } else { Some(self.primary) };
        for by in [Some(path), other].into_iter().flatten() {
            let answer = Body::Answer { path, id, delay_us: 0, queued: false };
            self.push_control(now, by, answer);
        }
    }
}
