//! The receive queue: packets put in order, messages put together.

use std::collections::VecDeque;

use crate::congestion::MOST_PACKETS;
use crate::number::is_held_back;
use crate::wire::{MOST_RANGES, Range};

/// Packets that are held back until those before them arrive, at most.
const MOST_EARLY: u64 = 2 * MOST_PACKETS as u64;

struct Early {
    first: bool,
    last: bool,
    bytes: Box<[u8]>,
}

/// A receive that was posted, or a message that has arrived: its name and its bytes, as many as the
/// buffer has room for at most.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Receive {
    pub id: u64,
    pub bytes: Vec<u8>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The next one, or one that closes a gap.
    InOrder,
    /// One behind a gap.
    Early,
    /// It was there before, or is too far ahead.
    Refused,
    /// It was held back on its way for longer than any window.
    HeldBack,
    /// It begins a message without a posted receive.
    NotReady,
    /// A message is longer than its receive, or its parts do not fit together.
    Broken,
}

#[derive(Default)]
pub(crate) struct Incoming {
    /// The next packet number.
    expects: u64,
    /// Packets that came early, at their distance from the next packet number; in the first place a
    /// packet whose message has no posted receive. Nothing here is ever dropped: the peer may know
    /// of it.
    early: VecDeque<Option<Early>>,
    /// How many these are.
    held: usize,
    receives: VecDeque<Receive>,
    /// The message whose first packet has come.
    current: Option<Receive>,
    arrived: VecDeque<Receive>,
}

impl Incoming {
    /// Numbers begin here; what was posted stays.
    pub fn begin(&mut self, number: u64) {
        let receives = std::mem::take(&mut self.receives);
        *self = Incoming { expects: number, receives, ..Incoming::default() };
    }

    pub fn expects(&self) -> u64 {
        self.expects
    }

    /// What becomes of a packet that waited for it.
    pub fn post(&mut self, id: u64, mut bytes: Vec<u8>) -> Taken {
        bytes.clear();
        self.receives.push_back(Receive { id, bytes });
        self.advance()
    }

    /// The receives that nothing will come for.
    pub fn flush(&mut self) -> Vec<u64> {
        let current = self.current.take().map(|message| message.id);
        current.into_iter().chain(self.receives.drain(..).map(|receive| receive.id)).collect()
    }

    pub fn pop(&mut self) -> Option<Receive> {
        self.arrived.pop_front()
    }

    pub fn on_data(&mut self, number: u64, first: bool, last: bool, bytes: &[u8]) -> Taken {
        if is_held_back(number, self.expects) {
            return Taken::HeldBack;
        }
        let Some(ahead) = number.checked_sub(self.expects) else { return Taken::Refused };
        if ahead > MOST_EARLY {
            return Taken::Refused;
        }
        let waits = self.waits_for_receive();
        if ahead == 0 && !waits {
            let taken = self.append(first, last, bytes);
            match taken {
                Taken::InOrder => {
                    self.early.pop_front();
                    return self.advance();
                }
                Taken::NotReady => {}
                other => return other,
            }
        }
        let held = self.hold(ahead as usize, Early { first, last, bytes: bytes.into() });
        if ahead == 0 { Taken::NotReady } else { held }
    }

    /// Keeps a packet that came early.
    fn hold(&mut self, index: usize, packet: Early) -> Taken {
        if self.early.len() <= index {
            self.early.resize_with(index + 1, || None);
        }
        let place = &mut self.early[index];
        if place.is_some() {
            return Taken::Refused;
        }
        *place = Some(packet);
        self.held += 1;
        Taken::Early
    }

    /// Takes the next packet.
    fn append(&mut self, first: bool, last: bool, bytes: &[u8]) -> Taken {
        if first != self.current.is_none() {
            return Taken::Broken;
        }
        let mut message = match self.current.take() {
            Some(message) => message,
            None => match self.receives.pop_front() {
                Some(receive) => receive,
                None => return Taken::NotReady,
            },
        };
        if message.bytes.capacity() - message.bytes.len() < bytes.len() {
            self.current = Some(message);
            return Taken::Broken;
        }
        message.bytes.extend_from_slice(bytes);
        self.expects += 1;
        if last {
            self.arrived.push_back(message);
        } else {
            self.current = Some(message);
        }
        Taken::InOrder
    }

