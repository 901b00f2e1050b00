//! Transmission: the packets of a connection, as many in one call as the system takes.

use std::io::IoSlice;

use laneway_path::{Nanos, PathId, Payload};

use super::connections::End;
use super::lines::Lines;
use super::notices::Notices;
use super::{ConnectionId, Endpoint, What};
use crate::driver::secret::TAG_BYTES;
use crate::system::socket::MOST_BYTES;

/// A part of a message up to this length is copied to its packet: cheaper than a piece of its own.
/// All parts are where they are encrypted.
const COPIED: usize = 256;

/// The largest number of connections whose events are handed over at once.
const HANDED: usize = 4;

/// A packet that is to leave: where its head lies, its tag behind it, and its part of a message.
#[derive(Clone, Copy)]
struct Packet {
    head: usize,
    head_bytes: usize,
    payload: Option<Payload>,
}

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
        let Some(end) = self.connections.at(index) else { return false };
        end.is_dirty = false;
        if end.connection.needs_queue_state() {
            for (path, peer) in end.peers.iter().enumerate() {
                let path = PathId(path as u8);
                let queued = self.lines.holds(path, peer) || self.health.overflows(now, path);
                end.connection.on_queue(path, queued);
            }
        }
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
        self.connections.on_flushed(index, wants);
        any
    }
}

/// Hands over a connection's events; false if it has none.
fn report_events(now: Nanos, end: &mut End, notices: &mut Notices) -> bool {
    let connection = ConnectionId(end.connection.number());
    let mut any_event = false;
    while let Some(event) = end.poll_event(now) {
        any_event = true;
        notices.push(connection, What::Event(event));
    }
    any_event
}

/// Sends everything that a connection has to send now.
fn flush(now: Nanos, end: &mut End, index: u32, lines: &mut Lines, batch: &mut Batch) -> bool {
    let mut any = false;
    let primary = end.connection.primary();
    let peer = end.peers.get(usize::from(primary.0));
    let room = peer.is_none_or(|peer| lines.has_room(primary, peer));
    end.connection.on_room(primary, room);
    if !room {
        lines.hold_up(primary, index);
    }
    let mut path = PathId(0);
    batch.heads.clear();
    batch.packets.clear();
    loop {
        let head = batch.heads.len();
        let Some(departure) = end.connection.poll_departure(now, &mut batch.heads) else { break };
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
        let packet = Packet { head, head_bytes, payload };
        let most = most_segments(end, path, lines);
        if !batch.packets.is_empty() && (departure.path != path || !batch.fits(&packet, most)) {
            batch.send(end, path, lines);
            batch.keep_from(head);
        }
        batch.heads.extend(tag);
        path = departure.path;
        batch.packets.push(Packet { head: batch.heads.len() - head_bytes - TAG_BYTES, ..packet });
    }
    if !batch.packets.is_empty() {
        batch.send(end, path, lines);
    }
    any
}

impl Batch {
    /// All packets of a call are as long as the first, but the last, which may be shorter.
    fn fits(&self, packet: &Packet, most: usize) -> bool {
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

fn most_segments(end: &End, path: PathId, lines: &Lines) -> usize {
    end.peers.get(usize::from(path.0)).map_or(1, |peer| lines.most_segments(path, peer))
}
