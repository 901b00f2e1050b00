//! A path's socket with what it could not take at once.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::address::RawAddress;
use crate::socket::{Sent, Socket};

/// Packets that wait for room in the socket.
struct Waiting {
    to: RawAddress,
    bytes: Vec<u8>,
    segment: usize,
}

/// Packets that went one way over a path, handshakes and what was sent again included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub packets: u64,
    /// Without the heads of UDP and IP.
    pub bytes: u64,
}

impl Traffic {
    /// So many bytes in packets of a length, the last of which may be shorter.
    pub(crate) fn add(&mut self, bytes: usize, segment: usize) {
        self.bytes += bytes as u64;
        self.packets += bytes.div_ceil(segment.max(1)) as u64;
    }
}

pub(crate) struct Wire {
    pub socket: Socket,
    pub sent: Traffic,
    pub received: Traffic,
    waiting: VecDeque<Waiting>,
    /// Connections that have data and wait for room here.
    pub held_up: Vec<u32>,
    pub carrier: bool,
    /// Whether connections are kept off it by hand.
    pub drained: bool,
}

impl Wire {
    pub fn new(socket: Socket) -> Wire {
        let (waiting, held_up) = (VecDeque::new(), Vec::new());
        let (sent, received) = (Traffic::default(), Traffic::default());
        Wire { socket, sent, received, waiting, held_up, carrier: true, drained: false }
    }

    pub fn has_room(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends packets, now or when there is room.
    pub fn send(&mut self, to: &RawAddress, pieces: &[IoSlice<'_>], segment: usize) {
        self.sent.add(pieces.iter().map(|piece| piece.len()).sum(), segment);
        if self.has_room() && self.socket.send(to, pieces, segment) == Sent::Taken {
            return;
        }
        let bytes = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        self.waiting.push_back(Waiting { to: *to, bytes, segment });
    }

    /// Tries again; true where all has left that waited.
    pub fn go_on(&mut self) -> bool {
        while let Some(Waiting { to, bytes, segment }) = self.waiting.front() {
            if self.socket.send(to, &[IoSlice::new(bytes)], *segment) == Sent::Full {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }
}
