//! What arrives.

use std::net::SocketAddr;

use laneway_path::wire::HEADER_BYTES;
use laneway_path::{Nanos, PathId};

use super::{ConnectionId, Endpoint, Notice, What, mark, place};
use crate::clock::age;
use crate::handshake::is_handshake;

/// Calls to the system for one path before others have their turn.
const TURNS: usize = 16;
/// The same, before timers are looked at.
const CATCH_UP: usize = 1024;
/// So many bytes in one call are a sign of more.
const MUCH: usize = 8 << 10;
/// Paths over which nothing came last are looked at this rarely.
const RARELY: u32 = 8;

/// The first byte of the packet that closes a connection; its number follows, then a tag.
pub(crate) const CLOSE: u8 = 0x45;

impl Endpoint {
    /// Takes what has arrived; false where nothing has.
    pub(super) fn receive(&mut self, now: Nanos) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if !self.looks.is_multiple_of(RARELY) {
            return self.receive_over(self.hot, now);
        }
        let mut any = false;
        for path in 0..self.wires.len() {
            any |= self.receive_over(path, now);
        }
        any
    }

    /// Takes all that has arrived over every path, or so much that the rest may wait.
    pub(super) fn catch_up(&mut self, now: Nanos) {
        for path in 0..self.wires.len() {
            let mut turns = 0..CATCH_UP;
            while turns.next().is_some() && self.receive_over(path, now) {}
        }
    }

    pub(super) fn receive_over(&mut self, path: usize, now: Nanos) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut any = false;
        for _ in 0..TURNS {
            let Some(arrival) = self.wires[path].socket.receive(&mut buffer) else { break };
            (any, self.hot) = (true, path);
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
        if end.peers.get(path).is_none_or(|(address, _)| *address != from) {
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
