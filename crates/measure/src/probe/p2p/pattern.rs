//! The usual patterns of point-to-point benchmarks. A repetition gives the seconds of one message,
//! so that a bandwidth is the bytes that move in that time over that time.

use laneway_core::{CommError, Rank};

use super::DATA;
use super::disjoint::Members;
use super::overheads;
use super::overlap::overlap;
use super::point_to_two::point_to_two_once;
use super::roundtrip::round_trip;
use super::transfers::Transfers;
use crate::cache::{Buffers, Cache};

/// What messages do in one repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// Half a round trip.
    Latency,
    /// A message out and one of another size back.
    RoundTrip,
    /// A message to each of two others, and empty answers of both.
    PointToTwo,
    /// A window of messages and one answer.
    Bandwidth,
    /// A window of messages each way.
    Bidirectional,
    /// As [`Pattern::Bandwidth`], for messages a second.
    Rate,
    /// All pairs at once, a window each.
    MultiPair,
    /// A ring: to the right, from the left.
    Sendrecv,
    /// A ring: to and from both neighbours.
    Exchange,
    /// How much of a round trip computing can hide.
    Overlap,
    /// How long a send keeps its caller.
    SendOverhead,
    /// How long a receive of what is there keeps its caller.
    ReceiveOverhead,
    /// What one more message of a train takes.
    Gap,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 13] = [
        Pattern::Latency,
        Pattern::RoundTrip,
        Pattern::PointToTwo,
        Pattern::Bandwidth,
        Pattern::Bidirectional,
        Pattern::Rate,
        Pattern::MultiPair,
        Pattern::Sendrecv,
        Pattern::Exchange,
        Pattern::Overlap,
        Pattern::SendOverhead,
        Pattern::ReceiveOverhead,
        Pattern::Gap,
    ];

    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Latency => "latency",
            Pattern::RoundTrip => "round-trip",
            Pattern::PointToTwo => "point-to-two",
            Pattern::Bandwidth => "bandwidth",
            Pattern::Bidirectional => "bibw",
            Pattern::Rate => "rate",
            Pattern::MultiPair => "multi-pair",
            Pattern::Sendrecv => "sendrecv",
            Pattern::Exchange => "exchange",
            Pattern::Overlap => "overlap",
            Pattern::SendOverhead => "o_s",
            Pattern::ReceiveOverhead => "o_r",
            Pattern::Gap => "gap",
        }
    }

    /// What it is.
    pub fn sentence(self) -> &'static str {
        match self {
            Pattern::Latency => "half a round trip",
            Pattern::RoundTrip => "a message out and a reply of another size; full round trip",
            Pattern::PointToTwo => "a message to each of two others, and an empty reply from both",
            Pattern::Bandwidth => "a window of sends and one reply; time per message",
            Pattern::Bidirectional => "a window of sends each way at once; time per message",
            Pattern::Rate => "as bandwidth, in messages per second",
            Pattern::MultiPair => "all pairs at once, a window each, until the last reply",
            Pattern::Sendrecv => "a ring: to the right, from the left",
            Pattern::Exchange => "a ring: to and from both neighbours",
            Pattern::Overlap => "share of a round trip that computation can hide",
            Pattern::SendOverhead => "time that a send occupies its caller",
            Pattern::ReceiveOverhead => "time that a receive of an arrived message takes",
            Pattern::Gap => "time of each further message of a train",
        }
    }

    /// Messages that move in the time of one, with `ranks` ranks; `None` if a bandwidth would say
    /// nothing.
    pub fn messages(self, members: usize) -> Option<usize> {
        match self {
            Pattern::Latency | Pattern::Bandwidth | Pattern::Rate | Pattern::Gap => Some(1),
            Pattern::Bidirectional | Pattern::Sendrecv => Some(2),
            Pattern::Exchange => Some(4),
            Pattern::MultiPair => Some(members / 2),
            Pattern::RoundTrip | Pattern::PointToTwo | Pattern::Overlap => None,
            Pattern::SendOverhead | Pattern::ReceiveOverhead => None,
        }
    }

    /// Whether several messages are under way at once.
    pub fn has_window(self) -> bool {
        use Pattern::{Bandwidth, Bidirectional, MultiPair, Rate};
        matches!(self, Bandwidth | Bidirectional | Rate | MultiPair)
    }

    /// How many times the figure lies between two readings of the clock.
    pub fn span(self, size: usize, window: usize) -> usize {
        match self {
            Pattern::Latency => 2 * trips(size),
            Pattern::RoundTrip => trips(size),
            Pattern::Sendrecv | Pattern::Exchange => SERIES,
            Pattern::Gap => overheads::TRAIN as usize,
            _ => window,
        }
    }

    /// One repetition of it on one member: on the leader the seconds of one message, or the part
    /// that overlaps.
    pub fn once(self, members: &Members, work: &mut Work) -> Result<f64, CommError> {
        let share = 1.0 / work.window as f64;
        match self {
            Pattern::Latency => Ok(trip(members, work)? / 2.0),
            Pattern::RoundTrip => trip(members, work),
            Pattern::PointToTwo => point_to_two_once(members, work.buffers.advance().0),
            Pattern::Bandwidth | Pattern::Rate => Ok(one_way(members, work)? * share),
            Pattern::Bidirectional => Ok(both_ways(members, work)? * share),
            Pattern::MultiPair => Ok(multi_pair(members, work)? * share),
            Pattern::Sendrecv => ring(members, &mut work.buffers, false),
            Pattern::Exchange => ring(members, &mut work.buffers, true),
            Pattern::Overlap => overlap(members, &mut work.buffers),
            Pattern::SendOverhead => overheads::send_overhead(members, &mut work.buffers),
            Pattern::ReceiveOverhead => overheads::receive_overhead(members, &mut work.buffers),
            Pattern::Gap => overheads::gap(members, &mut work.buffers),
        }
    }
}

