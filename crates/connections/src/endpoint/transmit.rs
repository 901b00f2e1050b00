//! Transmission: the packets of a connection, as many in one call as the system takes.

use std::io::IoSlice;

use laneway_path::{Event, Nanos, PathId, Payload};

use super::connections::End;
use super::lines::{Lines, PREFIX};
use super::notices::Notices;
use super::streams::{has_room, stream_of};
use super::{ConnectionId, Endpoint, What};
use crate::driver::secret::TAG_BYTES;
use crate::system::socket::MOST_BYTES;

/// A part of a message up to this length is copied to its packet: cheaper than a piece of its own.
/// All parts are where they are encrypted.
const COPIED: usize = 256;

/// A frame of this length leaves at once: whether there is room for another is seen then.
const FULL_FRAME: usize = 64 << 10;

/// The largest number of connections whose events are handed over at once.
const HANDED: usize = 4;

/// A packet that is to leave: where its head lies, its tag behind it, and its part of a message. As
/// a frame it has its length before its head.
#[derive(Clone, Copy)]
struct Packet {
    head: usize,
    head_bytes: usize,
    payload: Option<Payload>,
    framed: bool,
}

/// Frames that leave in one call, at most, and their bytes.
const MOST_FRAMES: usize = 256;
const MOST_FRAME_BYTES: usize = 1 << 20;

impl Packet {
    fn bytes(&self) -> usize {
        self.head_bytes + self.payload.map_or(0, |payload| payload.len()) + TAG_BYTES
    }
}

/// Packets that leave in one call; only storage between calls.
#[derive(Default)]
pub(super) struct Batch {
    heads: Vec<u8>,
    packets: Vec<Packet>,
}

impl Endpoint {
    /// Hands over events at once if nothing else is urgent: what follows from them leaves with the
    /// answer, or the next time. False if there was no event.
    pub(super) fn hand_over(&mut self, now: Nanos) -> bool {
        if self.connections.dirty().len() > HANDED {
            return false;
        }
        let mut any_event = false;
        for place in 0..self.connections.dirty().len() {
            let index = self.connections.dirty()[place];
            let end = self.connections.at(index);
            let Some(end) = end.filter(|end| !end.connection.has_due_control(now)) else {
                return false;
            };
            any_event |= report_events(now, end, &mut self.notices);
        }
        any_event
    }

    /// Sends what is due; false where nothing was.
    pub(super) fn transmit(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for index in self.lines.go_on() {
            self.connections.mark_at(index);
        }
        let mut dirty = self.connections.take_dirty();
        for index in dirty.drain(..) {
            any |= self.transmit_for(now, index);
        }
        self.connections.put_dirty(dirty);
        any
    }

    /// Sends what one connection has to send; false where this is nothing.
    fn transmit_for(&mut self, now: Nanos, index: u32) -> bool {
        self.share_probe(now, index);
        let Some(end) = self.connections.at(index) else { return false };
        end.is_dirty = false;
        if end.connection.needs_queue_state() {
            for (path, peer) in end.peers.iter().enumerate() {
                let path = PathId(path as u8);
                let queued = self.lines.holds(path, peer) || self.health.overflows(now, path);
                end.connection.on_queue(path, queued);
            }
        }
        ask_of_stream(now, end, &self.lines);
        let mut any = flush(now, end, index, &mut self.lines, &mut self.batch);
        let mut wants = end.next_timeout();
        if wants.is_some_and(|at| at <= now) {
            end.on_timeout(now);
            any |= flush(now, end, index, &mut self.lines, &mut self.batch);
            wants = end.next_timeout();
        }
        // What the manager asked for leaves as well.
        if report_events(now, end, &mut self.notices) {
            any = true;
            flush(now, end, index, &mut self.lines, &mut self.batch);
            wants = end.next_timeout();
        }
        let leaves = !end.left.is_empty();
        self.connections.on_flushed(index, wants);
        if leaves {
            self.follow_migration(now, index);
        }
        any
    }
}

/// Asks the kernel about the stream that a connection's data leaves by, now and then.
fn ask_of_stream(now: Nanos, end: &mut End, lines: &Lines) {
    let Some(path) = end.connection.asks_of_stream(now) else { return };
    if let Some(state) = stream_of(end, path).and_then(|stream| lines.streams.state(stream)) {
        end.connection.on_stream_state(now, path, &state);
    }
}

/// Hands over a connection's events; false if it has none.
fn report_events(now: Nanos, end: &mut End, notices: &mut Notices) -> bool {
    let connection = ConnectionId(end.connection.number());
    let mut any_event = false;
    while let Some(event) = end.poll_event(now) {
        any_event = true;
        if end.connection.has_streams()
            && let Event::Migrated { from, .. } = event
        {
            end.left.push(from);
        }
        notices.push(connection, What::Event(event));
    }
    if let Some(path) = end.connection.take_stale_stream() {
        end.left.push(path);
    }
    any_event
}

