//! Transmission: the packets of a connection, as many in one call as the system takes.

use std::collections::VecDeque;
use std::io::IoSlice;

use laneway_path::{Nanos, PathId, Payload};

use super::due::enter;
use super::observe::{Observed, keep};
use super::{Endpoint, Notice, What};
use crate::ConnectionId;
use crate::end::End;
use crate::secret::TAG_BYTES;
use crate::socket::MOST_BYTES;
use crate::wire::Wire;

/// A part of a message up to this length is copied to its packet: cheaper than a piece of its own.
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
        if self.dirty.len() > HANDED {
            return false;
        }
        let mut any_event = false;
        for index in &self.dirty {
            let end = self.ends.get_mut(*index as usize).and_then(Option::as_mut);
            let Some(end) = end.filter(|end| !end.connection.has_due_control(now)) else {
                return false;
            };
            any_event |= report_events(now, end, &mut self.notices, &mut self.observed);
        }
        any_event
    }

    /// Sends what is due; false where nothing was.
    pub(super) fn transmit(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for wire in &mut self.wires {
            if wire.go_on() {
                for index in std::mem::take(&mut wire.held_up) {
                    if let Some(end) = self.ends.get_mut(index as usize).and_then(Option::as_mut) {
                        super::mark(end, index, &mut self.dirty);
                    }
                }
            }
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        for index in dirty.drain(..) {
            let Some(end) = self.ends.get_mut(index as usize).and_then(Option::as_mut) else {
                continue;
            };
            end.is_dirty = false;
            if end.connection.needs_queue_state() {
                self.carriers.report_queues(now, &self.paths, &self.wires, end);
            }
            any |= flush(now, end, index, &mut self.wires, &mut self.batch);
            let mut wants = end.next_timeout();
            if wants.is_some_and(|at| at <= now) {
                end.on_timeout(now);
                any |= flush(now, end, index, &mut self.wires, &mut self.batch);
                wants = end.next_timeout();
            }
            // What the manager asked for leaves as well.
            if report_events(now, end, &mut self.notices, &mut self.observed) {
                any = true;
                flush(now, end, index, &mut self.wires, &mut self.batch);
                wants = end.next_timeout();
            }
            let waits = !end.connection.is_idle();
            if std::mem::replace(&mut end.waits, waits) != waits {
                self.waiting = if waits { self.waiting + 1 } else { self.waiting - 1 };
            }
            if wants.is_some_and(|at| at < end.looked_at) {
                enter(&mut self.due, end, index, wants);
            }
        }
        // What became dirty meanwhile waits for the next time.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
        any
    }
}

/// Hands over a connection's events; false if it has none.
fn report_events(
    now: Nanos,
    end: &mut End,
    notices: &mut VecDeque<Notice>,
    observed: &mut Option<Observed>,
) -> bool {
    let connection = ConnectionId(end.connection.number());
    let mut any_event = false;
    while let Some(event) = end.poll_event(now) {
        any_event = true;
        let notice = Notice { connection, what: What::Event(event) };
        keep(observed, &notice);
        notices.push_back(notice);
    }
    any_event
}

/// Sends everything that a connection has to send now.
fn flush(now: Nanos, end: &mut End, index: u32, wires: &mut [Wire], batch: &mut Batch) -> bool {
    let mut any = false;
    let primary = usize::from(end.connection.primary().0);
    let room = end.peers.get(primary).is_none_or(|peer| wires[primary].has_room(peer));
    end.connection.on_room(end.connection.primary(), room);
    if !room && !wires[primary].held_up.contains(&index) {
        wires[primary].held_up.push(index);
    }
    let mut path = PathId(0);
    batch.heads.clear();
    batch.packets.clear();
    loop {
        let head = batch.heads.len();
        let Some(departure) = end.connection.poll_departure(now, &mut batch.heads) else { break };
        any = true;
        let mut payload = departure.payload;
        if let Some(part) = payload.filter(|part| part.len() <= COPIED) {
            batch.heads.extend_from_slice(end.connection.payload(&part));
            payload = None;
        }
        let head_bytes = batch.heads.len() - head;
        let part = payload.as_ref().map_or(&[][..], |part| end.connection.payload(part));
        let tag = end.seals.tag(&[&batch.heads[head..], part]);
        let packet = Packet { head, head_bytes, payload };
        let most = most_segments(end, path, wires);
        if !batch.packets.is_empty() && (departure.path != path || !batch.fits(&packet, most)) {
            batch.send(end, path, wires);
            batch.keep_from(head);
        }
        batch.heads.extend(tag);
        path = departure.path;
        batch.packets.push(Packet { head: batch.heads.len() - head_bytes - TAG_BYTES, ..packet });
    }
    if !batch.packets.is_empty() {
        batch.send(end, path, wires);
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

    fn send(&self, end: &End, path: PathId, wires: &mut [Wire]) {
        let Some(peer) = end.peers.get(usize::from(path.0)) else { return };
        let wire = &mut wires[usize::from(path.0)];
        let segment = self.packets[0].bytes();
        if let [Packet { head, payload: None, .. }] = self.packets[..] {
            return wire.send(peer, &[IoSlice::new(&self.heads[head..head + segment])], segment);
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
        wire.send(peer, &pieces, segment);
    }
}

fn most_segments(end: &End, path: PathId, wires: &[Wire]) -> usize {
    let path = usize::from(path.0);
    end.peers.get(path).map_or(1, |peer| wires[path].most_segments(peer))
}
