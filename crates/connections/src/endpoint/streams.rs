//! Streams of connections: opened for each path, proven by both ends, opened again when they are
//! lost.
//!
//! The end that opened a connection opens its streams as well, one for each path, and begins again
//! when one is lost, for as long as the connection stands. Each has a number, higher than that of
//! the one before: a hello that is replayed opens nothing.

use std::collections::BTreeSet;
use std::io::IoSlice;

use laneway_path::wire::{HEADER_BYTES, begins_message};
use laneway_path::{Nanos, PathId};

use super::connections::End;
use super::lines::{Change, Frames, HELLO_BYTES, LineId, Lines, PREFIX, Stage, StreamId, frames};
use super::{ConnectionId, Endpoint};
use crate::driver::secret::TAG_BYTES;

/// The first byte of a hello; no packet of a connection begins so.
const HELLO: u8 = 0x46;

/// How long the first attempt to connect may take, beside four round trips; each may take twice as
/// long as the one before.
const FIRST_ATTEMPT: Nanos = 30_000_000;
const LONGEST_ATTEMPT: Nanos = 2_000_000_000;
/// The time between two attempts that fail at once; it doubles.
const FIRST_APART: Nanos = 2_000_000;
const LONGEST_APART: Nanos = 250_000_000;

/// Reads of one stream before others have their turn.
const TURNS: usize = 8;

/// The stream of one path of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfPath {
    /// The one that is open, or the one that this end has begun.
    pub stream: Option<StreamId>,
    pub is_open: bool,
    /// The number of the latest.
    incarnation: u64,
    /// How long the next attempt may take, and how long after a failure it begins.
    attempt: Nanos,
    apart: Nanos,
}

impl OfPath {
    pub fn none() -> OfPath {
        let (attempt, apart) = (FIRST_ATTEMPT, FIRST_APART);
        OfPath { stream: None, is_open: false, incarnation: 0, attempt, apart }
    }
}

/// When streams are to be opened, of which connections and paths.
#[derive(Default)]
pub(super) struct Wanted(BTreeSet<(Nanos, u32, u8)>);

impl Wanted {
    fn at(&mut self, at: Nanos, connection: u32, path: usize) {
        self.0.insert((at, connection, path as u8));
    }

    pub fn next_at(&self) -> Option<Nanos> {
        self.0.first().map(|first| first.0)
    }

    fn take(&mut self, now: Nanos) -> Option<(u32, usize)> {
        let first = self.0.first().copied().filter(|first| first.0 <= now)?;
        self.0.remove(&first);
        Some((first.1, usize::from(first.2)))
    }
}

/// A hello for the end of this number, sealed.
fn hello(end: &mut End, path: usize) -> [u8; PREFIX + HELLO_BYTES] {
    let mut frame = [0; PREFIX + HELLO_BYTES];
    frame[..PREFIX].copy_from_slice(&(HELLO_BYTES as u32).to_be_bytes());
    let (body, tag) = frame[PREFIX..].split_at_mut(HELLO_BYTES - TAG_BYTES);
    (body[0], body[2]) = (HELLO, path as u8);
    body[4..8].copy_from_slice(&end.connection.peer().to_be_bytes());
    body[8..16].copy_from_slice(&end.streams[path].incarnation.to_be_bytes());
    tag.copy_from_slice(&end.seals.seal(body, &[]));
    frame
}

/// The connection that a hello is for, the path, and the number of the stream.
fn read_hello(frame: &[u8]) -> Option<(u32, usize, u64)> {
    let [HELLO, 0, path, 0, ..] = *frame else { return None };
    let number = u32::from_be_bytes(*frame.get(4..)?.first_chunk()?);
    let incarnation = u64::from_be_bytes(*frame.get(8..)?.first_chunk()?);
    (frame.len() == HELLO_BYTES).then_some((number, usize::from(path), incarnation))
}

impl Endpoint {
    /// Streams of a connection that has just begun are opened from here.
    pub(super) fn want_streams(&mut self, now: Nanos, number: u32, paths: usize) {
        (0..paths).for_each(|path| self.wanted.at(now, number, path));
    }

    /// Whether something is to be done for streams now.
    pub(super) fn has_due_streams(&self, now: Nanos) -> bool {
        self.lines.streams.is_busy() || self.next_of_streams().is_some_and(|at| at <= now)
    }

    /// When something is to be done for streams, if nothing happens before.
    pub(super) fn next_of_streams(&self) -> Option<Nanos> {
        [self.wanted.next_at(), self.lines.streams.next_at()].into_iter().flatten().min()
    }

    /// Opens streams that are due, gives up those that took too long, and tells connections.
    pub(super) fn go_on_with_streams(&mut self, now: Nanos) {
        self.lines.streams.go_on();
        self.lines.streams.on_timeout(now);
        while let Some((number, path)) = self.wanted.take(now) {
            self.open_stream(now, number, path);
        }
        while let Some(change) = self.lines.streams.next_change() {
            match change {
                Change::Connected { stream, owner, path } => self.greet(stream, owner, path),
                Change::Lost { owner, path, stream } => self.on_lost(now, owner, path, stream),
                Change::Room { owner } => self.connections.mark(owner),
            }
        }
    }

