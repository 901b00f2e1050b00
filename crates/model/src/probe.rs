//! Experiments that are schedules: run over a communicator and read on a model alike.
//!
//! Both begin and end at one rank, which measures them by its own clock.

use laneway_core::{Buf, Rank, Round, Schedule, Step, span};

/// Whether the bytes leave the first rank or come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// They leave it.
    Out,
    /// They come to it.
    In,
}

/// The first member sends a message to each of the others, all at once, and has an empty answer
/// of each (point-to-two, for three members); or it asks each by an empty message, and has the
/// bytes of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fan {
    /// Ranks of the communicator, also those that have no part in it.
    pub ranks: u32,
    /// Who has a part in it.
    pub members: Vec<Rank>,
    /// Bytes of each message that has some.
    pub bytes: u64,
    /// Which way they go.
    pub direction: Direction,
}

impl Fan {
    fn hub(&self) -> Rank {
        self.members.first().copied().unwrap_or(0)
    }
}

impl Schedule for Fan {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        u64::from(self.members.contains(&rank))
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let sent = span(Buf::In, 0, self.bytes);
        if rank != self.hub() {
            match self.direction {
                Direction::Out => out.recv(self.hub(), span(Buf::Out, 0, self.bytes)),
                Direction::In => out.await_signal(self.hub(), 1),
            }
            out.drain();
            match self.direction {
                Direction::Out => out.signal(self.hub(), 1),
                Direction::In => out.send(self.hub(), sent),
            }
            return;
        }
        let others = || self.members.iter().skip(1).zip(0u64..);
        for (&other, number) in others() {
            match self.direction {
                Direction::Out => out.await_signal(other, 1),
                Direction::In => out.recv(other, span(Buf::Out, number * self.bytes, self.bytes)),
            }
        }
        for (&other, _) in others() {
            match self.direction {
                Direction::Out => out.send(other, sent),
                Direction::In => out.signal(other, 1),
            }
        }
    }
}

/// The first member sends a message to each of the others at once, and each sends as much back as
/// soon as it has it. Which of them is served first shows in what all of it takes: where ways of
/// short latency have more of a card, where headers fill it, and where one direction slows the
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Echo {
    /// Ranks of the communicator, including those without a part in it.
    pub ranks: u32,
    /// The ranks with a part in it.
    pub members: Vec<Rank>,
    /// Bytes of each message.
    pub bytes: u64,
}

impl Echo {
    /// Among these members of so many ranks; the first of them leads.
    pub fn new(ranks: u32, members: Vec<Rank>, bytes: u64) -> Echo {
        Echo { ranks, members, bytes }
    }
}

impl Schedule for Echo {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, rank: Rank, _lane: u32) -> u64 {
        u64::from(self.members.contains(&rank))
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let (sent, hub) = (span(Buf::In, 0, self.bytes), self.members.first().copied());
        let hub = hub.unwrap_or(0);
        if rank != hub {
            out.recv(hub, span(Buf::Out, 0, self.bytes));
            out.drain();
            out.send(hub, sent);
            return;
        }
        let others = || self.members.iter().skip(1).zip(0u64..);
        for (&other, number) in others() {
            out.recv(other, span(Buf::Out, number * self.bytes, self.bytes));
        }
        others().for_each(|(&other, _)| out.send(other, sent));
    }
}

/// Everybody sends so many bytes to the rank that is so far away, at once: rank 0 says when, down a
/// tree, and hears up the tree when all are done. Links that several pairs share show here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// How many ranks there are.
    pub ranks: u32,
    /// How far away the receiver of each is.
    pub distance: u32,
    /// Bytes of each message.
    pub bytes: u64,
}

impl Shift {
    fn children(&self, rank: Rank) -> impl Iterator<Item = Rank> {
        [2 * rank + 1, 2 * rank + 2].into_iter().filter(|&child| child < self.ranks)
    }
}

impl Schedule for Shift {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let parent = (rank > 0).then(|| (rank - 1) / 2);
        let distance = self.distance % self.ranks;
        let (to, from) =
            ((rank + distance) % self.ranks, (rank + self.ranks - distance) % self.ranks);
        if let Some(parent) = parent {
            out.await_signal(parent, 0);
            out.drain();
        }
        self.children(rank).for_each(|child| out.signal(child, 0));
        if distance > 0 {
            out.recv_on(from, 1, span(Buf::Out, 0, self.bytes));
            out.send_on(to, 1, span(Buf::In, 0, self.bytes));
        }
        out.drain();
        self.children(rank).for_each(|child| out.await_signal(child, 2));
        out.drain();
        if let Some(parent) = parent {
            out.signal(parent, 2);
        }
    }
}

/// Between two ranks, a number of bytes out and a number back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trip {
    pub out_bytes: u64,
    pub back_bytes: u64,
}

impl Schedule for Trip {
    fn ranks(&self) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        // An empty message is meant here.
        let [sent, received] = match rank {
            0 => [self.out_bytes, self.back_bytes],
            _ => [self.back_bytes, self.out_bytes],
        };
        let (other, chan) = (1 - rank, 0);
        let send = Step::Send { to: other, chan, span: span(Buf::In, 0, sent) };
        let recv = Step::Recv { from: other, chan, span: span(Buf::Out, 0, received) };
        if rank == 0 {
            out.steps.extend([send, recv]);
        } else {
            out.steps.push(recv);
            out.drain();
            out.steps.push(send);
        }
    }
}
