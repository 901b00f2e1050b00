//! What arrives.

use super::{Connection, Event, Why};
use crate::receiving::{Data, Taken};
use crate::wire::{Body, Counts, Echo, Header, Range, read};
use crate::{Nanos, NotReadyTimer, PathId};

impl Connection {
    /// A packet came over a path, at this time or before: when it reached this machine, if its
    /// driver knows that.
    pub fn on_packet(&mut self, now: Nanos, path: PathId, packet: &[u8]) {
        self.take(now, path, packet, false);
    }

    /// The same for a frame of the path's stream.
    pub fn on_frame(&mut self, now: Nanos, path: PathId, frame: &[u8]) {
        self.take(now, path, frame, true);
    }

    fn take(&mut self, now: Nanos, path: PathId, packet: &[u8], framed: bool) {
        let marked = self.marked.take() == Some(path);
        let Some((header, body)) = read(packet) else {
            self.counters.malformed += 1;
            return;
        };
        if header.to != self.number() || header.path != path || header.framed != framed {
            self.counters.strange += 1;
            return;
        }
        if !self.paths.knows(path) || !self.paths.knows(header.primary) {
            self.counters.strange += 1;
            return;
        }
        if !self.state().receives() {
            self.counters.unexpected += 1;
            return;
        }
        // What goes by streams comes by streams alone, and nothing else does.
        let is_data = matches!(body, Body::Data { .. });
        if framed != (self.has_streams && (is_data || body.loads())) {
            self.counters.strange += 1;
            return;
        }
        let is_late = self.sender.is_held_back(header.expects);
        if !self.paths.route(path).on_arrival(now, &header) || is_late {
            self.counters.replayed += 1;
            return;
        }
        if self.queue_pair.establish() {
            self.events.push_back(Event::Established);
        }
        self.counters.received += 1;
        if marked {
            self.count_mark(path);
        }
        let is_news = self.follow(now, header.epoch, header.primary);
        if self.paths.on_peer_diversions(header.diversions) {
            self.divert_with_peer(now, header.primary);
        }
        if self.sender.was_sent_before(header.expects) {
            let (echoes, early) = match &body {
                Body::Ack { echoes, early } => (&echoes[..], &early[..]),
                _ => (&[][..], &[][..]),
            };
            self.on_ack(now, header.expects, echoes, early);
        }
        self.on_body(now, &header, body, is_news);
        self.report_drained();
    }

    /// The packet that comes next over this path was marked on its way, because of congestion. It
    /// counts if the packet does: one that is replayed says nothing of the path.
    pub fn on_mark(&mut self, path: PathId) {
        self.marked = Some(path);
    }

    fn count_mark(&mut self, path: PathId) {
        let counts = &mut self.paths.route(path).counts;
        counts.marked = counts.marked.wrapping_add(1);
        self.receiver.report_marks();
    }

    fn on_body(&mut self, now: Nanos, header: &Header, body: Body<'_>, is_news: bool) {
        let path = header.path;
        match body {
            Body::Data { number, first, last, ack_wanted, bytes } => {
                self.answer_by = Some(path).filter(|path| self.paths.armed() == Some(*path));
                let data = Data { number, first, last, ack_wanted, bytes };
                let taken = self.receiver.on_data(now, data);
                if taken == Taken::Refused {
                    let counts = &mut self.paths.route(path).counts;
                    counts.again = counts.again.wrapping_add(1);
                }
                self.on_taken(taken);
            }
            // It says so until it knows that this end has followed.
            Body::Ack { .. } if is_news => self.receiver.acknowledge_at(now),
            Body::Ack { .. } => {}
            Body::NotReady { timer } => self.on_not_ready(now, timer),
            Body::Probe { .. } => self.on_probe(now, path, header.serial),
            Body::Answer { probe, queued } => {
                self.on_echo(now, &probe);
                if let Some(route) = self.paths.get_mut(probe.path) {
                    route.link.queued_there = queued;
                }
            }
            Body::Arm { bytes } => self.on_arm(now, path, bytes),
            Body::Arming { .. } => self.on_arming(now, path),
        }
    }

    /// A packet of data was taken, or a receive that one waited for was posted.
    pub(super) fn on_taken(&mut self, taken: Taken) {
        while let Some(message) = self.receiver.pop() {
            self.events.push_back(Event::Received { id: message.id, message: message.bytes });
        }
        match taken {
            Taken::InOrder | Taken::Early | Taken::NotReady => {}
            Taken::Refused => self.counters.duplicates += 1,
            Taken::HeldBack => self.counters.replayed += 1,
            Taken::Broken => self.fail(Why::Message),
        }
    }

    /// The peer has everything before `expects`, and some after it.
    fn on_ack(&mut self, now: Nanos, expects: u64, echoes: &[Echo], early: &[Range]) {
        for echo in echoes {
            self.on_echo(now, echo);
        }
        let before = self.sender.last_progress();
        self.sender.on_ack(now, expects, early, self.paths.routes());
        if self.has_streams && self.sender.last_progress() > before {
            self.paths.on_stream_progress(now);
        }
        for echo in echoes {
            let Some(route) = self.paths.get_mut(echo.path) else { continue };
            self.sender.detect_losses(now, route);
        }
        while let Some((id, message)) = self.sender.pop_done() {
            self.events.push_back(Event::Sent { id, message });
        }
    }

    /// The peer reports what has arrived over a path.
    fn on_echo(&mut self, now: Nanos, echo: &Echo) {
        let Some(route) = self.paths.get_mut(echo.path) else { return };
        if let Some(trip) = route.on_echo(now, echo) {
            self.counters.trips.count(trip);
            let estimate = route.trip();
            route.flight.on_counts(now, echo.counts, estimate);
        }
        self.paths.consider_trial(now);
    }

    /// The peer has no receive for the next message.
    fn on_not_ready(&mut self, now: Nanos, timer: u8) {
        let Some(timer) = NotReadyTimer::new(timer) else { return };
        match self.sender.on_not_ready(now, timer, self.paths.routes()) {
            Ok(true) => self.paths.trust(),
            Ok(false) => {}
            Err(why) => self.fail(why),
        }
    }

    /// Answered over the path that is asked about, and over another one.
    fn on_probe(&mut self, now: Nanos, path: PathId, serial: u64) {
        let primary = self.primary();
        let other = if path == primary { self.alternate() } else { Some(primary) };
        for by in [Some(path), other].into_iter().flatten() {
            let probe = Echo { path, serial, delay_us: 0, arrived: 0, counts: Counts::default() };
            self.control.push(now, by, Body::Answer { probe, queued: false });
        }
    }
}
