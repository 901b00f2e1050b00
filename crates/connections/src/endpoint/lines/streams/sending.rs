//! Transmission over streams: at once, or when the kernel has room.

use std::io::IoSlice;

use laneway_path::StreamState;

use super::{Change, Place, Stage, StreamId, Streams};

impl Streams {
    /// Whether a stream takes data.
    pub fn has_room(&self, stream: StreamId) -> bool {
        self.place(stream).is_some_and(|place| place.unsent.is_empty())
    }

    /// Sends these bytes, now or when there is room.
    pub fn send(&mut self, stream: StreamId, pieces: &[IoSlice<'_>]) {
        let Some(place) = self.place_mut(stream) else { return };
        let had_room = place.unsent.is_empty();
        let mut taken = 0;
        if had_room {
            match place.stream.send(pieces) {
                Ok(bytes) => taken = bytes,
                Err(_) => return self.lose(stream),
            }
        }
        if place.unsent.capacity() == 0 && pieces.iter().map(|p| p.len()).sum::<usize>() > taken {
            let spare = std::mem::take(&mut self.spare);
            self.place_mut(stream).expect("it is there").unsent = spare;
        }
        let Some(place) = self.place_mut(stream) else { return };
        for piece in pieces {
            let skipped = taken.min(piece.len());
            taken -= skipped;
            place.unsent.extend_from_slice(&piece[skipped..]);
        }
        if had_room && !place.unsent.is_empty() {
            self.watch_room(stream, true);
        }
    }

    pub(super) fn watch_room(&mut self, stream: StreamId, wanted: bool) {
        let Some(place) = self.place(stream) else { return };
        let (fd, key) = (place.stream.fd(), stream.line(place.path).key());
        if !place.paused {
            self.readiness.watch_room(fd, key, wanted);
        } else {
            self.readiness.pause(fd, key, wanted);
        }
        self.pending.retain(|pending| *pending != stream);
        if wanted {
            self.pending.push(stream);
        }
    }

    /// Goes on with those that connect, or had no room.
    pub fn go_on(&mut self) {
        let mut at = 0;
        while let Some(&stream) = self.pending.get(at) {
            let stays = match self.place(stream).map(|place| place.stage) {
                None => {
                    self.pending.remove(at);
                    continue;
                }
                Some(Stage::Connecting) => self.go_on_connecting(stream),
                Some(_) => self.go_on_sending(stream),
            };
            at += usize::from(stays && self.pending.get(at) == Some(&stream));
        }
    }

    /// Whether it still connects.
    pub(super) fn go_on_connecting(&mut self, stream: StreamId) -> bool {
        let Some(place) = self.place_mut(stream) else { return false };
        match place.stream.is_connected() {
            Ok(false) => return true,
            Err(_) => self.lose(stream),
            Ok(true) => {
                place.stage = Stage::Greeting;
                if let (Some(owner), path) = (place.owner, place.path) {
                    self.changes.push_back(Change::Connected { stream, owner, path });
                }
                self.watch_room(stream, false);
            }
        }
        false
    }

    /// Whether there is still no room.
    fn go_on_sending(&mut self, stream: StreamId) -> bool {
        let Some(place) = self.place_mut(stream) else { return false };
        let Place { stream: socket, unsent, sent, owner, .. } = place;
        match socket.send(&[IoSlice::new(&unsent[*sent..])]) {
            Err(_) => {
                self.lose(stream);
                return false;
            }
            Ok(bytes) => *sent += bytes,
        }
        if *sent < unsent.len() {
            return true;
        }
        // An idle stream keeps no memory.
        unsent.clear();
        *sent = 0;
        let room = owner.map(|owner| Change::Room { owner });
        let storage = std::mem::take(unsent);
        self.changes.extend(room);
        if storage.capacity() > self.spare.capacity() {
            self.spare = storage;
        }
        self.watch_room(stream, false);
        false
    }

    /// What the kernel says of a stream.
    pub fn state(&self, stream: StreamId) -> Option<StreamState> {
        let place = self.place(stream)?;
        let mut state = place.stream.state();
        state.holds_bytes |= !place.unsent.is_empty();
        Some(state)
    }
}
