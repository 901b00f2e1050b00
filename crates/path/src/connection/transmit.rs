//! Transmission: probes and their answers first, then acknowledgements, then data.

use super::{Connection, Control};
use crate::number::wire;
use crate::outgoing::Payload;
use crate::state::QpState;
use crate::wire::{Body, Echo, HEADER_BYTES, Header, write};
use crate::{Nanos, PathId};

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departure {
    /// The path to send it over.
    pub path: PathId,
    /// Its part of a message.
    pub payload: Option<Payload>,
}

/// A time as packets encode it.
fn micros(time: Nanos) -> u32 {
    u32::try_from(time / 1000).unwrap_or(u32::MAX)
}

impl From<PathId> for Departure {
    fn from(path: PathId) -> Departure {
        Departure { path, payload: None }
    }
}

impl Connection {
    /// Writes the next due packet behind what is in `out` and returns its path; `None` if no packet
    /// is due.
    pub fn poll_transmit(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<PathId> {
        let Departure { path, payload } = self.poll_departure(now, out)?;
        out.extend_from_slice(payload.as_ref().map_or(&[], |payload| self.payload(payload)));
        Some(path)
    }

    /// The bytes of a packet that has just left, until anything else is handed in.
    pub fn payload(&self, payload: &Payload) -> &[u8] {
        self.outgoing.payload(payload)
    }

    /// As [`Connection::poll_transmit`], without copying the part of a message that the packet
    /// carries: it belongs behind what was written.
    pub fn poll_departure(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<Departure> {
        if !self.state.receives() {
            return None;
        }
        if let Some(control) = self.control.pop_front() {
            return Some(self.write_control(now, control, out).into());
        }
        if std::mem::take(&mut self.not_ready_due) {
            let body = Body::NotReady { timer: self.not_ready_timer.code() };
            return Some(self.write(now, self.primary, &body, out).into());
        }
        if self.ack_at.is_some_and(|at| at <= now) || self.resend_epoch(now) {
            return Some(self.write_ack(now, out).into());
        }
        self.write_data(now, out)
    }

    fn header(&mut self, now: Nanos, path: PathId) -> Header {
        let expects = wire(self.incoming.expects());
        let (to, epoch, primary) = (self.peer, self.epoch, self.primary);
        let serial = self.route(path).next_serial(now);
        Header { path, to, serial, epoch, primary, expects }
    }

    fn write(&mut self, now: Nanos, path: PathId, body: &Body<'_>, out: &mut Vec<u8>) -> PathId {
        let header = self.header(now, path);
        write(&header, body, out);
        self.counters.sent += 1;
        path
    }

    fn write_control(
        &mut self,
        now: Nanos,
        Control { path, body, since }: Control,
        out: &mut Vec<u8>,
    ) -> PathId {
        let header = self.header(now, path);
        let body = match body {
            // A question is named after its own packet.
            Body::Probe { .. } => Body::Probe { id: header.serial as u32 },
            Body::Answer { path, id, .. } => {
                let queued = self.route(path).queued_here;
                Body::Answer { path, id, delay_us: micros(now - since.min(now)), queued }
            }
            other => other,
        };
        write(&header, &body, out);
        self.counters.sent += 1;
        path
    }

    fn write_ack(&mut self, now: Nanos, out: &mut Vec<u8>) -> PathId {
        (self.ack_at, self.unacknowledged) = (None, 0);
        let echo = |(number, route): (usize, &crate::route::Route)| {
            let (serial, at) = route.latest_arrival()?;
            let delay_us = micros(now - at.min(now));
            Some(Echo { path: PathId(number as u8), serial, delay_us })
        };
        let echoes = self.routes.iter().enumerate().filter_map(echo).collect();
        let body = Body::Ack { echoes, early: self.incoming.early() };
        self.write(now, self.primary, &body, out)
    }

    /// Whether new packets may begin, besides those that are sent again.
    fn begins(&self) -> Option<bool> {
        match self.state {
            QpState::Rts => Some(true),
            QpState::Sqd => Some(false),
            _ => None,
        }
    }

    /// When data may leave, if there is any and the window has room.
    pub(super) fn data_due_at(&self) -> Option<Nanos> {
        let fresh = self.begins().filter(|_| self.not_ready_until.is_none())?;
        let route = self.primary_route();
        let room = route.in_flight == 0 || route.in_flight < route.window.bytes();
        let wants = room && route.carrier && route.has_room && self.outgoing.wants_to_send(fresh);
        wants.then(|| route.window.next_departure(route.trip().smoothed))
    }

    fn write_data(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<Departure> {
        if self.data_due_at()? > now {
            return None;
        }
        let fresh = self.begins()?;
        let number = self.outgoing.next_to_send(self.packet_bytes, fresh)?;
        let again = self.outgoing.was_sent(number);
        let len = self.outgoing.len(number) as u64;
        let path = self.primary;
        let header = self.header(now, path);
        let route = &mut self.routes[usize::from(path.0)];
        route.in_flight += len;
        let trip = route.trip().smoothed;
        let full = route.in_flight + 2 * len >= route.window.bytes();
        route.window.on_sent(now, len + HEADER_BYTES as u64, trip);
        self.counters.sent += 1;
        self.counters.sent_again += u64::from(again);
        let part = self.outgoing.on_sent(number, path, header.serial, now);
        let body = Body::Data {
            number: wire(part.number),
            first: part.first,
            last: part.last,
            ack_wanted: full || again,
            bytes: &[],
        };
        write(&header, &body, out);
        // It says what arrived, too; only what came early needs more words.
        if !self.incoming.has_early() {
            (self.ack_at, self.unacknowledged) = (None, 0);
        }
        Some(Departure { path, payload: Some(part.payload) })
    }
}
