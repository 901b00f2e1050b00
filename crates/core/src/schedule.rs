//! The schedule: what one collective asks of each rank, as a pure function of rank, lane and round.
//!
//! A schedule is one object for all ranks. A rank has a few *lanes*; a lane is an ordered list of
//! *rounds* (one turn of the author's loop); [`Schedule::round`] writes the few steps of one round.
//! Nothing is stored, so any rank, lane and round can be asked at any time. Four rules make one
//! symbolic run a proof for every timing:
//!
//! 1. A lane starts its steps strictly in order. Send and Recv start and do not wait; Copy and
//!    Reduce are done when they return; the two gates hold back this lane alone.
//! 2. A channel (source, destination, number) is first in, first out; at each end exactly one lane
//!    uses it, and both ends name the same length.
//! 3. No wildcard, no probe, no unknown length, no dependence on time.
//! 4. Two accesses to overlapping bytes, one of them a write, are ordered by gates, not by luck.
//!
//! `laneway-coll` has a checker that proves all four for any schedule.

/// A process of a communicator, numbered from 0.
pub type Rank = u32;

/// The number of one ordered message stream between two ranks.
pub type Chan = u16;

/// Channels that a schedule may use: 0 to 31, so that a channel fits into a message tag.
pub const CHANNELS: Chan = 32;

/// "No limit" for [`Round::at_most`].
pub const ANY: u32 = u32::MAX;

/// The buffer of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buf {
    /// The send buffer.
    In,
    /// The receive buffer; a broadcast has this buffer alone.
    Out,
    /// Scratch of [`Schedule::tmp_len`] bytes, undefined at the start.
    Tmp,
}

/// A contiguous range of bytes in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The buffer.
    pub buf: Buf,
    /// The offset of its first byte.
    pub off: u64,
    /// Its length in bytes.
    pub len: u64,
}

/// `len` bytes of `buf` from `off` on.
pub const fn span(buf: Buf, off: u64, len: u64) -> Span {
    Span { buf, off, len }
}

impl Span {
    /// The first byte after the span.
    pub const fn end(self) -> u64 {
        self.off + self.len
    }

    /// Piece `k` when the span is cut every `segment` bytes; empty past the end.
    #[inline]
    pub fn piece(self, k: u64, segment: u64) -> Span {
        let from = k.saturating_mul(segment).min(self.len);
        span(self.buf, self.off + from, segment.min(self.len - from))
    }
}

/// One step of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends a message to another rank.
    Send {
        /// The receiver.
        to: Rank,
        /// The channel.
        chan: Chan,
        /// What is sent.
        span: Span,
    },
    /// Receives a message from another rank.
    Recv {
        /// The sender.
        from: Rank,
        /// The channel.
        chan: Chan,
        /// Where it goes.
        span: Span,
    },
    /// Copies bytes within this rank.
    Copy {
        /// What is copied.
        from: Span,
        /// Where it goes.
        to: Span,
    },
    /// `left`: into = from (+) into; otherwise into = into (+) from.
    Reduce {
        /// One operand.
        from: Span,
        /// The other operand, which becomes the result.
        into: Span,
        /// Whether `from` is the left operand.
        left: bool,
    },
    /// Gate: waits until this lane has at most this number of outstanding transfers.
    AtMost {
        /// Sends that may be outstanding.
        sends: u32,
        /// Receives that may be outstanding.
        recvs: u32,
    },
    /// Gate: waits until rounds 0 to `round` of `lane` are complete, transfers included.
    After {
        /// The lane that is waited for.
        lane: u32,
        /// Its round.
        round: u64,
    },
}

/// The steps of one round, written by [`Schedule::round`] into storage that is used again.
///
/// Empty spans are left out, at both ends alike because both ends see the same length; the empty
/// messages that are meant are [`Round::signal`] and [`Round::await_signal`].
#[derive(Debug, Default)]
pub struct Round {
    /// The steps in their order.
    pub steps: Vec<Step>,
}

impl Round {
    /// Adds a send on the first channel.
    #[inline]
    pub fn send(&mut self, to: Rank, span: Span) {
        self.send_on(to, 0, span);
    }

    /// Adds a receive on the first channel.
    #[inline]
    pub fn recv(&mut self, from: Rank, span: Span) {
        self.recv_on(from, 0, span);
    }

    /// Adds a send on a channel.
    #[inline]
    pub fn send_on(&mut self, to: Rank, chan: Chan, span: Span) {
        if span.len > 0 {
            self.steps.push(Step::Send { to, chan, span });
        }
    }

    /// Adds a receive on a channel.
    #[inline]
    pub fn recv_on(&mut self, from: Rank, chan: Chan, span: Span) {
        if span.len > 0 {
            self.steps.push(Step::Recv { from, chan, span });
        }
    }

