//! Streams: one TCP connection for each path of a connection whose data goes that way.
//!
//! What goes over a stream is cut into frames, each behind its length. The first frame of either
//! side is a hello, which only an end of the connection can have sealed: until the peer's has come,
//! a stream carries nothing else. A stream that has lost its peer is given up and never used again.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;

use laneway_path::wire::HEADER_BYTES;
use laneway_path::{MOST_FRAME_BYTES, Nanos, StreamState};

use super::wire::LineId;
use crate::driver::secret::TAG_BYTES;
use crate::error::NetError;
use crate::system::namespace::Namespace;
use crate::system::readiness::Readiness;
use crate::system::stream::{Listener, Stream};

/// The numbers of lines that are streams begin here, and the line that others connect to.
const FIRST: usize = 1 << 24;
const LISTENER: usize = FIRST - 1;

/// The length of a frame stands before it, in so many bytes.
pub(in crate::endpoint) const PREFIX: usize = 4;
/// The length of a hello with its tag.
pub(in crate::endpoint) const HELLO_BYTES: usize = 32;
const MOST_FRAME: usize = HEADER_BYTES + MOST_FRAME_BYTES + TAG_BYTES;

/// Frames up to this length have storage of their own.
const SHORT: usize = 16 << 10;
/// The kernel says that bytes have arrived when it has these, at the latest.
const MOST_AT_ONCE: usize = 128 << 10;
/// The storage that is kept for long ones.
const MOST_BUFFERS: usize = 4;

/// Streams of peers that have not proved themselves, at most, and how long they may take.
const MOST_UNPROVEN: usize = 64;
const PROOF_WITHIN: Nanos = 1_000_000_000;

/// A stream by its place: another one may have it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) struct StreamId(u32);

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

/// The beginning of a frame, its length included.
#[derive(Default)]
struct Partial {
    /// Long enough for the whole frame, as far as its length is known.
    buffer: Vec<u8>,
    filled: usize,
}

/// Storage of long frames, used again: memory that is new costs more than what is done with it.
#[derive(Default)]
struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// At least this long, of any bytes.
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut buffer = if bytes > SHORT { self.0.pop().unwrap_or_default() } else { Vec::new() };
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        buffer
    }

    fn put(&mut self, buffer: Vec<u8>) {
        if buffer.len() > SHORT && self.0.len() < MOST_BUFFERS {
            self.0.push(buffer);
        }
    }
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

/// Frames that have arrived: one that had begun before, and those in a buffer.
#[derive(Default)]
pub(in crate::endpoint) struct Frames {
    /// Its storage, which [`Streams::put_buffer`] takes back, and its length.
    pub first: Option<(Vec<u8>, usize)>,
    /// Bytes of the buffer that are whole frames.
    pub bytes: usize,
}

pub(in crate::endpoint) struct Streams {
    listeners: Vec<Option<Listener>>,
    places: Vec<Option<Place>>,
    /// Streams that connect, or that have no room.
    pending: Vec<u32>,
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
        LineId { path, line: FIRST + self.0 as usize }
    }

    /// The stream of a line, if it is one.
    pub fn of(line: LineId) -> Option<StreamId> {
        line.line.checked_sub(FIRST).map(|place| StreamId(place as u32))
    }
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
        self.places.get(stream.0 as usize)?.as_ref()
    }

    fn place_mut(&mut self, stream: StreamId) -> Option<&mut Place> {
        self.places.get_mut(stream.0 as usize)?.as_mut()
    }

    fn put(&mut self, place: Place) -> Option<StreamId> {
        let free = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        let stream = StreamId(free as u32);
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
        self.pending.contains(&stream.0)
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
        let Some(place) = self.places.get_mut(stream.0 as usize).and_then(Option::take) else {
            return;
        };
        self.opening -= usize::from(place.stage != Stage::Open);
        self.unproven -= usize::from(place.stage == Stage::Unproven);
        self.pending.retain(|pending| *pending != stream.0);
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
            if late.is_some_and(|place| place.stage != Stage::Open && place.ends_at <= now) {
                self.lose(StreamId(place as u32));
            }
        }
    }
}