    fn open_stream(&mut self, now: Nanos, number: u32, path: usize) {
        let has_carrier = self.health.has_carrier(PathId(path as u8));
        let Some(end) = self.connections.get_mut(number) else { return };
        let Some(peer) = end.peers.get(path).map(|peer| peer.address) else { return };
        if end.streams[path].stream.is_some() {
            return;
        }
        let trip = end.connection.round_trip(PathId(path as u8)).unwrap_or(0);
        let of_path = &mut end.streams[path];
        let ends_at = now + of_path.attempt + 4 * trip;
        let begun =
            has_carrier.then(|| self.lines.connect_stream(path, peer, number, ends_at)).flatten();
        of_path.stream = begun;
        if begun.is_some() {
            of_path.incarnation += 1;
            of_path.attempt = (2 * of_path.attempt).min(LONGEST_ATTEMPT);
        } else {
            self.want_again(now, number, path);
        }
    }

    /// Tries later, and later each time.
    fn want_again(&mut self, now: Nanos, number: u32, path: usize) {
        let Some(end) = self.connections.get_mut(number) else { return };
        let of_path = &mut end.streams[path];
        self.wanted.at(now + of_path.apart, number, path);
        of_path.apart = (2 * of_path.apart).min(LONGEST_APART);
    }

    /// A stream that was begun from here has connected.
    fn greet(&mut self, stream: StreamId, owner: u32, path: usize) {
        let Some(end) = self.connections.get_mut(owner) else { return };
        let hello = hello(end, path);
        self.lines.send_frames(PathId(path as u8), stream, &[IoSlice::new(&hello)]);
    }

    fn on_lost(&mut self, now: Nanos, owner: u32, path: usize, stream: StreamId) {
        let Some(end) = self.connections.get_mut(owner) else { return };
        let of_path = &mut end.streams[path];
        if of_path.stream != Some(stream) {
            return;
        }
        of_path.stream = None;
        let was_open = std::mem::take(&mut of_path.is_open);
        if was_open {
            end.connection.on_stream(now, PathId(path as u8), false);
            self.connections.mark(owner);
        }
        self.open_again(now, owner, path);
    }

    /// The end that leads opens a stream again.
    fn open_again(&mut self, now: Nanos, owner: u32, path: usize) {
        if self.connections.get(owner).is_some_and(|end| end.leads) {
            self.want_again(now, owner, path);
        }
    }

    /// Gives up the stream of a path, whatever it still carries.
    fn reset_stream(&mut self, now: Nanos, owner: u32, path: usize) {
        let Some(end) = self.connections.get(owner) else { return };
        if let Some(stream) = end.streams.get(path).and_then(|of_path| of_path.stream) {
            self.lines.close_stream(path, stream);
            self.on_lost(now, owner, path, stream);
        }
    }

    /// A path works again: its streams are opened at once.
    pub(super) fn want_streams_of(&mut self, now: Nanos, path: PathId) {
        let path = usize::from(path.0);
        let misses = |end: &&End| {
            end.leads && end.streams.get(path).is_some_and(|of_path| of_path.stream.is_none())
        };
        for end in self.connections.iter().filter(misses) {
            self.wanted.at(now, end.connection.number(), path);
        }
    }

    /// The connection has left a path: what its stream still carries is of no use.
    pub(super) fn follow_migration(&mut self, now: Nanos, index: u32) {
        let Some(end) = self.connections.at(index) else { return };
        let number = end.connection.number();
        let left = std::mem::take(&mut end.left);
        for PathId(path) in left {
            self.reset_stream(now, number, usize::from(path));
        }
    }

    /// A connection has ended.
    pub(super) fn release_streams(&mut self, end: &End) {
        for (path, of_path) in end.streams.iter().enumerate() {
            if let Some(stream) = of_path.stream {
                self.lines.close_stream(path, stream);
            }
        }
    }
}

/// Arrivals.
impl Endpoint {
    /// Takes frames that have arrived over a stream; false where none have.
    pub(super) fn receive_frames(&mut self, by: LineId, stream: StreamId, now: Nanos) -> bool {
        let mut buffer = self.lines.take_frames();
        let mut any = false;
        for _ in 0..TURNS {
            let found = self.lines.receive_frames(by.path, stream, &mut buffer);
            let Some(Frames { first, bytes }) = found else { break };
            any = true;
            if let Some((mut first, length)) = first {
                let whole = &mut first[..length];
                frames(whole).for_each(|frame| self.on_frame(now, by.path, stream, frame));
                self.lines.streams.put_buffer(first);
            }
            let whole = &mut buffer[..bytes];
            frames(whole).for_each(|frame| self.on_frame(now, by.path, stream, frame));
            // A short read was all that there is.
            if bytes < buffer.len() / 4 || self.leaves_rest(by.path, stream) {
                break;
            }
        }
        self.lines.put_frames(buffer);
        if self.lines.streams.has_changes() {
            self.go_on_with_streams(now);
        }
        any
    }

