//! Streams: one TCP connection for each path of a connection whose data goes that way.
//!
//! What goes over a stream is cut into frames, each behind its length. The first frame of either
//! side is a hello, which only an end of the connection can have sealed: until the peer's has come,
//! a stream carries nothing else. A stream that has lost its peer is given up and never used again.

mod reading;
mod sending;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;

use laneway_path::wire::HEADER_BYTES;
use laneway_path::{MOST_FRAME_BYTES, Nanos};

use super::wire::LineId;
use crate::driver::secret::TAG_BYTES;
use crate::error::NetError;
use crate::system::namespace::Namespace;
use crate::system::readiness::Readiness;
use crate::system::stream::{Listener, Stream};
use reading::{Broken, Buffers, Partial};
pub(in crate::endpoint) use reading::{Frames, frames};

/// The numbers of lines that are streams begin here, and the line that others connect to.
const FIRST: usize = 1 << 24;
const LISTENER: usize = FIRST - 1;

/// Bytes of the length that stands before a frame.
pub(in crate::endpoint) const PREFIX: usize = 4;
/// The length of a hello with its tag.
pub(in crate::endpoint) const HELLO_BYTES: usize = 32;
const MOST_FRAME: usize = HEADER_BYTES + MOST_FRAME_BYTES + TAG_BYTES;

/// Streams of peers that have not proved themselves, at most, and how long they may take.
const MOST_UNPROVEN: usize = 64;
const PROOF_WITHIN: Nanos = 1_000_000_000;

/// A stream, and no other that has its place later: what is said of one that is gone, by a
/// connection or in a list of changes, must not strike its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) struct StreamId {
    place: u32,
    number: u64,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Stage {
    /// It was begun from here.
    Connecting,
    /// It was begun from here, and a hello has left.
    Greeting,
    /// A peer has begun it, and nothing is known of that.
    Unproven,
    /// Both ends have proved themselves.
    Open,
}

struct Place {
    id: StreamId,
    stream: Stream,
    path: usize,
    peer: IpAddr,
    stage: Stage,
    /// When it is given up, if it is not open by then.
    ends_at: Nanos,
    /// The connection that it belongs to; none while it is unproven.
    owner: Option<u32>,
    partial: Partial,
    /// What the kernel has not taken, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// Whether frames are left in the kernel.
    paused: bool,
    /// Bytes that must have arrived before the kernel says so.
    wakes_at: usize,
}

/// What has happened to streams.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Change {
    /// One that was begun from here has connected.
    Connected { stream: StreamId, owner: u32, path: usize },
    /// One is gone.
    Lost { owner: u32, path: usize, stream: StreamId },
    /// One has room again.
    Room { owner: u32 },
}

pub(in crate::endpoint) struct Streams {
    listeners: Vec<Option<Listener>>,
    places: Vec<Option<Place>>,
    /// Streams that there have been.
    number: u64,
    /// Streams that connect, or that have no room.
    pending: Vec<StreamId>,
    /// Streams that are not open, and those among them of peers that have not proved themselves.
    opening: usize,
    unproven: usize,
    changes: VecDeque<Change>,
    buffers: Buffers,
    /// Storage of what the kernel does not take.
    spare: Vec<u8>,
    readiness: Arc<Readiness>,
    /// Where the sockets of each path are, if that is known.
    namespaces: Vec<Option<Namespace>>,
}

impl StreamId {
    pub fn line(self, path: usize) -> LineId {
        LineId { path, line: FIRST + self.place as usize }
    }
}

/// Whether a line is that of a stream, or was.
pub(in crate::endpoint) fn is_stream(line: LineId) -> bool {
    line.line >= FIRST
}

/// Whether others connect to this line.
pub(in crate::endpoint) fn is_listener(line: LineId) -> bool {
    line.line == LISTENER
}