/// What a pattern needs on one rank.
pub struct Work {
    size: usize,
    window: usize,
    buffers: Buffers,
}

impl Work {
    /// For messages of `size` bytes; the window counts only for patterns that have one.
    pub fn new(pattern: Pattern, size: usize, window: usize, cache: Cache) -> Work {
        let window = if pattern.has_window() { window.max(1) } else { 1 };
        // A window is warm in one buffer, and cold only where each message has its own.
        let out = match cache {
            Cache::Warm => size,
            Cache::Cold { .. } => size.saturating_mul(window),
        };
        let into = if pattern == Pattern::Exchange { size.saturating_mul(2) } else { out };
        Work { size, window, buffers: Buffers::new(cache, out, into) }
    }

    /// For round trips of one size out and another back.
    pub fn round_trip(out: usize, back: usize, cache: Cache) -> Work {
        Work { size: out, window: 1, buffers: Buffers::new(cache, out, back) }
    }

    /// The same in virtual time, where the ranks of a thousand hosts share one memory.
    pub(super) fn untouched(out: usize, back: usize) -> Work {
        Work { size: out, window: 1, buffers: Buffers::untouched(out, back) }
    }
}

/// Bytes that a window of cold messages may take: each has room of its own.
const WINDOW_BYTES: usize = 64 << 20;

/// The window in fact: what was asked for, as far as cold buffers stay within 64 MiB.
pub fn window(asked: usize, size: usize, cache: Cache) -> usize {
    match cache {
        Cache::Warm => asked.max(1),
        Cache::Cold { .. } => asked.min(WINDOW_BYTES / size.max(1)).max(1),
    }
}

/// Messages up to this size travel several times in a sample.
const SHORT_BYTES: usize = 1024;

fn trips(size: usize) -> usize {
    if size <= SHORT_BYTES { 10 } else { 1 }
}

