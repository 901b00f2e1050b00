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

pub(crate) struct Wire {
    pub socket: Socket,
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
        Wire { socket, waiting, held_up, carrier: true, drained: false }
    }

    pub fn has_room(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends packets, now or when there is room.
    pub fn send(&mut self, to: &RawAddress, pieces: &[IoSlice<'_>], segment: usize) {
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