impl Streams {
    pub fn new(readiness: Arc<Readiness>) -> Streams {
        Streams {
            listeners: Vec::new(),
            places: Vec::new(),
            number: 0,
            pending: Vec::new(),
            opening: 0,
            unproven: 0,
            changes: VecDeque::new(),
            buffers: Buffers::default(),
            spare: Vec::new(),
            readiness,
            namespaces: Vec::new(),
        }
    }

    /// The next path: where others connect to it, and where its sockets are.
    pub fn add_path(
        &mut self,
        listener: Option<Listener>,
        namespace: Option<Namespace>,
    ) -> Result<(), NetError> {
        let line = LineId { path: self.listeners.len(), line: LISTENER };
        if let Some(listener) = &listener {
            self.readiness.add(listener.fd(), line.key())?;
        }
        self.listeners.push(listener);
        self.namespaces.push(namespace);
        Ok(())
    }

    fn place(&self, stream: StreamId) -> Option<&Place> {
        self.places.get(stream.place as usize)?.as_ref().filter(|place| place.id == stream)
    }

    fn place_mut(&mut self, stream: StreamId) -> Option<&mut Place> {
        self.places.get_mut(stream.place as usize)?.as_mut().filter(|place| place.id == stream)
    }

    /// The stream of a line, while there is one.
    pub fn at(&self, line: LineId) -> Option<StreamId> {
        let place = self.places.get(line.line.checked_sub(FIRST)?)?.as_ref();
        place.filter(|place| place.path == line.path).map(|place| place.id)
    }

    /// The next one, at a place that is free.
    fn next_id(&mut self) -> StreamId {
        self.number += 1;
        let free = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        StreamId { place: free as u32, number: self.number }
    }

    fn put(&mut self, place: Place) -> Option<StreamId> {
        let (stream, free) = (place.id, place.id.place as usize);
        let key = stream.line(place.path).key();
        self.readiness.add(place.stream.fd(), key).ok()?;
        if free == self.places.len() {
            self.places.push(None);
        }
        self.places[free] = Some(place);
        self.opening += 1;
        Some(stream)
    }

    /// Begins to connect to a peer.
    pub fn connect(
        &mut self,
        path: usize,
        local: SocketAddr,
        device: Option<&str>,
        peer: SocketAddr,
        owner: u32,
        ends_at: Nanos,
    ) -> Option<StreamId> {
        let namespace = self.namespaces.get(path).and_then(Option::as_ref);
        let open = || Stream::new(local, device);
        let stream = namespace.map_or_else(open, |namespace| namespace.inside(open)).ok()?;
        stream.connect(local, peer).ok()?;
        let stage = Stage::Connecting;
        let place = Place {
            id: self.next_id(),
            stream,
            path,
            peer: peer.ip(),
            stage,
            ends_at,
            owner: Some(owner),
            partial: Partial::default(),
            unsent: Vec::new(),
            sent: 0,
            paused: false,
            wakes_at: 1,
        };
        let stream = self.put(place)?;
        self.watch_room(stream, true);
        Some(stream)
    }

    /// Takes what peers have begun on a path.
    pub fn accept(&mut self, now: Nanos, path: usize) {
        while let Some(listener) = self.listeners.get(path).and_then(Option::as_ref) {
            let Some((stream, from)) = listener.accept() else { return };
            // Beyond the limit they are reset at once.
            if self.unproven >= MOST_UNPROVEN {
                continue;
            }
            let place = Place {
                id: self.next_id(),
                stream,
                path,
                peer: from.ip(),
                stage: Stage::Unproven,
                ends_at: now + PROOF_WITHIN,
                owner: None,
                partial: Partial::default(),
                unsent: Vec::new(),
                sent: 0,
                paused: false,
                wakes_at: 1,
            };
            if self.put(place).is_some() {
                self.unproven += 1;
            }
        }
    }

    /// The stage of a stream, the path and the peer's address.
    pub fn get(&self, stream: StreamId) -> Option<(Stage, usize, IpAddr)> {
        self.place(stream).map(|place| (place.stage, place.path, place.peer))
    }

