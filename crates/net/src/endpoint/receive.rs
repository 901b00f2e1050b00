//! What arrives.

use std::net::SocketAddr;

use laneway_path::wire::HEADER_BYTES;
use laneway_path::{Nanos, PathId};

use super::{ALARM, ConnectionId, DEVICES, Endpoint, Notice, What, mark, place};
use crate::clock::age;
use crate::handshake::is_handshake;
use crate::wire::line_of;

/// Calls to the system for one path before others have their turn.
const TURNS: usize = 16;
/// The same, before timers are looked at.
const CATCH_UP: usize = 1024;
/// The number of bytes in one call that is a sign of more.
const MUCH: usize = 8 << 10;
/// Paths over which nothing came last are looked at this rarely.
const RARELY: u32 = 8;

/// A socket by which so much came in a row is watched apart from the others.
const STEADY: u32 = 64;

/// The first byte of the packet that closes a connection; its number follows, then a tag.
pub(crate) const CLOSE: u8 = 0x45;

impl Endpoint {
    /// Takes what has arrived; false where nothing has.
    pub(super) fn receive(&mut self, now: Nanos) -> bool {
        self.looks = self.looks.wrapping_add(1);
        match self.looks.is_multiple_of(RARELY) {
            true => self.look(now),
            false => self.receive_over(self.hot, now),
        }
    }

    /// Receives what has arrived over every path that the system reports as readable.
    pub(super) fn look(&mut self, now: Nanos) -> bool {
        self.readiness.look(&mut self.ready);
        let mut any = false;
        for number in 0..self.ready.len() {
            match self.ready.readable(number) {
                Some(DEVICES) => self.on_device_event(),
                Some(ALARM) => self.alarm.silence(),
                Some(key) => any |= self.receive_over(line_of(key), now),
                None => {}
            }
        }
        if self.hot_is_apart {
            any |= self.receive_over(self.hot, now);
        }
        any
    }

    /// Something came by this socket.
    fn note_arrival(&mut self, by: (usize, usize)) {
        if self.hot != by {
            self.rejoin();
            (self.hot, self.in_a_row) = (by, 0);
        } else if !self.hot_is_apart && !self.is_served {
            self.in_a_row += 1;
            if self.in_a_row >= STEADY {
                self.wires[by.0].keep_apart(by.1);
                self.hot_is_apart = true;
            }
        }
    }

    /// The socket that was watched apart is one of all again.
    fn rejoin(&mut self) {
        if self.hot_is_apart {
            self.readiness.rejoin();
            (self.hot_is_apart, self.in_a_row) = (false, 0);
        }
    }

    /// A thread serves it from now on: it waits for what it saw last, and would not know that
    /// another socket is watched apart.
    pub(crate) fn served_by_a_thread(&mut self) {
        self.is_served = true;
        self.rejoin();
    }

    /// Takes all that has arrived over every path, or so much that the rest may wait.
    pub(super) fn catch_up(&mut self, now: Nanos) {
        let mut turns = 0..CATCH_UP;
        while turns.next().is_some() && self.look(now) {}
    }

    fn receive_over(&mut self, (path, line): (usize, usize), now: Nanos) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut any = false;
        for _ in 0..TURNS {
            let socket = self.wires[path].socket(line);
            let Some(arrival) = socket.and_then(|socket| socket.receive(&mut buffer)) else {
                break;
            };
            any = true;
            self.note_arrival((path, line));
            self.wires[path].received.add(arrival.bytes, arrival.segment);
            self.dropped.strange += u64::from(arrival.bytes == 0);
            let at = now.saturating_sub(arrival.at.map_or(0, age));
            for packet in buffer[..arrival.bytes].chunks(arrival.segment) {
                self.on_datagram(now, at, path, arrival.from, packet);
            }
            if arrival.bytes < MUCH {
                break;
            }
        }
        self.buffer = buffer;
        any
    }

    fn on_datagram(&mut self, now: Nanos, at: Nanos, path: usize, from: SocketAddr, packet: &[u8]) {
        if is_handshake(packet) {
            return self.on_handshake(now, path, from, packet);
        }
        let Some(number) = packet.get(4..8).and_then(|number| number.first_chunk()) else {
            self.dropped.strange += 1;
            return;
        };
        let number = u32::from_be_bytes(*number);
        let end = self.ends.get_mut(place(number)).and_then(Option::as_mut);
        let Some(end) = end.filter(|end| end.connection.number() == number) else {
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
            let connection = ConnectionId(number);
            self.notices.push_back(Notice { connection, what: What::Closed });
            return self.release(number);
        }
        end.connection.on_packet(at, PathId(path as u8), body);
        mark(end, place(number) as u32, &mut self.dirty);
    }
}
