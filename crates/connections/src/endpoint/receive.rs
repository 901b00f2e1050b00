//! What arrives.

use std::net::SocketAddr;

use laneway_path::wire::{HEADER_BYTES, begins_message};
use laneway_path::{Nanos, PathId};

use super::handshakes::is_handshake;
use super::lines::{LineId, Readable, is_listener, is_stream};
use super::{ConnectionId, Endpoint, What};
use crate::driver::notice::CLOSE;
use crate::system::clock::age;
use crate::system::socket::Arrival;

/// Calls to the system for one path before others have their turn.
const TURNS: usize = 16;
/// The same, before timers are looked at.
const CATCH_UP: usize = 1024;
/// The number of bytes in one call that is a sign of more.
const MUCH: usize = 8 << 10;

/// What the system says of a packet.
#[derive(Clone, Copy)]
struct Seen {
    /// When it reached this machine.
    at: Nanos,
    /// Whether it was marked on its way, because of congestion.
    marked: bool,
}

impl Endpoint {
    /// Takes what has arrived; false where nothing has.
    pub(super) fn receive(&mut self, now: Nanos) -> bool {
        match self.lines.likely(now) {
            Some(line) => self.receive_over(line, now),
            None => self.look(now),
        }
    }

    /// Receives what has arrived over every path that the system reports as readable.
    pub(super) fn look(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for number in 0..self.lines.poll() {
            match self.lines.readable(number) {
                Some(Readable::Devices) => {
                    let changes = self.health.on_event();
                    self.on_carriers(&changes);
                }
                Some(Readable::Line(line)) if is_listener(line) => {
                    self.lines.streams.accept(now, line.path);
                }
                Some(Readable::Line(line)) => any |= self.receive_over(line, now),
                None => {}
            }
        }
        if let Some(line) = self.lines.apart() {
            any |= self.receive_over(line, now);
        }
        any
    }

    /// A thread serves it from now on.
    pub(crate) fn served_by_a_thread(&mut self) {
        self.lines.served_by_a_thread();
    }

    /// Takes all that has arrived over every path, or so much that the rest may wait.
    pub(super) fn catch_up(&mut self, now: Nanos) {
        let mut turns = 0..CATCH_UP;
        while turns.next().is_some() && self.look(now) {}
    }

    pub(super) fn receive_over(&mut self, by: LineId, now: Nanos) -> bool {
        if is_stream(by) {
            let Some(stream) = self.lines.streams.at(by) else {
                self.lines.forget(by);
                return false;
            };
            return self.receive_frames(by, stream, now);
        }
        let mut buffer = self.lines.take_buffer();
        let mut any = false;
        for _ in 0..TURNS {
            let Some(arrival) = self.lines.receive(by, &mut buffer) else { break };
            any = true;
            self.on_arrival(now, by.path, &arrival, &mut buffer[..arrival.bytes]);
            if arrival.bytes < MUCH {
                break;
            }
        }
        self.lines.put_buffer(buffer);
        any
    }

    /// Takes what arrived in one call.
    pub(super) fn on_arrival(
        &mut self,
        now: Nanos,
        path: usize,
        arrival: &Arrival,
        all: &mut [u8],
    ) {
        self.dropped.strange += u64::from(all.is_empty());
        let at = now.saturating_sub(arrival.at.map_or(0, age));
        for packet in all.chunks_mut(arrival.segment) {
            let seen = Seen { at, marked: arrival.marked };
            self.on_datagram(now, seen, path, arrival.from, packet);
        }
    }

    fn on_datagram(
        &mut self,
        now: Nanos,
        seen: Seen,
        path: usize,
        from: SocketAddr,
        packet: &mut [u8],
    ) {
        if is_handshake(packet) {
            return self.on_handshake(now, path, from, packet);
        }
        let Some(number) = packet.get(4..8).and_then(|number| number.first_chunk()) else {
            self.dropped.strange += 1;
            return;
        };
        let number = u32::from_be_bytes(*number);
        let Some(end) = self.connections.get_mut(number) else {
            self.dropped.strange += 1;
            return;
        };
        if end.peers.get(path).is_none_or(|peer| peer.address != from) {
            self.dropped.misplaced += 1;
            return;
        }
        let Some(body) = end.opens.open(packet) else {
            self.dropped.forged += 1;
            return;
        };
        if body.first() == Some(&CLOSE) && body.len() < HEADER_BYTES {
            self.notices.push(ConnectionId(number), What::Closed);
            return self.release(number);
        }
        let path = PathId(path as u8);
        if seen.marked {
            end.connection.on_mark(path);
        }
        self.pool.before(end, begins_message(body));
        end.connection.on_packet(seen.at, path, body);
        self.pool.after(end);
        self.connections.mark(number);
    }
}
