//! Messages and the ends that wait for each other, first in, first out on each channel.

use std::collections::BTreeMap;

use laneway_core::{Chan, Rank, Slot};

use crate::carrier::MessageId;

/// "No message follows."
const END: MessageId = MessageId::MAX;

/// One message, from the first of its two ends to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub from: Rank,
    pub to: Rank,
    pub chan: Chan,
    pub bytes: u64,
    pub send: Option<Slot>,
    pub recv: Option<Slot>,
    /// The sender's own cost is paid.
    pub ready: bool,
    /// The receiver has begun to receive.
    pub posted: bool,
    pub departed: bool,
    pub arrived: bool,
    /// When its send was started.
    pub start: f64,
    /// Behind it on its channel, while it waits for its other end.
    next: MessageId,
}

/// Which end of a message a rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Send,
    Recv,
}

/// The messages of a channel that have one end only, and all the same one.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: MessageId,
    last: MessageId,
}

/// All messages; slots are used again, so a run's memory is that of the messages under way.
#[derive(Debug, Default)]
pub(super) struct Matching {
    pub messages: Vec<Message>,
    free: Vec<MessageId>,
    /// By destination, then by source and channel.
    waiting: Vec<BTreeMap<(Rank, Chan), Waiting>>,
    pub matched: u64,
}

impl Matching {
    pub fn new(ranks: u32) -> Matching {
        let waiting = (0..ranks).map(|_| BTreeMap::new()).collect();
        Matching { waiting, ..Matching::default() }
    }

    /// Adds one end of the channel's next message, and says whether it met the other. A caller
    /// compares lengths: the message keeps that of the end that came first.
    pub fn add(
        &mut self,
        end: End,
        (from, to, chan): (Rank, Rank, Chan),
        bytes: u64,
        slot: Slot,
    ) -> (MessageId, bool) {
        let channel = self.waiting[to as usize].get_mut(&(from, chan));
        let met = channel.filter(|waiting| {
            let first = &self.messages[waiting.first as usize];
            if end == End::Send { first.send.is_none() } else { first.recv.is_none() }
        });
        let (id, met) = match met {
            Some(waiting) => {
                let id = waiting.first;
                waiting.first = self.messages[id as usize].next;
                if waiting.first == END {
                    self.waiting[to as usize].remove(&(from, chan));
                }
                self.matched += 1;
                (id, true)
            }
            None => (self.append(from, to, chan, bytes), false),
        };
        let message = &mut self.messages[id as usize];
        match end {
            End::Send => message.send = Some(slot),
            End::Recv => message.recv = Some(slot),
        }
        (id, met)
    }

    /// A new message at the end of its channel.
    fn append(&mut self, from: Rank, to: Rank, chan: Chan, bytes: u64) -> MessageId {
        let message = Message {
            from,
            to,
            chan,
            bytes,
            send: None,
            recv: None,
            ready: false,
            posted: false,
            departed: false,
            arrived: false,
            start: 0.0,
            next: END,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.messages[id as usize] = message;
                id
            }
            None => {
                self.messages.push(message);
                (self.messages.len() - 1) as MessageId
            }
        };
        let new = Waiting { first: id, last: id };
        let waiting = self.waiting[to as usize].entry((from, chan)).or_insert(new);
        if waiting.last != id {
            self.messages[waiting.last as usize].next = id;
            waiting.last = id;
        }
        id
    }

    /// The message is over; its number is free.
    pub fn remove(&mut self, id: MessageId) {
        self.free.push(id);
    }

    /// A message that still waits for its receive, if there is one.
    pub fn unreceived(&self) -> Option<&Message> {
        let firsts = self.waiting.iter().flat_map(|channels| channels.values());
        firsts.map(|w| &self.messages[w.first as usize]).find(|message| message.recv.is_none())
    }
}
