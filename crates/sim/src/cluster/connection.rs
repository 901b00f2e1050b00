//! Connections of TCP between hosts: messages one after the other, and what is lost where too much
//! arrives at once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use laneway_stats::SplitMix64;

use crate::carrier::MessageId;
use crate::instant::after;
use crate::network::{HostId, Overflow};

/// One of the connections from a host to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub from: HostId,
    pub to: HostId,
    pub number: u32,
}

/// The messages of a connection; the first is on the network.
#[derive(Clone, Debug)]
struct Line {
    first: MessageId,
    last: MessageId,
    /// It lost something since it was idle: now it sends carefully.
    lost: bool,
}

/// How a message fares on its connection.
pub(super) struct Joined {
    /// When it may leave.
    pub left: f64,
    /// Whether it counts towards what its receiver can hold.
    pub held: bool,
    /// Whether nothing is before it.
    pub first: bool,
}

/// All connections that carry something.
#[derive(Debug)]
pub(super) struct Connections {
    /// By their sender, then by receiver and number: few at a time.
    lines: Vec<BTreeMap<(HostId, u32), Line>>,
    /// The message behind each one, by its number; of the last of a line it means nothing.
    behind: Vec<MessageId>,
    overflow: Option<Overflow>,
    /// Eager bytes on their way to each host, or there and not yet received.
    held: Vec<u64>,
    /// Whether the burst to each host loses what is too much.
    loses: Vec<bool>,
    draws: SplitMix64,
}

impl Connections {
    pub fn new(hosts: u32, overflow: Option<Overflow>) -> Connections {
        let (held, loses) = (vec![0; hosts as usize], vec![true; hosts as usize]);
        let draws = SplitMix64::new(overflow.map_or(0, |overflow| overflow.seed));
        Connections {
            lines: vec![BTreeMap::new(); hosts as usize],
            behind: Vec::new(),
            overflow,
            held,
            loses,
            draws,
        }
    }

    /// A message is ready to leave.
    pub fn join(
        &mut self,
        now: f64,
        on: Connection,
        id: MessageId,
        eager_bytes: Option<u64>,
    ) -> Joined {
        let lines = &mut self.lines[on.from as usize];
        let line =
            lines.entry((on.to, on.number)).or_insert(Line { first: id, last: id, lost: false });
        let first = line.first == id;
        if !first {
            if self.behind.len() <= line.last as usize {
                self.behind.resize(line.last as usize + 1, 0);
            }
            self.behind[line.last as usize] = id;
            line.last = id;
        }
        let (Some(overflow), Some(bytes)) = (self.overflow, eager_bytes) else {
            return Joined { left: now, held: false, first };
        };
        let Overflow { buffer, retransmit, part, .. } = overflow;
        let (held, loses) = (&mut self.held[on.to as usize], &mut self.loses[on.to as usize]);
        if *held == 0 && part < 1.0 {
            *loses = self.draws.uniform() < part;
        }
        if held.saturating_add(bytes) > buffer && *loses && !line.lost {
            line.lost = true;
            return Joined { left: after(now, retransmit), held: false, first };
        }
        *held = held.saturating_add(bytes);
        Joined { left: now, held: true, first }
    }

    /// The first message has arrived; the one behind it.
    pub fn arrived(&mut self, on: Connection) -> Option<MessageId> {
        let lines = &mut self.lines[on.from as usize];
        let Entry::Occupied(mut line) = lines.entry((on.to, on.number)) else { return None };
        let Line { first, last, .. } = line.get_mut();
        if first == last {
            line.remove();
            return None;
        }
        *first = self.behind[*first as usize];
        Some(*first)
    }

    /// A message that was held has been received.
    pub fn received(&mut self, host: HostId, bytes: u64) {
        let held = &mut self.held[host as usize];
        *held = held.saturating_sub(bytes);
    }
}
