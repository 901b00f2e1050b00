//! Matches messages with posted receives: by source, context and tag, in the order of both.

use std::collections::VecDeque;

use laneway_core::{Message, Rank, Slot, Tag};

/// The owner of a transfer: a set of transfers, and the slot within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub queue: u32,
    pub slot: Slot,
}

/// The buffer of a posted receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecvBuffer {
    pub into: *mut u8,
    pub room: usize,
    /// Both ends know the length: a shorter message is a mistake as well.
    pub exact: bool,
    pub owner: Owner,
}

/// The pattern of a receive; `None` is any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    pub context: u32,
    pub from: Option<Rank>,
    pub tag: Option<Tag>,
}

impl Pattern {
    fn fits(&self, context: u32, from: Rank, tag: Tag) -> bool {
        self.context == context
            && self.from.is_none_or(|wanted| wanted == from)
            && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

struct PostedRecv {
    context: u32,
    tag: Tag,
    recv: RecvBuffer,
}

/// The content of an unexpected message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// What has arrived of it so far.
    Bytes(Vec<u8>),
    /// It waits at its sender.
    Offer { offer: u32, slot: u32 },
}

/// An unexpected message: it came before its receive.
#[derive(Debug)]
pub(crate) struct Unexpected {
    pub from: Rank,
    pub context: u32,
    pub tag: Tag,
    pub len: u64,
    pub body: Body,
    /// Arrival, counted over all sources.
    order: u64,
}

/// Receives without a message, and messages without a receive.
pub(crate) struct Matcher {
    posted: Vec<VecDeque<PostedRecv>>,
    /// The one blocking receive. A process has one thread, so it was posted last of all.
    blocking: Option<(Pattern, RecvBuffer)>,
    unexpected: Vec<VecDeque<Unexpected>>,
    unexpected_count: usize,
    arrivals: u64,
}

impl Matcher {
    pub fn new(size: u32) -> Matcher {
        Matcher {
            posted: (0..size).map(|_| VecDeque::new()).collect(),
            blocking: None,
            unexpected: (0..size).map(|_| VecDeque::new()).collect(),
            unexpected_count: 0,
            arrivals: 0,
        }
    }

    /// The receive that a message belongs to.
    #[inline]
    pub fn arrive(&mut self, from: Rank, context: u32, tag: Tag) -> Option<RecvBuffer> {
        let list = &mut self.posted[from as usize];
        if let Some(at) =
            list.iter().position(|posted| posted.tag == tag && posted.context == context)
        {
            return list.remove(at).map(|posted| posted.recv);
        }
        match self.blocking {
            Some((pattern, recv)) if pattern.fits(context, from, tag) => {
                self.blocking = None;
                Some(recv)
            }
            _ => None,
        }
    }

    /// Keeps a message for its receive.
    pub fn push_unexpected(&mut self, from: Rank, context: u32, tag: Tag, len: u64, body: Body) {
        self.arrivals += 1;
        self.unexpected_count += 1;
        let order = self.arrivals;
        self.unexpected[from as usize].push_back(Unexpected {
            from,
            context,
            tag,
            len,
            body,
            order,
        });
    }

    /// The content of the message that came last from a peer, which may still be arriving.
    pub fn last_unexpected(&mut self, from: Rank) -> Option<&mut Body> {
        self.unexpected[from as usize].back_mut().map(|unexpected| &mut unexpected.body)
    }

    /// The first message that fits, and whether it is the last one that came from its source.
    #[inline]
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Unexpected, bool)> {
        if self.unexpected_count == 0 {
            return None;
        }
        let (from, at) = self.find(pattern)?;
        let list = &mut self.unexpected[from as usize];
        let last = at + 1 == list.len();
        let unexpected = list.remove(at)?;
        self.unexpected_count -= 1;
        Some((unexpected, last))
    }

    /// The first message that fits, left where it is.
    pub fn peek(&self, pattern: &Pattern) -> Option<Message> {
        let (from, at) = self.find(pattern)?;
        let unexpected = &self.unexpected[from as usize][at];
        Some(Message { from, tag: unexpected.tag, len: unexpected.len })
    }

    fn find(&self, pattern: &Pattern) -> Option<(Rank, usize)> {
        let first_of = |from: Rank| {
            let list = &self.unexpected[from as usize];
            let at = list.iter().position(|p| pattern.fits(p.context, p.from, p.tag))?;
            Some((list[at].order, from, at))
        };
        let first = match pattern.from {
            Some(from) => first_of(from),
            None => (0..self.unexpected.len() as Rank).filter_map(first_of).min(),
        };
        first.map(|(_, from, at)| (from, at))
    }

    #[inline]
    pub fn post(&mut self, from: Rank, context: u32, tag: Tag, recv: RecvBuffer) {
        self.posted[from as usize].push_back(PostedRecv { context, tag, recv });
    }

    pub fn post_blocking(&mut self, pattern: Pattern, recv: RecvBuffer) {
        self.blocking = Some((pattern, recv));
    }

    /// The tag of the first posted receive from `from`.
    pub fn awaited(&self, from: Rank) -> Option<Option<Tag>> {
        if let Some(posted) = self.posted[from as usize].front() {
            return Some(Some(posted.tag));
        }
        match &self.blocking {
            Some((pattern, _)) if pattern.from == Some(from) => Some(pattern.tag),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recv(slot: Slot) -> RecvBuffer {
        RecvBuffer {
            into: std::ptr::null_mut(),
            room: 0,
            exact: false,
            owner: Owner { queue: 1, slot },
        }
    }

    fn pattern(from: Option<Rank>, tag: Option<Tag>) -> Pattern {
        Pattern { context: 7, from, tag }
    }

    #[test]
    fn receives_are_matched_in_the_order_posted() {
        let mut matcher = Matcher::new(3);
        matcher.post(1, 7, 5, recv(0));
        matcher.post(1, 7, 6, recv(1));
        matcher.post(1, 7, 5, recv(2));
        matcher.post_blocking(pattern(None, Some(5)), recv(3));
        let slot = |found: Option<RecvBuffer>| found.map(|recv| recv.owner.slot);
        assert_eq!(slot(matcher.arrive(1, 8, 5)), None);
        assert_eq!(slot(matcher.arrive(1, 7, 6)), Some(1));
        assert_eq!(slot(matcher.arrive(1, 7, 5)), Some(0));
        assert_eq!(slot(matcher.arrive(1, 7, 5)), Some(2));
        assert_eq!(slot(matcher.arrive(2, 7, 5)), Some(3));
        assert_eq!(slot(matcher.arrive(2, 7, 5)), None);
    }

    #[test]
    fn messages_are_taken_in_the_order_of_arrival() {
        let mut matcher = Matcher::new(3);
        for (from, tag, len) in [(2, 1, 10), (1, 1, 11), (2, 1, 12), (2, 4, 13)] {
            matcher.push_unexpected(from, 7, tag, len, Body::Offer { offer: 0, slot: 0 });
        }
        let mut taken =
            |from, tag| matcher.take(&pattern(from, tag)).map(|(p, last)| (p.len, last));
        assert_eq!(taken(Some(2), Some(4)), Some((13, true)));
        assert_eq!(taken(None, None), Some((10, false)));
        assert_eq!(taken(None, Some(1)), Some((11, true)));
        assert_eq!(taken(Some(1), None), None);
        assert_eq!(taken(Some(2), None), Some((12, true)));
        assert_eq!(taken(None, None), None);
    }
}
