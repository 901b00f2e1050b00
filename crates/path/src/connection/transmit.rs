//! Transmission: probes and their answers first, then acknowledgements, then data.

use super::Connection;
use super::control::Control;
use crate::paths::{Route, micros};
use crate::sending::Payload;
use crate::state::QpState;
use crate::wire::{Body, Header, write};
use crate::{Nanos, PathId};

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departure {
    /// The path to send it over.
    pub path: PathId,
    /// Its part of a message.
    pub payload: Option<Payload>,
    /// Whether it is a frame of the path's stream, and not a datagram.
    pub framed: bool,
}

impl From<PathId> for Departure {
    fn from(path: PathId) -> Departure {
        Departure { path, payload: None, framed: false }
    }
}

impl Connection {
    /// Writes the next due packet behind what is in `out` and returns its path; `None` if no packet
    /// is due.
    pub fn poll_transmit(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<PathId> {
        let Departure { path, payload, .. } = self.poll_departure(now, out)?;
        out.extend_from_slice(payload.as_ref().map_or(&[], |payload| self.payload(payload)));
        Some(path)
    }

    /// The bytes of a packet that has just left, until anything else is handed in.
    pub fn payload(&self, payload: &Payload) -> &[u8] {
        self.sender.payload(payload)
    }

    /// As [`Connection::poll_transmit`], without copying the part of a message that the packet
    /// carries: it belongs behind what was written.
    pub fn poll_departure(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<Departure> {
        if !self.state().receives() {
            return None;
        }
        while let Some(control) = self.control.pop() {
            let framed = self.has_streams && control.body.loads();
            let is_carried = self.paths.get(control.path).is_some_and(Route::has_stream);
            if !framed || is_carried {
                let path = self.write_control(now, control, framed, out);
                return Some(Departure { framed, ..path.into() });
            }
        }
        if let Some(timer) = self.receiver.take_not_ready() {
            let body = Body::NotReady { timer: timer.code() };
            return Some(self.write(now, self.answers_by(), &body, out).into());
        }
        let acknowledges = self.receiver.ack_at().is_some_and(|at| at <= now);
        if acknowledges || self.paths.resend_epoch(now) {
            return Some(self.write_ack(now, out).into());
        }
        self.write_data(now, out)
    }

    fn header(&mut self, now: Nanos, path: PathId, framed: bool) -> Header {
        let (to, epoch, primary) = (self.peer(), self.epoch(), self.primary());
        let expects = self.receiver.expects();
        let route = self.paths.route(path);
        let serial = match &mut route.stream {
            Some(stream) if framed => stream.next_serial(),
            _ => route.next_serial(now),
        };
        let diversions = self.paths.diversions();
        Header { path, framed, to, serial, epoch, primary, diversions, expects }
    }

    fn write(&mut self, now: Nanos, path: PathId, body: &Body<'_>, out: &mut Vec<u8>) -> PathId {
        let header = self.header(now, path, false);
        write(&header, body, out);
        self.counters.sent += 1;
        path
    }

    fn write_control(
        &mut self,
        now: Nanos,
        Control { path, body, since }: Control,
        framed: bool,
        out: &mut Vec<u8>,
    ) -> PathId {
        let header = self.header(now, path, framed);
        let body = match body {
            Body::Probe { bytes } => {
                if bytes > 0 {
                    self.paths.route(path).on_probed(now, header.serial);
                }
                body
            }
            Body::Answer { mut probe, .. } => {
                let route = self.paths.route(probe.path);
                probe.delay_us = micros(now - since.min(now));
                (probe.arrived, probe.counts) = (route.arrived(), route.counts);
                Body::Answer { probe, queued: route.link.queued_here }
            }
            other => other,
        };
        write(&header, &body, out);
        self.counters.sent += 1;
        path
    }

    fn write_ack(&mut self, now: Nanos, out: &mut Vec<u8>) -> PathId {
        self.receiver.on_ack_sent();
        let echoes = self.paths.iter().filter_map(|route| route.echo(now)).collect();
        let body = Body::Ack { echoes, early: self.receiver.early() };
        self.write(now, self.answers_by(), &body, out)
    }

    /// The path that acknowledgements leave by: that of data, or where the peer's data came.
    fn answers_by(&self) -> PathId {
        let there = self.answer_by.filter(|path| self.paths.armed() == Some(*path));
        there.unwrap_or(self.paths.in_use())
    }

    /// Whether new packets may begin, besides those that are sent again.
    fn begins(&self) -> Option<bool> {
        match self.state() {
            QpState::Rts => Some(true),
            QpState::Sqd => Some(false),
            _ => None,
        }
    }

    /// When data may leave, if there is any and the window has room.
    pub(super) fn data_due_at(&self) -> Option<Nanos> {
        self.sender.data_due_at(self.paths.get(self.paths.in_use())?, self.begins()?)
    }

    fn write_data(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<Departure> {
        if self.data_due_at()? > now {
            return None;
        }
        let next = self.sender.next_to_send(self.begins()?)?;
        let path = self.paths.in_use();
        let header = self.header(now, path, self.has_streams);
        let route = self.paths.route(path);
        let (part, ack_wanted) = self.sender.on_sent(now, next, route, header.serial);
        self.counters.sent += 1;
        self.counters.sent_again += u64::from(next.is_resent);
        let body = Body::Data {
            number: part.number,
            first: part.first,
            last: part.last,
            ack_wanted,
            bytes: &[],
        };
        write(&header, &body, out);
        self.receiver.on_data_sent();
        Some(Departure { path, payload: Some(part.payload), framed: self.has_streams })
    }
}
