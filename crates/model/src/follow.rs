//! Experiments with two messages of one pair: whether the second waits behind the first, and what
//! both have together.

use laneway_core::{ANY, Buf, Rank, Round, Schedule, span};

/// The second message of [`Overtake`] has such a part of the bytes.
const SHORT: u64 = 8;

/// The first of two ranks sends a long message and a short one behind it. The other sends a long
/// one back as soon as either is in: the first, where messages of one pair go one after the other,
/// and else the short one. So the answer comes later or sooner by most of a long message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overtake {
    /// Ranks of the communicator, also those that have no part in it.
    pub ranks: u32,
    /// The two.
    pub members: [Rank; 2],
    /// Bytes of the long message.
    pub bytes: u64,
}

impl Schedule for Overtake {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        u64::from(self.members.contains(&rank))
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let ([first, other], short) = (self.members, (self.bytes / SHORT).max(1));
        let (sent, received) = (span(Buf::In, 0, self.bytes), span(Buf::Out, 0, self.bytes));
        if rank == first {
            // Where a long message waits for its receive, the short one must not leave before it.
            out.await_signal(other, 2);
            out.drain();
            out.recv_on(other, 1, received);
            out.send(other, sent);
            out.send(other, span(Buf::In, 0, short));
        } else {
            out.recv(first, received);
            out.recv(first, span(Buf::Out, self.bytes, short));
            out.signal(first, 2);
            out.at_most(ANY, 1);
            out.send_on(first, 1, sent);
        }
    }
}

/// The first of two ranks sends two messages of `bytes` bytes at once, and has an empty answer when
/// both are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Double {
    /// Ranks of the communicator, also those that have no part in it.
    pub ranks: u32,
    /// The two.
    pub members: [Rank; 2],
    /// Bytes of each message.
    pub bytes: u64,
}

impl Schedule for Double {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        u64::from(self.members.contains(&rank))
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let ([first, other], bytes) = (self.members, self.bytes);
        if rank == first {
            out.await_signal(other, 1);
            (0..2).for_each(|_| out.send(other, span(Buf::In, 0, bytes)));
        } else {
            (0..2).for_each(|number| out.recv(first, span(Buf::Out, number * bytes, bytes)));
            out.drain();
            out.signal(first, 1);
        }
    }
}