/// Transmission.
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

    fn watch_room(&mut self, stream: StreamId, wanted: bool) {
        let Some(place) = self.place(stream) else { return };
        let (fd, key) = (place.stream.fd(), stream.line(place.path).key());
        if !place.paused {
            self.readiness.watch_room(fd, key, wanted);
        } else {
            self.readiness.pause(fd, key, wanted);
        }
        self.pending.retain(|pending| *pending != stream.0);
        if wanted {
            self.pending.push(stream.0);
        }
    }

    /// Goes on with those that connect, or had no room.
    pub fn go_on(&mut self) {
        let mut at = 0;
        while let Some(&place) = self.pending.get(at) {
            let stream = StreamId(place);
            let stays = match self.place(stream).map(|place| place.stage) {
                None => false,
                Some(Stage::Connecting) => self.go_on_connecting(stream),
                Some(_) => self.go_on_sending(stream),
            };
            at += usize::from(stays && self.pending.get(at) == Some(&place));
        }
    }

    /// Whether it still connects.
    fn go_on_connecting(&mut self, stream: StreamId) -> bool {
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

/// Arrivals.
impl Streams {
    /// Takes what has arrived: frames that are whole. `None` where nothing has, or no more is to be
    /// expected.
    pub fn receive(&mut self, stream: StreamId, buffer: &mut [u8]) -> Option<Frames> {
        let place = self.places.get_mut(stream.0 as usize)?.as_mut()?;
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

/// The end of a stream, or bytes that are not frames.
struct Broken;

impl Partial {
    /// What the whole frame has, its length included, once that is known.
    fn whole(&self) -> Option<usize> {
        let prefix = self.buffer[..self.filled].first_chunk::<PREFIX>()?;
        Some(PREFIX + u32::from_be_bytes(*prefix) as usize)
    }

    /// Begins with these bytes.
    fn begin(&mut self, bytes: &[u8], buffers: &mut Buffers) {
        self.buffer = buffers.take(bytes.len());
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        self.filled = bytes.len();
    }

    /// Makes it at least so long.
    fn grow(&mut self, bytes: usize, buffers: &mut Buffers) {
        if self.buffer.len() < bytes {
            let longer = buffers.take(bytes);
            let shorter = std::mem::replace(&mut self.buffer, longer);
            self.buffer[..self.filled].copy_from_slice(&shorter[..self.filled]);
            buffers.put(shorter);
        }
    }
}

impl Place {
    fn most(&self) -> usize {
        if self.stage == Stage::Open { MOST_FRAME } else { HELLO_BYTES }
    }

    fn receive(
        &mut self,
        buffer: &mut [u8],
        buffers: &mut Buffers,
    ) -> Result<Option<Frames>, Broken> {
        // Before the peer has proved itself, no more than its hello is taken.
        let limit = if self.stage == Stage::Open { buffer.len() } else { PREFIX + HELLO_BYTES };
        let buffer = &mut buffer[..limit];
        let had = self.partial.filled;
        let missing = if had == 0 { 0 } else { self.partial.whole().unwrap_or(PREFIX) - had };
        self.partial.grow(had + missing, buffers);
        let rest = &mut self.partial.buffer[had..had + missing];
        let mut pieces = [IoSliceMut::new(rest), IoSliceMut::new(buffer)];
        // Behind a length that is not known yet nothing is read, nor behind a hello.
        let is_length = had > 0 && had < PREFIX;
        let pieces = match (missing, is_length || self.stage != Stage::Open) {
            (0, _) => &mut pieces[1..],
            (_, true) => &mut pieces[..1],
            (_, false) => &mut pieces[..],
        };
        let Some(got) = self.stream.receive(pieces).map_err(|_| Broken)? else { return Ok(None) };
        if got < missing || is_length {
            self.partial.filled += got.min(missing);
            self.check()?;
            self.wake_for_rest();
            return Ok(Some(Frames::default()));
        }
        let first = (missing > 0).then(|| {
            self.partial.filled = 0;
            (std::mem::take(&mut self.partial.buffer), had + missing)
        });
        let bytes = self.split(&buffer[..got - missing], buffers)?;
        self.wake_for_rest();
        Ok(Some(Frames { first, bytes }))
    }

    /// Has the kernel say that the rest of a long frame has arrived, not each part of it.
    fn wake_for_rest(&mut self) {
        let whole = self.partial.whole().filter(|_| self.partial.filled > 0);
        let missing = whole.map_or(0, |whole| whole - self.partial.filled);
        let wakes_at = if missing > SHORT { missing.min(MOST_AT_ONCE) } else { 1 };
        if wakes_at != std::mem::replace(&mut self.wakes_at, wakes_at) {
            self.stream.wake_at(wakes_at);
        }
    }

    /// Whether the length that stands before a frame may be one.
    fn check(&self) -> Result<(), Broken> {
        let fits = |whole| whole > PREFIX && whole <= PREFIX + self.most();
        if self.partial.whole().is_none_or(fits) { Ok(()) } else { Err(Broken) }
    }

    /// How many bytes are whole frames; the beginning of another one is kept.
    fn split(&mut self, bytes: &[u8], buffers: &mut Buffers) -> Result<usize, Broken> {
        let mut whole = 0;
        loop {
            let rest = &bytes[whole..];
            let length = rest.first_chunk::<PREFIX>().map(|prefix| u32::from_be_bytes(*prefix));
            let frame = length.map(|length| PREFIX + length as usize);
            match frame.filter(|frame| *frame <= rest.len()) {
                Some(frame) if frame == PREFIX || frame > PREFIX + self.most() => {
                    return Err(Broken);
                }
                Some(frame) => whole += frame,
                None => {
                    if !rest.is_empty() {
                        self.partial.begin(rest, buffers);
                        self.check()?;
                    }
                    return Ok(whole);
                }
            }
        }
    }
}

/// The frames of a buffer of whole ones, without their lengths.
pub(in crate::endpoint) fn frames(mut bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    std::iter::from_fn(move || {
        let (prefix, rest) = std::mem::take(&mut bytes).split_first_chunk_mut::<PREFIX>()?;
        let (frame, rest) = rest.split_at_mut_checked(u32::from_be_bytes(*prefix) as usize)?;
        bytes = rest;
        Some(frame)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;

    use laneway_stats::SplitMix64;

    use super::*;

    /// Streams with one that is open, and the other end of that.
    fn open(bytes_at_once: bool) -> (Streams, StreamId, TcpStream) {
        let readiness = Arc::new(Readiness::new().expect("a descriptor"));
        let mut streams = Streams::new(readiness);
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let at = udp.local_addr().expect("an address");
        let listener = Listener::open(at, None).expect("a free port");
        streams.add_path(Some(listener), None).expect("room");
        let peer = TcpStream::connect(at).expect("a listener");
        peer.set_nodelay(bytes_at_once).expect("an option");
        while streams.places.is_empty() {
            streams.accept(0, 0);
        }
        let stream = StreamId(0);
        assert_eq!(streams.get(stream).map(|found| found.0), Some(Stage::Unproven));
        streams.open(stream, 7);
        (streams, stream, peer)
    }

    /// All frames that have arrived; false once the stream is lost.
    fn take(
        streams: &mut Streams,
        stream: StreamId,
        buffer: &mut [u8],
        all: &mut Vec<Vec<u8>>,
    ) -> bool {
        while let Some(Frames { first, bytes }) = streams.receive(stream, buffer) {
            if let Some((mut first, length)) = first {
                all.extend(frames(&mut first[..length]).map(|frame| frame.to_vec()));
                streams.put_buffer(first);
            }
            all.extend(frames(&mut buffer[..bytes]).map(|frame| frame.to_vec()));
        }
        streams.get(stream).is_some()
    }

    fn framed(frame: &[u8]) -> Vec<u8> {
        [&(frame.len() as u32).to_be_bytes()[..], frame].concat()
    }

    #[test]
    fn frames_arrive_whole_however_they_are_cut() {
        let mut random = SplitMix64::new(11);
        let (mut streams, stream, mut peer) = open(true);
        let mut buffer = vec![0; 512 << 10];
        let (mut sent, mut taken) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let longest = [10, 300, 70_000, 300_000][random.index(4)];
            let length = 1 + random.index(longest);
            let frame: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
            let bytes = framed(&frame);
            sent.push(frame);
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let most = [3, 5000, 1 << 20][random.index(3)];
                let (part, others) = rest.split_at(1 + random.index(rest.len().min(most)));
                peer.write_all(part).expect("open");
                rest = others;
                assert!(take(&mut streams, stream, &mut buffer, &mut taken));
            }
        }
        while taken.len() < sent.len() {
            assert!(take(&mut streams, stream, &mut buffer, &mut taken));
        }
        assert!(taken == sent, "the same frames in the same order");
        let place = streams.place(stream).expect("it is there");
        assert_eq!((place.partial.filled, place.wakes_at), (0, 1), "nothing is kept");
    }

    /// Damaged lengths and random bytes end a stream, and nothing else.
    #[test]
    fn bytes_that_are_no_frames_end_their_stream() {
        let mut random = SplitMix64::new(12);
        let mut buffer = vec![0; 512 << 10];
        let mut lost = 0;
        for round in 0..200 {
            let (mut streams, stream, mut peer) = open(false);
            let mut bytes: Vec<u8> = (0..1 + random.index(20))
                .flat_map(|_| framed(&vec![7; 1 + random.index(3000)]))
                .collect();
            match round % 3 {
                0 => bytes.iter_mut().for_each(|byte| *byte = random.next_u64() as u8),
                1 => bytes.truncate(random.index(bytes.len())),
                _ => {
                    let place = random.index(bytes.len());
                    bytes[place] ^= 1 << random.index(8);
                }
            }
            peer.write_all(&bytes).expect("a buffer");
            drop(peer);
            let mut taken = Vec::new();
            while take(&mut streams, stream, &mut buffer, &mut taken) {}
            assert!(taken.iter().map(Vec::len).sum::<usize>() <= bytes.len());
            assert_eq!(streams.next_change(), Some(Change::Lost { owner: 7, path: 0, stream }));
            assert_eq!((streams.opening, streams.unproven), (0, 0));
            lost += 1;
        }
        assert_eq!(lost, 200);
    }

    #[test]
    fn peers_without_proof_are_few_and_let_go() {
        let (mut streams, _, _peer) = open(true);
        let at = {
            let mut address = crate::system::address::RawAddress::empty();
            let mut len = address.len();
            let fd = streams.listeners[0].as_ref().expect("a listener").fd();
            // SAFETY: the storage has as many bytes as `len` says.
            unsafe { libc::getsockname(fd, address.as_mut_ptr(), &raw mut len) };
            address.get().expect("an address")
        };
        let _others: Vec<TcpStream> =
            (0..2 * MOST_UNPROVEN).map(|_| TcpStream::connect(at).expect("a backlog")).collect();
        streams.accept(5, 0);
        assert_eq!((streams.unproven, streams.opening), (MOST_UNPROVEN, MOST_UNPROVEN));
        assert_eq!(streams.next_at(), Some(5 + PROOF_WITHIN));
        streams.on_timeout(4 + PROOF_WITHIN);
        assert_eq!(streams.unproven, MOST_UNPROVEN);
        streams.on_timeout(5 + PROOF_WITHIN);
        assert_eq!((streams.unproven, streams.opening, streams.next_at()), (0, 0, None));
    }
}