/// A round trip. Through shared memory one takes hardly longer than reading a clock, so that short
/// messages are timed by several; a virtual clock needs none of that.
fn trip(members: &Members, work: &mut Work) -> Result<f64, CommError> {
    let count = if members.comm.clock().is_virtual() { 1 } else { trips(work.size) };
    let begun = members.now();
    for _ in 0..count {
        let (out, into) = work.buffers.advance();
        round_trip(members, out, into)?;
    }
    Ok((members.now() - begun) / count as f64)
}

/// A window of messages from the leader, and its answer.
fn one_way(members: &Members, work: &mut Work) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let transfers = work.transfers(other, members.leads(), !members.leads());
    let begun = members.now();
    transfers.run(comm, || ())?;
    answer(members, other, members.leads())?;
    Ok(members.now() - begun)
}

fn both_ways(members: &Members, work: &mut Work) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let transfers = work.transfers(other, true, true);
    let begun = members.now();
    transfers.run(comm, || ())?;
    // Over when both have all.
    answer(members, other, members.leads())?;
    Ok(members.now() - begun)
}

impl Work {
    /// A window of messages to another rank, from it, or both.
    fn transfers(&mut self, other: Rank, sends: bool, receives: bool) -> Transfers<'_> {
        let (size, window) = (self.size, self.window);
        let (out, into) = self.buffers.advance();
        let mut transfers = Transfers::default();
        if sends {
            transfers = transfers.sending(other, out, size, window);
        }
        if receives {
            transfers = transfers.receiving(other, into, size, window);
        }
        transfers
    }
}

/// An empty message, to be waited for or to be sent.
fn answer(members: &Members, other: Rank, waits: bool) -> Result<(), CommError> {
    if waits {
        members.comm.recv(Some(other), Some(DATA), &mut [])?;
        return Ok(());
    }
    members.comm.send(other, DATA, &[])
}

/// Members in even places send to the next one. The leader tells the other senders to begin and
/// hears from each when it is answered; both empty messages are part of the time.
fn multi_pair(members: &Members, work: &mut Work) -> Result<f64, CommError> {
    let sends = members.position.is_multiple_of(2);
    let (leader, partner) = (members.ranks[0], members.ranks.get(members.position ^ 1));
    let Some(&partner) = partner else {
        let what = format!("{} ranks are not pairs", members.ranks.len());
        return Err(CommError::Argument { what });
    };
    let others = || members.ranks.iter().step_by(2).skip(1);
    let transfers = work.transfers(partner, sends, !sends);
    let begun = members.now();
    if members.leads() {
        others().try_for_each(|&sender| answer(members, sender, false))?;
    } else if sends {
        answer(members, leader, true)?;
    }
    transfers.run(members.comm, || ())?;
    answer(members, partner, sends)?;
    if members.leads() {
        others().try_for_each(|&sender| answer(members, sender, true))?;
    } else if sends {
        answer(members, leader, false)?;
    }
    Ok(members.now() - begun)
}

/// Repetitions of a ring in one sample, about.
const SERIES: usize = 10;

/// As IMB does it: the mean of a series without isolation, in which neighbours keep each other in
/// step. Who is late once makes the next one late the next time, and so on round the ring; so the
/// series is as long as some whole ways round.
fn ring(members: &Members, buffers: &mut Buffers, both: bool) -> Result<f64, CommError> {
    let (count, at) = (members.ranks.len(), members.position);
    let right = members.ranks[(at + 1) % count];
    let left = members.ranks[(at + count - 1) % count];
    let begun = members.now();
    let series = SERIES.next_multiple_of(count);
    for _ in 0..series {
        let (out, into) = buffers.advance();
        let size = out.len();
        let (from_left, from_right) = into.split_at_mut(size);
        let mut transfers =
            Transfers::default().sending(right, out, size, 1).receiving(left, from_left, size, 1);
        if both {
            transfers = transfers.sending(left, out, size, 1).receiving(right, from_right, size, 1);
        }
        transfers.run(members.comm, || ())?;
    }
    Ok((members.now() - begun) / series as f64)
}
