//! The send queue: messages cut into packets, and what is known of each packet.

use std::collections::VecDeque;

use crate::wire::MOST_PATHS;
use crate::{Nanos, PathId};

/// A message that waits for its acknowledgement.
struct Message {
    id: u64,
    bytes: Vec<u8>,
    /// Bytes of it that are in packets.
    cut: usize,
}

/// When and how a packet left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub path: PathId,
    pub serial: u64,
    pub at: Nanos,
}

/// A packet that has arrived, as far as this end knows of it.
pub(crate) struct Arrived {
    pub bytes: u64,
    /// The last time that it left.
    pub sent: Sent,
    /// It was lost, and has not left again.
    pub is_lost: bool,
}

struct Packet {
    message: u64,
    offset: usize,
    len: usize,
    sent: Option<Sent>,
    /// Whether it is to leave again.
    lost: bool,
    arrived: bool,
}

impl Packet {
    fn is_under_way(&self) -> bool {
        self.sent.is_some() && !self.arrived && !self.lost
    }
}

/// Where the bytes of a packet are: a part of a message that waits for its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    message: u64,
    offset: usize,
    len: usize,
}

impl Payload {
    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A packet that leaves now.
pub(crate) struct Part {
    pub number: u64,
    pub first: bool,
    pub last: bool,
    pub payload: Payload,
}

#[derive(Default)]
pub(crate) struct Outgoing {
    messages: VecDeque<Message>,
    /// The number of the first message in `messages`.
    first_message: u64,
    packets: VecDeque<Packet>,
    /// The number of the first packet in `packets`: all before it have arrived.
    base: u64,
    /// The message that the next packet belongs to.
    next_message: u64,
    /// Packets that are to leave again.
    lost: VecDeque<u64>,
    /// What left each path, in that order: serial and packet number.
    left: [VecDeque<(u64, u64)>; MOST_PATHS],
}

impl Outgoing {
    /// Numbers begin here.
    pub fn begin(&mut self, number: u64) {
        *self = Outgoing { base: number, ..Outgoing::default() };
    }

    pub fn push(&mut self, id: u64, bytes: Vec<u8>) {
        self.messages.push_back(Message { id, bytes, cut: 0 });
    }

    /// Whether every message has arrived.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Messages that have not arrived.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    pub fn base(&self) -> u64 {
        self.base
    }

