//! Messages and the ends that wait for each other, first in, first out on each stream.
//!
//! A stream is all that goes from one rank to another under one label. A receive of one stream
//! meets the next message at once, wherever that is. A receive that leaves the sender or the label
//! open takes what is there first, so it waits until a message can be seen at its receiver. Of two
//! receives that a message would suit, the one that was posted first has it, as in MPI.

use std::collections::BTreeMap;

use laneway_core::{Rank, Slot};

use crate::carrier::MessageId;

/// "No message follows."
const END: MessageId = MessageId::MAX;

/// Streams of a receiver that are kept without messages.
const MOST_KEPT: usize = 16;

/// Tells the streams between two ranks apart: a channel, or a communicator and a tag.
pub(crate) type Label = u64;

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub from: Rank,
    pub to: Rank,
    pub label: Label,
}

/// What a receive takes: one rank's messages or any rank's, with a label that agrees with `label`
/// in the bits of `mask`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    pub from: Option<Rank>,
    pub label: Label,
    pub mask: Label,
}

impl Pattern {
    fn takes(&self, (from, label): (Rank, Label)) -> bool {
        self.from.is_none_or(|wanted| wanted == from) && (label ^ self.label) & self.mask == 0
    }

    /// The one stream that it names, if it names one.
    fn stream(&self) -> Option<(Rank, Label)> {
        self.from.filter(|_| self.mask == Label::MAX).map(|from| (from, self.label))
    }
}

/// One message, from the first of its two ends to the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub envelope: Envelope,
    /// As sent; nothing before the send is there.
    pub bytes: u64,
    /// What its receive has room for.
    pub room: u64,
    pub send: Option<Slot>,
    pub recv: Option<Slot>,
    /// The sender's own cost is paid.
    pub ready: bool,
    /// The receiver has begun to receive.
    pub posted: bool,
    pub departed: bool,
    /// It is on the network.
    pub moving: bool,
    pub arrived: bool,
    /// When its send was started, and when it may leave.
    pub start: f64,
    pub left: f64,
    /// It counts towards what its receiver can hold.
    pub held: bool,
    /// When its receiver could see it, counted over all messages; 0 before.
    seen: u64,
    /// When its receive was posted, counted over all receives.
    order: u64,
    /// Behind it in its stream, while it waits for its other end.
    next: MessageId,
}

/// Messages that wait in the order of their coming.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: MessageId,
    last: MessageId,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { first: END, last: END }
    }
}

impl Waiting {
    fn push(&mut self, messages: &mut [Message], id: MessageId) {
        match self.first {
            END => self.first = id,
            _ => messages[self.last as usize].next = id,
        }
        self.last = id;
    }

    fn first(&self) -> Option<MessageId> {
        (self.first != END).then_some(self.first)
    }

    fn pop(&mut self, messages: &[Message]) {
        self.first = messages[self.first as usize].next;
    }
}

/// A stream whose messages lack one end: sends without receives, or receives without sends; both
/// only where an open receive has the first right to the next message.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    sends: Waiting,
    recvs: Waiting,
}

/// All messages; numbers are used again, so a run's memory is that of the messages under way.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    pub messages: Vec<Message>,
    free: Vec<MessageId>,
    /// By destination, then by source and label.
    streams: Vec<BTreeMap<(Rank, Label), Stream>>,
    /// By destination: receives that name no single stream, in the order of their posting.
    open: Vec<Vec<(Pattern, MessageId)>>,
    posted: u64,
    seen: u64,
    pub matched: u64,
}

impl Matching {
    pub fn new(ranks: u32) -> Matching {
        let streams = (0..ranks).map(|_| BTreeMap::new()).collect();
        Matching { streams, open: vec![Vec::new(); ranks as usize], ..Matching::default() }
    }

    /// A message without either end.
    pub fn insert(&mut self, envelope: Envelope, bytes: u64) -> MessageId {
        let message = Message {
            envelope,
            bytes,
            room: 0,
            send: None,
            recv: None,
            ready: false,
            posted: false,
            departed: false,
            moving: false,
            arrived: false,
            start: 0.0,
            left: 0.0,
            held: false,
            seen: 0,
            order: 0,
            next: END,
        };
        match self.free.pop() {
            Some(id) => {
                self.messages[id as usize] = message;
                id
            }
            None => {
                self.messages.push(message);
                (self.messages.len() - 1) as MessageId
            }
        }
    }

    /// Adds the send of the stream's next message.
    pub fn send(&mut self, envelope: Envelope, bytes: u64, slot: Slot) -> MessageId {
        let Envelope { from, to, label } = envelope;
        let key = (from, label);
        let stream = self.streams[to as usize].get_mut(&key);
        let waiting = stream.and_then(|stream| stream.recvs.first());
        let free = waiting.filter(|recv| self.first_open(to, key, *recv).is_none());
        let id = match free {
            Some(recv) => {
                self.take_recv(to, key);
                self.matched += 1;
                recv
            }
            None => {
                let id = self.insert(envelope, bytes);
                let stream = self.streams[to as usize].entry(key).or_default();
                stream.sends.push(&mut self.messages, id);
                id
            }
        };
        let message = &mut self.messages[id as usize];
        (message.send, message.bytes) = (Some(slot), bytes);
        id
    }