    /// Whether frames that follow are left in the kernel: one waits for its receive.
    fn leaves_rest(&mut self, path: usize, stream: StreamId) -> bool {
        let owner = self.lines.streams.owner(stream);
        let end = owner.and_then(|owner| self.connections.get(owner));
        let waits = end.is_some_and(|end| end.connection.waits_for_receive());
        if waits {
            self.lines.pause(path, stream, true);
        }
        waits
    }

    /// A receive was posted: what was left in the kernel is taken again.
    pub(super) fn resume_streams(&mut self, connection: ConnectionId) {
        let Some(end) = self.connections.get(connection.0) else { return };
        if !end.connection.has_streams() || end.connection.waits_for_receive() {
            return;
        }
        for (path, of_path) in end.streams.iter().enumerate() {
            if let Some(stream) = of_path.stream {
                self.lines.pause(path, stream, false);
            }
        }
    }

    fn on_frame(&mut self, now: Nanos, path: usize, stream: StreamId, frame: &mut [u8]) {
        match self.lines.streams.get(stream).map(|(stage, ..)| stage) {
            Some(Stage::Open) => self.on_data_frame(now, path, stream, frame),
            Some(_) if !self.on_hello(now, path, stream, frame) => {
                self.dropped.refused += 1;
                self.lines.streams.lose(stream);
            }
            Some(_) | None => {}
        }
    }

    fn on_data_frame(&mut self, now: Nanos, path: usize, stream: StreamId, frame: &mut [u8]) {
        let Some(number) = self.lines.streams.owner(stream) else { return };
        let Some(end) = self.connections.get_mut(number) else { return };
        let body =
            if frame.len() >= HEADER_BYTES + TAG_BYTES { end.opens.open(frame) } else { None };
        let Some(body) = body else {
            // Nothing behind it can be believed.
            self.dropped.forged += 1;
            return self.lines.streams.lose(stream);
        };
        self.pool.before(end, begins_message(body));
        end.connection.on_frame(now, PathId(path as u8), body);
        self.pool.after(end);
        self.connections.mark(number);
    }

    /// The peer proves that it is the other end of a connection; false if it does not.
    fn on_hello(&mut self, now: Nanos, path: usize, stream: StreamId, frame: &mut [u8]) -> bool {
        let Some((number, of, incarnation)) = read_hello(frame) else { return false };
        let Some((stage, _, from)) = self.lines.streams.get(stream) else { return false };
        let Some(end) = self.connections.get_mut(number).filter(|_| of == path) else {
            return false;
        };
        let at = end.peers.get(path).map(|peer| peer.address.ip());
        let expected = match (stage, end.streams.get(path)) {
            // The answer to the hello of this end.
            (Stage::Greeting, Some(of_path)) => {
                of_path.stream == Some(stream) && incarnation == of_path.incarnation
            }
            // A new one.
            (Stage::Unproven, Some(of_path)) => !end.leads && incarnation > of_path.incarnation,
            _ => false,
        };
        if !expected || at != Some(from) || end.opens.open(frame).is_none() {
            return false;
        }
        if stage == Stage::Unproven {
            self.replace_stream(now, number, path, stream, incarnation);
        }
        self.lines.streams.open(stream, number);
        if let Some(end) = self.connections.get_mut(number) {
            let of_path = &mut end.streams[path];
            (of_path.stream, of_path.is_open) = (Some(stream), true);
            (of_path.attempt, of_path.apart) = (FIRST_ATTEMPT, FIRST_APART);
            end.connection.on_stream(now, PathId(path as u8), true);
            self.connections.mark(number);
        }
        true
    }

    /// A stream that a peer has opened takes the place of the one before; it is answered.
    fn replace_stream(
        &mut self,
        now: Nanos,
        number: u32,
        path: usize,
        stream: StreamId,
        incarnation: u64,
    ) {
        self.reset_stream(now, number, path);
        let Some(end) = self.connections.get_mut(number) else { return };
        end.streams[path].incarnation = incarnation;
        let hello = hello(end, path);
        self.lines.send_frames(PathId(path as u8), stream, &[IoSlice::new(&hello)]);
    }
}

/// The stream that frames of a path leave by, while it is open.
pub(super) fn stream_of(end: &End, path: PathId) -> Option<StreamId> {
    let of_path = end.streams.get(usize::from(path.0))?;
    of_path.stream.filter(|_| of_path.is_open)
}

/// Whether data can leave by a path now.
pub(super) fn has_room(end: &End, path: PathId, lines: &Lines) -> bool {
    stream_of(end, path).is_some_and(|stream| lines.streams.has_room(stream))
}