    /// The number that the next new packet gets.
    pub fn next(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// Whether a packet is under way.
    pub fn has_outstanding(&self) -> bool {
        self.oldest_sent_at().is_some()
    }

    /// Whether packets wait to leave, old or (where `fresh`) new ones.
    pub fn wants_to_send(&self, fresh: bool) -> bool {
        !self.lost.is_empty() || fresh && self.first_uncut().is_some()
    }

    /// When the packet left that has waited longest for its acknowledgement.
    pub fn oldest_sent_at(&self) -> Option<Nanos> {
        self.packets.front()?.sent.map(|sent| sent.at)
    }

    /// Bytes of that packet.
    pub fn oldest_bytes(&self) -> usize {
        self.packets.front().map_or(0, |packet| packet.len)
    }

    fn first_uncut(&self) -> Option<&Message> {
        let index = (self.next_message - self.first_message) as usize;
        self.messages.get(index)
    }

    /// The number of the next packet to leave, if any: first what was lost, then (where `fresh`)
    /// new packets of up to `size` bytes.
    pub fn next_to_send(&mut self, size: usize, fresh: bool) -> Option<u64> {
        while let Some(&number) = self.lost.front() {
            let lost = |packet: &Packet| packet.lost && !packet.arrived;
            if number.checked_sub(self.base).is_some_and(|i| lost(&self.packets[i as usize])) {
                return Some(number);
            }
            self.lost.pop_front();
        }
        if fresh { self.cut(size) } else { None }
    }

    /// Cuts the next packet off the messages that wait. Until it is sent, every further call gives
    /// the same packet.
    fn cut(&mut self, size: usize) -> Option<u64> {
        if let Some(packet) = self.packets.back().filter(|packet| packet.sent.is_none()) {
            debug_assert!(!packet.lost);
            return Some(self.next() - 1);
        }
        let (number, message) = (self.next(), self.next_message);
        let index = (message - self.first_message) as usize;
        let waiting = self.messages.get_mut(index)?;
        let offset = waiting.cut;
        let len = size.min(waiting.bytes.len() - offset);
        waiting.cut = offset + len;
        if offset + len == waiting.bytes.len() {
            self.next_message += 1;
        }
        let (sent, lost, arrived) = (None, false, false);
        self.packets.push_back(Packet { message, offset, len, sent, lost, arrived });
        Some(number)
    }

    /// Whether a packet has left before.
    pub fn was_sent(&self, number: u64) -> bool {
        self.packets[(number - self.base) as usize].sent.is_some()
    }

    /// Bytes of a packet.
    pub fn len(&self, number: u64) -> usize {
        self.packets[(number - self.base) as usize].len
    }

    /// A packet leaves.
    pub fn on_sent(&mut self, number: u64, path: PathId, serial: u64, at: Nanos) -> Part {
        let packet = &mut self.packets[(number - self.base) as usize];
        packet.sent = Some(Sent { path, serial, at });
        packet.lost = false;
        self.left[usize::from(path.0)].push_back((serial, number));
        if self.lost.front() == Some(&number) {
            self.lost.pop_front();
        }
        let message = &self.messages[(packet.message - self.first_message) as usize];
        let end = packet.offset + packet.len;
        Part {
            number,
            first: packet.offset == 0,
            last: end == message.bytes.len(),
            payload: Payload { message: packet.message, offset: packet.offset, len: packet.len },
        }
    }

    /// The bytes of a packet that left; none when its message has arrived.
    pub fn payload(&self, payload: &Payload) -> &[u8] {
        let index = payload.message.wrapping_sub(self.first_message);
        let message = usize::try_from(index).ok().and_then(|index| self.messages.get(index));
        let range = payload.offset..payload.offset + payload.len;
        message.and_then(|message| message.bytes.get(range)).unwrap_or_default()
    }

    /// Everything before `expects` has arrived, and these packets after it. Calls `settled` for
    /// each packet that had not arrived before.
    pub fn on_ack(
        &mut self,
        expects: u64,
        early: impl Iterator<Item = std::ops::Range<u64>>,
        mut settled: impl FnMut(Arrived),
    ) {
        let mut arrive = |packet: &mut Packet| {
            if packet.arrived {
                return;
            }
            packet.arrived = true;
            if let Some(sent) = packet.sent {
                settled(Arrived { bytes: packet.len as u64, sent, is_lost: packet.lost });
            }
        };
        let end = self.next();
        for number in early.flat_map(|range| range.start.max(self.base)..range.end.min(end)) {
            arrive(&mut self.packets[(number - self.base) as usize]);
        }
        while self.base < expects {
            let Some(mut packet) = self.packets.pop_front() else { break };
            arrive(&mut packet);
            self.base += 1;
        }
        for left in &mut self.left {
            while left.front().is_some_and(|(_, number)| *number < self.base) {
                left.pop_front();
            }
        }
    }

    /// The next message all of whose packets have arrived.
    pub fn pop_done(&mut self) -> Option<(u64, Vec<u8>)> {
        let under_way = self.packets.front().map_or(self.next_message, |packet| packet.message);
        if under_way == self.first_message {
            return None;
        }
        self.first_message += 1;
        self.messages.pop_front().map(|message| (message.id, message.bytes))
    }

    /// Packets that left a path before this serial number, at this time at the latest, are lost
    /// unless they have arrived. Calls `lost` with the bytes of each. Returns when the next one
    /// left that may be lost.
    pub fn lose(
        &mut self,
        path: PathId,
        before: u64,
        left_until: Nanos,
        mut lost: impl FnMut(u64),
    ) -> Option<Nanos> {
        let left = &mut self.left[usize::from(path.0)];
        while let Some(&(serial, number)) = left.front().filter(|(serial, _)| *serial < before) {
            let index = number.checked_sub(self.base).map(|index| index as usize);
            if let Some(packet) = index.and_then(|index| self.packets.get_mut(index))
                && let Some(sent) = packet.sent.filter(|s| s.path == path && s.serial == serial)
                && packet.is_under_way()
            {
                if sent.at > left_until {
                    return Some(sent.at);
                }
                packet.lost = true;
                insert(&mut self.lost, number);
                lost(packet.len as u64);
            }
            left.pop_front();
        }
        None
    }

    /// Gives up on everything that is under way.
    pub fn lose_all(&mut self) {
        for (index, packet) in self.packets.iter_mut().enumerate() {
            if packet.is_under_way() {
                packet.lost = true;
                self.lost.push_back(self.base + index as u64);
            }
        }
        self.lost.make_contiguous().sort_unstable();
    }

    /// Gives up on the oldest packet under way: its path and bytes.
    pub fn lose_oldest(&mut self) -> Option<(PathId, u64)> {
        let index = self.packets.iter().position(Packet::is_under_way)?;
        let packet = &mut self.packets[index];
        packet.lost = true;
        self.lost.push_front(self.base + index as u64);
        packet.sent.map(|sent| (sent.path, packet.len as u64))
    }

    /// The messages that will not be sent any more.
    pub fn flush(&mut self) -> Vec<u64> {
        let ids = self.messages.iter().map(|message| message.id).collect();
        self.begin(self.base);
        ids
    }
}

/// Keeps numbers in order. The lowest is sent first: the receiver waits for it, and reports what it
/// has nearest to that.
fn insert(lost: &mut VecDeque<u64>, number: u64) {
    match lost.back() {
        Some(last) if *last > number => {
            lost.insert(lost.partition_point(|other| *other < number), number);
        }
        _ => lost.push_back(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a ping-pong acknowledgements travel with data, and no echo ever says what a path carried.
    #[test]
    fn nothing_is_kept_of_what_has_arrived() {
        let mut outgoing = Outgoing::default();
        for serial in 0..10_000 {
            outgoing.push(serial, vec![0; 8]);
            let number = outgoing.next_to_send(100, true).expect("a message waits");
            outgoing.on_sent(number, PathId(0), serial, serial);
            outgoing.on_ack(number + 1, std::iter::empty(), |_| {});
            assert_eq!(outgoing.pop_done(), Some((serial, vec![0; 8])));
        }
        let kept: usize = outgoing.left.iter().map(VecDeque::len).sum();
        assert_eq!((kept, outgoing.packets.len(), outgoing.lost.len()), (0, 0, 0));
    }
}