/// Sends everything that a connection has to send now.
fn flush(now: Nanos, end: &mut End, index: u32, lines: &mut Lines, batch: &mut Batch) -> bool {
    let mut any = false;
    let primary = end.connection.primary();
    let peer = end.peers.get(usize::from(primary.0));
    let room = peer.is_none_or(|peer| lines.has_room(primary, peer));
    let streams = end.connection.has_streams();
    if streams {
        report_room(end, lines);
    } else {
        end.connection.on_room(primary, room);
        if !room {
            lines.hold_up(primary, index);
        }
    }
    let prefix = if streams { PREFIX } else { 0 };
    let mut path = PathId(0);
    batch.heads.clear();
    batch.packets.clear();
    loop {
        // A frame has its length there.
        let before = batch.heads.len();
        batch.heads.resize(before + prefix, 0);
        let head = before + prefix;
        let Some(departure) = end.connection.poll_departure(now, &mut batch.heads) else {
            batch.heads.truncate(before);
            break;
        };
        any = true;
        let mut payload = departure.payload;
        let hides = end.seals.hides();
        if let Some(part) = payload.filter(|part| hides || part.len() <= COPIED) {
            batch.heads.extend_from_slice(end.connection.payload(&part));
            payload = None;
        }
        let head_bytes = batch.heads.len() - head;
        let part = payload.as_ref().map_or(&[][..], |part| end.connection.payload(part));
        let tag = end.seals.seal(&mut batch.heads[head..], part);
        let framed = departure.framed;
        let packet = Packet { head, head_bytes, payload, framed };
        let most = if framed { MOST_FRAMES } else { most_segments(end, path, lines) };
        if !batch.packets.is_empty() && (departure.path != path || !batch.fits(&packet, most)) {
            batch.send(end, path, lines);
            batch.keep_from(before);
        }
        batch.heads.extend(tag);
        path = departure.path;
        let head = batch.heads.len() - head_bytes - TAG_BYTES;
        if framed {
            let length = (packet.bytes() as u32).to_be_bytes();
            batch.heads[head - PREFIX..head].copy_from_slice(&length);
            // The kernel takes no more than it has room for; the rest is kept here.
            if packet.bytes() >= FULL_FRAME {
                batch.packets.push(Packet { head, ..packet });
                batch.send(end, path, lines);
                batch.heads.clear();
                batch.packets.clear();
                report_room(end, lines);
                continue;
            }
        }
        batch.packets.push(Packet { head, ..packet });
    }
    if !batch.packets.is_empty() {
        batch.send(end, path, lines);
    }
    any
}

impl Batch {
    /// All packets of a call are as long as the first, but the last, which may be shorter.
    fn fits(&self, packet: &Packet, most: usize) -> bool {
        if packet.framed || self.packets[0].framed {
            let bytes: usize = self.packets.iter().map(Packet::bytes).sum();
            let alike = self.packets[0].framed == packet.framed;
            return alike
                && self.packets.len() < most
                && bytes + packet.bytes() <= MOST_FRAME_BYTES;
        }
        let (first, last) = (self.packets[0].bytes(), self.packets[self.packets.len() - 1].bytes());
        let total = first * (self.packets.len() + 1);
        self.packets.len() < most && last == first && packet.bytes() <= first && total <= MOST_BYTES
    }

    /// Forgets the packets that have left; the head of the next one begins here.
    fn keep_from(&mut self, head: usize) {
        self.heads.drain(..head);
        self.packets.clear();
    }

    fn send(&self, end: &End, path: PathId, lines: &mut Lines) {
        if self.packets[0].framed {
            return self.send_frames(end, path, lines);
        }
        let Some(peer) = end.peers.get(usize::from(path.0)) else { return };
        let segment = self.packets[0].bytes();
        if let [Packet { head, payload: None, .. }] = self.packets[..] {
            let pieces = [IoSlice::new(&self.heads[head..head + segment])];
            return lines.send(path, peer, &pieces, segment);
        }
        let mut pieces = Vec::with_capacity(3 * self.packets.len());
        for packet in &self.packets {
            let behind = packet.head + packet.head_bytes;
            match &packet.payload {
                None => pieces.push(IoSlice::new(&self.heads[packet.head..behind + TAG_BYTES])),
                Some(payload) => pieces.extend(
                    [
                        &self.heads[packet.head..behind],
                        end.connection.payload(payload),
                        &self.heads[behind..behind + TAG_BYTES],
                    ]
                    .map(IoSlice::new),
                ),
            }
        }
        lines.send(path, peer, &pieces, segment);
    }
}

impl Batch {
    /// Sends frames over the stream of a path.
    fn send_frames(&self, end: &End, path: PathId, lines: &mut Lines) {
        let Some(stream) = stream_of(end, path) else { return };
        let mut pieces = Vec::with_capacity(3 * self.packets.len());
        for packet in &self.packets {
            let (before, behind) = (packet.head - PREFIX, packet.head + packet.head_bytes);
            match &packet.payload {
                None => pieces.push(IoSlice::new(&self.heads[before..behind + TAG_BYTES])),
                Some(payload) => pieces.extend(
                    [
                        &self.heads[before..behind],
                        end.connection.payload(payload),
                        &self.heads[behind..behind + TAG_BYTES],
                    ]
                    .map(IoSlice::new),
                ),
            }
        }
        lines.send_frames(path, stream, &pieces);
    }
}

/// Tells a connection which of its streams take data.
fn report_room(end: &mut End, lines: &Lines) {
    for path in 0..end.streams.len() {
        let path = PathId(path as u8);
        let room = has_room(end, path, lines);
        end.connection.on_room(path, room);
    }
}

fn most_segments(end: &End, path: PathId, lines: &Lines) -> usize {
    end.peers.get(usize::from(path.0)).map_or(1, |peer| lines.most_segments(path, peer))
}