    pub fn owner(&self, stream: StreamId) -> Option<u32> {
        self.place(stream)?.owner
    }

    pub fn fd(&self, stream: StreamId) -> RawFd {
        self.place(stream).map_or(-1, |place| place.stream.fd())
    }

    /// Whether room to send is waited for.
    pub fn is_full(&self, stream: StreamId) -> bool {
        self.pending.contains(&stream)
    }

    /// The peer has proved that it is the other end of this connection.
    pub fn open(&mut self, stream: StreamId, owner: u32) {
        let Some(place) = self.place_mut(stream) else { return };
        let before = std::mem::replace(&mut place.stage, Stage::Open);
        place.owner = Some(owner);
        self.opening -= usize::from(before != Stage::Open);
        self.unproven -= usize::from(before == Stage::Unproven);
    }

    /// Gives a stream up: it is reset.
    pub fn close(&mut self, stream: StreamId) {
        if self.place(stream).is_none() {
            return;
        }
        let Some(place) = self.places[stream.place as usize].take() else { return };
        self.opening -= usize::from(place.stage != Stage::Open);
        self.unproven -= usize::from(place.stage == Stage::Unproven);
        self.pending.retain(|pending| *pending != stream);
        // Its number may be another socket's next.
        self.readiness.rejoin();
    }

    /// Gives up a stream that is not what it should be, or that the peer has given up.
    pub fn lose(&mut self, stream: StreamId) {
        let found = self.place(stream).map(|place| (place.owner, place.path));
        self.close(stream);
        if let Some((Some(owner), path)) = found {
            self.changes.push_back(Change::Lost { owner, path, stream });
        }
    }

    pub fn next_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether some connect, have no room, or have changed.
    pub fn is_busy(&self) -> bool {
        !self.pending.is_empty() || self.has_changes()
    }

    /// When one is given up, if nothing happens before.
    pub fn next_at(&self) -> Option<Nanos> {
        if self.opening == 0 {
            return None;
        }
        let waits = self.places.iter().flatten().filter(|place| place.stage != Stage::Open);
        waits.map(|place| place.ends_at).min()
    }

    /// Gives up those that have taken too long.
    pub fn on_timeout(&mut self, now: Nanos) {
        if self.next_at().is_none_or(|at| at > now) {
            return;
        }
        for place in 0..self.places.len() {
            let late = self.places[place].as_ref();
            let late = late.filter(|place| place.stage != Stage::Open && place.ends_at <= now);
            if let Some(id) = late.map(|place| place.id) {
                self.lose(id);
            }
        }
    }
}

/// Arrivals.
impl Streams {
    /// Takes what has arrived: frames that are whole. `None` where nothing has, or no more is to be
    /// expected.
    pub fn receive(&mut self, stream: StreamId, buffer: &mut [u8]) -> Option<Frames> {
        let place = self.places.get_mut(stream.place as usize)?.as_mut()?;
        if place.id != stream {
            return None;
        }
        if place.stage == Stage::Connecting {
            self.go_on_connecting(stream);
            return None;
        }
        // It was left alone, and its end is there.
        if place.paused {
            self.lose(stream);
            return None;
        }
        match place.receive(buffer, &mut self.buffers) {
            Ok(frames) => frames,
            Err(Broken) => {
                self.lose(stream);
                None
            }
        }
    }

    /// Takes storage back.
    pub fn put_buffer(&mut self, buffer: Vec<u8>) {
        self.buffers.put(buffer);
    }

    /// Leaves what comes in the kernel, or takes it again.
    pub fn pause(&mut self, stream: StreamId, paused: bool) {
        let full = self.is_full(stream);
        let Some(place) = self.place_mut(stream) else { return };
        if std::mem::replace(&mut place.paused, paused) == paused {
            return;
        }
        let (fd, key) = (place.stream.fd(), stream.line(place.path).key());
        if paused {
            self.readiness.pause(fd, key, full);
        } else {
            self.readiness.watch_room(fd, key, full);
        }
    }
}