    /// Adds a receive of a rank. A caller compares lengths.
    pub fn recv(&mut self, to: Rank, pattern: Pattern, room: u64, slot: Slot) -> MessageId {
        self.posted += 1;
        let id = match (self.next(to, pattern), pattern.stream()) {
            (Some(id), _) => {
                let Envelope { from, label, .. } = self.messages[id as usize].envelope;
                self.take_send(to, (from, label));
                self.matched += 1;
                id
            }
            (None, Some((from, label))) => {
                let id = self.insert(Envelope { from, to, label }, 0);
                let stream = self.streams[to as usize].entry((from, label)).or_default();
                stream.recvs.push(&mut self.messages, id);
                id
            }
            (None, None) => {
                let id = self.insert(Envelope { from: 0, to, label: 0 }, 0);
                self.open[to as usize].push((pattern, id));
                id
            }
        };
        let message = &mut self.messages[id as usize];
        (message.recv, message.room, message.order) = (Some(slot), room, self.posted);
        id
    }

    /// The message that a receive would have now: of one stream its next one, of many the one that
    /// could be seen first.
    fn next(&self, to: Rank, pattern: Pattern) -> Option<MessageId> {
        match pattern.stream() {
            Some(key) => {
                let first = self.streams[to as usize].get(&key)?.sends.first()?;
                let claimed = self.open[to as usize].iter().any(|(open, _)| open.takes(key));
                (!claimed).then_some(first)
            }
            None => self.visible(to, pattern),
        }
    }

    /// The message that a rank could see first, of those that no receive has a right to.
    pub fn visible(&self, to: Rank, pattern: Pattern) -> Option<MessageId> {
        let streams = self.streams[to as usize].iter();
        let open = &self.open[to as usize];
        let free = streams.filter(|(key, stream)| {
            let claimed = open.iter().any(|(open, _)| open.takes(**key));
            pattern.takes(**key) && !claimed && stream.recvs.first().is_none()
        });
        let firsts = free.filter_map(|(_, stream)| stream.sends.first());
        let seen = |id: &MessageId| self.messages[*id as usize].seen;
        firsts.filter(|id| seen(id) > 0).min_by_key(seen)
    }

    /// A message without a receive can be seen by its receiver now. Gives the messages that thereby
    /// have both ends, which are more than one where others of its stream were seen before it.
    pub fn see(&mut self, id: MessageId, met: &mut Vec<MessageId>) {
        self.seen += 1;
        let message = &mut self.messages[id as usize];
        message.seen = self.seen;
        let Envelope { from, to, label } = message.envelope;
        let key = (from, label);
        if self.open[to as usize].is_empty() {
            return;
        }
        // The first receive has the stream's next message; an open receive once it is seen.
        while let Some(stream) = self.streams[to as usize].get(&key) {
            let Some(first) = stream.sends.first() else { break };
            let recv = stream.recvs.first();
            let open = self.first_open(to, key, recv.unwrap_or(END));
            let taken = match (open, recv) {
                (Some(_), _) if self.messages[first as usize].seen == 0 => break,
                (Some(place), _) => self.open[to as usize].remove(place).1,
                (None, Some(recv)) => {
                    self.take_recv(to, key);
                    recv
                }
                (None, None) => break,
            };
            self.take_send(to, key);
            self.matched += 1;
            let Message { recv, room, posted, .. } = self.messages[taken as usize];
            self.free.push(taken);
            let message = &mut self.messages[first as usize];
            (message.recv, message.room, message.posted) = (recv, room, posted);
            met.push(first);
        }
    }

    /// The first open receive that suits a stream and was posted before this one, if given.
    fn first_open(&self, to: Rank, key: (Rank, Label), before: MessageId) -> Option<usize> {
        let order = |id: MessageId| self.messages.get(id as usize).map_or(u64::MAX, |m| m.order);
        let before = order(before);
        let suits = |(open, id): &(Pattern, MessageId)| open.takes(key) && order(*id) < before;
        self.open[to as usize].iter().position(suits)
    }

    fn take_send(&mut self, to: Rank, key: (Rank, Label)) {
        self.take(to, key, |stream| &mut stream.sends);
    }

    fn take_recv(&mut self, to: Rank, key: (Rank, Label)) {
        self.take(to, key, |stream| &mut stream.recvs);
    }

    fn take(&mut self, to: Rank, key: (Rank, Label), of: fn(&mut Stream) -> &mut Waiting) {
        let Some(stream) = self.streams[to as usize].get_mut(&key) else { return };
        of(stream).pop(&self.messages);
        let is_idle = stream.sends.first().is_none() && stream.recvs.first().is_none();
        // Most streams are used again: they are kept while there are few.
        if is_idle && self.streams[to as usize].len() > MOST_KEPT {
            self.streams[to as usize].remove(&key);
        }
    }

    /// The message is over; its number is free.
    pub fn remove(&mut self, id: MessageId) {
        self.free.push(id);
    }

    /// A message that still waits for its receive, if there is one.
    pub fn unreceived(&self) -> Option<&Message> {
        let streams = self.streams.iter().flat_map(|streams| streams.values());
        let first = streams.filter_map(|stream| stream.sends.first()).next()?;
        Some(&self.messages[first as usize])
    }
}