    /// Takes what came early and is due now.
    fn advance(&mut self) -> Taken {
        while let Some(packet) = self.early.front_mut().and_then(Option::take) {
            let taken = self.append(packet.first, packet.last, &packet.bytes);
            if taken != Taken::InOrder {
                self.early[0] = Some(packet);
                return taken;
            }
            self.held -= 1;
            self.early.pop_front();
        }
        Taken::InOrder
    }

    /// Whether the next packet has come, and waits for a receive.
    pub fn waits_for_receive(&self) -> bool {
        self.early.front().is_some_and(Option::is_some)
    }

    /// Whether a receive is posted for the next message that begins.
    pub fn has_receive(&self) -> bool {
        !self.receives.is_empty()
    }

    pub fn has_early(&self) -> bool {
        self.held > 0
    }

    /// What came early, for an acknowledgement: the nearest first.
    pub fn early(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        let held = self.early.iter().enumerate().skip(1).filter(|(_, early)| early.is_some());
        for (index, _) in held {
            let after = index as u32;
            let full = ranges.len() == MOST_RANGES;
            match ranges.last_mut().filter(|range| range.after + range.count == after) {
                Some(range) => range.count += 1,
                None if full => break,
                None => ranges.push(Range { after, count: 1 }),
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_receives(count: u64) -> Incoming {
        let mut incoming = Incoming::default();
        for id in 0..count {
            incoming.post(id, Vec::with_capacity(4));
        }
        incoming
    }

    #[test]
    fn packets_in_any_order_make_messages_in_order() {
        let mut incoming = with_receives(2);
        assert_eq!(incoming.on_data(2, true, true, b"c"), Taken::Early);
        assert_eq!(incoming.on_data(2, true, true, b"c"), Taken::Refused);
        assert_eq!(incoming.on_data(1, false, true, b"b"), Taken::Early);
        assert_eq!(incoming.early(), [Range { after: 1, count: 2 }]);
        assert_eq!(incoming.on_data(0, true, false, b"a"), Taken::InOrder);
        assert_eq!(incoming.on_data(0, true, false, b"a"), Taken::Refused);
        assert_eq!(incoming.on_data(4, true, true, b""), Taken::Early);
        assert_eq!(incoming.on_data(3, true, true, b""), Taken::NotReady, "two receives only");
        assert_eq!(incoming.pop(), Some(Receive { id: 0, bytes: b"ab".to_vec() }));
        assert_eq!(incoming.pop(), Some(Receive { id: 1, bytes: b"c".to_vec() }));
        assert_eq!(incoming.pop(), None);
        assert_eq!(incoming.expects(), 3);
    }

    #[test]
    fn a_message_waits_for_its_receive() {
        let mut incoming = with_receives(0);
        assert_eq!(incoming.on_data(0, true, true, b"a"), Taken::NotReady);
        assert_eq!(incoming.on_data(0, true, true, b"a"), Taken::NotReady, "it comes again");
        assert_eq!(incoming.on_data(1, true, true, b"b"), Taken::Early);
        assert_eq!(incoming.post(7, Vec::with_capacity(1)), Taken::NotReady, "one too few");
        assert_eq!(incoming.on_data(0, true, true, b"a"), Taken::Refused);
        assert_eq!(incoming.post(8, Vec::with_capacity(1)), Taken::InOrder);
        assert_eq!(incoming.pop(), Some(Receive { id: 7, bytes: b"a".to_vec() }));
    }

    #[test]
    fn what_does_not_fit_breaks_the_connection() {
        let mut incoming = with_receives(1);
        assert_eq!(incoming.on_data(0, false, true, b"a"), Taken::Broken);
        assert_eq!(incoming.on_data(0, true, false, b"abc"), Taken::InOrder);
        assert_eq!(incoming.on_data(1, true, true, b"d"), Taken::Broken);
        assert_eq!(incoming.on_data(1, false, true, b"de"), Taken::Broken);
        assert_eq!(incoming.on_data(1 + MOST_EARLY + 1, true, true, b""), Taken::Refused);
    }
}