    /// Sends an empty message, as a credit, a token or in a barrier.
    #[inline]
    pub fn signal(&mut self, to: Rank, chan: Chan) {
        let span = span(Buf::Tmp, 0, 0);
        self.steps.push(Step::Send { to, chan, span });
    }

    /// Posts a receive of an empty message; a gate waits for it.
    #[inline]
    pub fn await_signal(&mut self, from: Rank, chan: Chan) {
        let span = span(Buf::Tmp, 0, 0);
        self.steps.push(Step::Recv { from, chan, span });
    }

    /// Adds a copy, unless the two spans are the same.
    #[inline]
    pub fn copy(&mut self, from: Span, to: Span) {
        if from.len > 0 && from != to {
            self.steps.push(Step::Copy { from, to });
        }
    }

    /// into = into (+) from: `from` holds the higher ranks.
    #[inline]
    pub fn reduce_right(&mut self, from: Span, into: Span) {
        self.reduce(from, into, false);
    }

    /// into = from (+) into: `from` holds the lower ranks.
    #[inline]
    pub fn reduce_left(&mut self, from: Span, into: Span) {
        self.reduce(from, into, true);
    }

    /// Adds a reduction.
    #[inline]
    pub fn reduce(&mut self, from: Span, into: Span, left: bool) {
        if from.len > 0 {
            self.steps.push(Step::Reduce { from, into, left });
        }
    }

    /// Waits until at most this number of sends and receives of this lane are outstanding.
    #[inline]
    pub fn at_most(&mut self, sends: u32, recvs: u32) {
        self.steps.push(Step::AtMost { sends, recvs });
    }

    /// Makes room for one more send in a window of this size; no gate if the window is [`ANY`].
    #[inline]
    pub fn send_window(&mut self, window: u32) {
        if window != ANY {
            self.at_most(window.saturating_sub(1), ANY);
        }
    }

    /// Makes room for one more receive in a window of this size; no gate if it is [`ANY`].
    #[inline]
    pub fn recv_window(&mut self, window: u32) {
        if window != ANY {
            self.at_most(ANY, window.saturating_sub(1));
        }
    }

    /// Waits until no transfer of this lane is outstanding.
    #[inline]
    pub fn drain(&mut self) {
        self.at_most(0, 0);
    }

    /// Waits until rounds 0 to `round` of `lane` are complete.
    #[inline]
    pub fn after(&mut self, lane: u32, round: u64) {
        self.steps.push(Step::After { lane, round });
    }
}

/// A collective for all of its ranks: see the module's rules.
pub trait Schedule: Send + Sync {
    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// The number of concurrent lanes of `rank`.
    fn lanes(&self, _rank: Rank) -> u32 {
        1
    }

    /// The number of rounds in a lane of a rank.
    fn rounds(&self, rank: Rank, lane: u32) -> u64;

    /// Appends the steps of round `k` (`k < rounds`); pure, and never touches what is there.
    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round);

    /// The size of the scratch buffer of `rank` in bytes.
    fn tmp_len(&self, _rank: Rank) -> u64 {
        0
    }

    /// The partner formula, if the pattern has one.
    fn phases(&self) -> Option<&dyn Phases> {
        None
    }
}

/// A pattern in which every rank sends to one partner in each phase, as a closed formula: a
/// topology counts millions of flows with it and executes nothing.
pub trait Phases {
    /// The number of phases.
    fn count(&self) -> u64;
    /// The receiver of `rank` in `phase`; `rank` itself if it rests or copies to itself.
    fn partner(&self, rank: Rank, phase: u64) -> Rank;

    /// The partners of ranks 0, 1, … in one phase, all at once.
    fn partners(&self, phase: u64, out: &mut [Rank]) {
        for (rank, partner) in out.iter_mut().enumerate() {
            *partner = self.partner(rank as Rank, phase);
        }
    }

    /// How many of the ranks that are their own partner in a phase rest; the others copy a block to
    /// themselves, as in an all-to-all. By default 0.
    fn resting(&self, _phase: u64, _partners: &[Rank]) -> u64 {
        0
    }
}

/// The ranks that are their own partner: for orders in which all of them rest.
pub fn own_partners(partners: &[Rank]) -> u64 {
    let is_own = |(rank, &to): (usize, &Rank)| rank == to as usize;
    partners.iter().enumerate().filter(|&pair| is_own(pair)).count() as u64
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn ranks(&self) -> u32 {
        (**self).ranks()
    }
    fn lanes(&self, rank: Rank) -> u32 {
        (**self).lanes(rank)
    }
    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        (**self).rounds(rank, lane)
    }
    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        (**self).round(rank, lane, k, out);
    }
    fn tmp_len(&self, rank: Rank) -> u64 {
        (**self).tmp_len(rank)
    }
    fn phases(&self) -> Option<&dyn Phases> {
        (**self).phases()
    }
}
