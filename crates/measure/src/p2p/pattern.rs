//! The usual patterns of point-to-point benchmarks. A repetition gives the seconds of one message,
//! so that a bandwidth is the bytes that move in that time over that time.

use laneway_core::{CommError, Rank};

use super::DATA;
use super::cache::{Buffers, Cache};
use super::disjoint::Members;
use super::logp;
use super::overlap::overlap;
use super::roundtrip::round_trip;
use super::transfers::{stretches, together};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Latency,
    Bandwidth,
    Bidirectional,
    Rate,
    MultiPair,
    Sendrecv,
    Exchange,
    Overlap,
    SendOverhead,
    ReceiveOverhead,
    Gap,
}

impl Pattern {
    pub const ALL: [Pattern; 11] = [
        Pattern::Latency,
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

    pub fn name(self) -> &'static str {
        match self {
            Pattern::Latency => "latency",
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

    pub fn sentence(self) -> &'static str {
        match self {
            Pattern::Latency => "half a round trip",
            Pattern::Bandwidth => "a window of sends and one answer; a message of it",
            Pattern::Bidirectional => "a window of sends each way; a message of one way",
            Pattern::Rate => "as bandwidth, told as messages a second",
            Pattern::MultiPair => "all pairs at once, a window each, until the last is answered",
            Pattern::Sendrecv => "a ring: to the right, from the left",
            Pattern::Exchange => "a ring: to and from both neighbours",
            Pattern::Overlap => "how much of a round trip computing can hide",
            Pattern::SendOverhead => "how long a send keeps its caller",
            Pattern::ReceiveOverhead => "how long a receive of what is there keeps its caller",
            Pattern::Gap => "what one more message of a train takes",
        }
    }

    /// Messages that move in the time of one, with so many ranks; none where a bandwidth would say
    /// nothing.
    pub fn messages(self, members: usize) -> Option<usize> {
        match self {
            Pattern::Latency | Pattern::Bandwidth | Pattern::Rate | Pattern::Gap => Some(1),
            Pattern::Bidirectional | Pattern::Sendrecv => Some(2),
            Pattern::Exchange => Some(4),
            Pattern::MultiPair => Some(members / 2),
            Pattern::Overlap | Pattern::SendOverhead | Pattern::ReceiveOverhead => None,
        }
    }

    pub fn has_window(self) -> bool {
        use Pattern::{Bandwidth, Bidirectional, MultiPair, Rate};
        matches!(self, Bandwidth | Bidirectional | Rate | MultiPair)
    }

    /// How many times the figure lies between two readings of the clock.
    pub fn span(self, size: usize, window: usize) -> usize {
        match self {
            Pattern::Latency => 2 * trips(size),
            Pattern::Sendrecv | Pattern::Exchange => SERIES,
            Pattern::Gap => logp::TRAIN as usize,
            _ => window,
        }
    }

    /// One repetition of it on one member: on the leader the seconds of one message, or the part
    /// that overlaps.
    pub fn once(self, members: &Members, work: &mut Work) -> Result<f64, CommError> {
        let Work { size, window, buffers } = work;
        let (out, into) = buffers.advance();
        let share = 1.0 / *window as f64;
        match self {
            Pattern::Latency => latency(members, out, into),
            Pattern::Bandwidth | Pattern::Rate => {
                let other = members.partner()?;
                let begun = members.now();
                one_way(members, (other, members.leads()), out, into, (*size, *window))?;
                Ok((members.now() - begun) * share)
            }
            Pattern::Bidirectional => Ok(both_ways(members, out, into, (*size, *window))? * share),
            Pattern::MultiPair => Ok(multi_pair(members, out, into, (*size, *window))? * share),
            Pattern::Sendrecv => ring(members, out, into, false),
            Pattern::Exchange => ring(members, out, into, true),
            Pattern::Overlap => overlap(members, out, into),
            Pattern::SendOverhead => logp::send_overhead(members, out),
            Pattern::ReceiveOverhead => logp::receive_overhead(members, into),
            Pattern::Gap => logp::gap(members, out),
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
        let into = match pattern {
            Pattern::Exchange => size.saturating_mul(2),
            _ => size.saturating_mul(window),
        };
        Work { size, window, buffers: Buffers::new(cache, size, into) }
    }
}

/// Bytes that a window may take: receives of one window need room of their own each.
const WINDOW_BYTES: usize = 64 << 20;

/// The window in fact: what was asked for, as far as its buffers stay within 64 MiB.
pub fn window(asked: usize, size: usize) -> usize {
    asked.min(WINDOW_BYTES / size.max(1)).max(1)
}

/// Messages up to this size travel several times in a sample.
const SHORT_BYTES: usize = 1024;

fn trips(size: usize) -> usize {
    if size <= SHORT_BYTES { 10 } else { 1 }
}

/// Half a round trip. Through shared memory one takes hardly longer than reading a clock, so that
/// short messages are timed by several; a virtual clock needs none of that.
fn latency(members: &Members, out: &mut [u8], into: &mut [u8]) -> Result<f64, CommError> {
    let count = if members.comm.clock().is_virtual() { 1 } else { trips(out.len()) };
    let begun = members.now();
    for _ in 0..count {
        round_trip(members, out, into)?;
    }
    Ok((members.now() - begun) / (2 * count) as f64)
}

/// A window of messages to or from another, and its answer.
fn one_way(
    members: &Members,
    (other, sends): (Rank, bool),
    out: &[u8],
    into: &mut [u8],
    (size, window): (usize, usize),
) -> Result<(), CommError> {
    let comm = members.comm;
    if sends {
        together(comm, &vec![(other, out); window], &mut [], || ())?;
        comm.recv(Some(other), Some(DATA), &mut [])?;
    } else {
        together(comm, &[], &mut stretches(other, into, size, window), || ())?;
        comm.send(other, DATA, &[])?;
    }
    Ok(())
}

fn both_ways(
    members: &Members,
    out: &[u8],
    into: &mut [u8],
    (size, window): (usize, usize),
) -> Result<f64, CommError> {
    let (comm, other) = (members.comm, members.partner()?);
    let begun = members.now();
    let mut receives = stretches(other, into, size, window);
    together(comm, &vec![(other, out); window], &mut receives, || ())?;
    // Over when both have all.
    if members.leads() {
        comm.recv(Some(other), Some(DATA), &mut [])?;
    } else {
        comm.send(other, DATA, &[])?;
    }
    Ok(members.now() - begun)
}

/// Members in even places send to the next one. The leader tells the other senders to begin and
/// hears from each when it is answered; both empty messages are part of the time.
fn multi_pair(
    members: &Members,
    out: &[u8],
    into: &mut [u8],
    shape: (usize, usize),
) -> Result<f64, CommError> {
    let (comm, begun) = (members.comm, members.now());
    let sends = members.position % 2 == 0;
    let (leader, partner) = (members.ranks[0], members.ranks.get(members.position ^ 1));
    let Some(&partner) = partner else {
        let what = format!("{} ranks are not pairs", members.ranks.len());
        return Err(CommError::Argument { what });
    };
    let others = || members.ranks.iter().step_by(2).skip(1);
    if members.leads() {
        for &sender in others() {
            comm.send(sender, DATA, &[])?;
        }
    } else if sends {
        comm.recv(Some(leader), Some(DATA), &mut [])?;
    }
    one_way(members, (partner, sends), out, into, shape)?;
    if members.leads() {
        for &sender in others() {
            comm.recv(Some(sender), Some(DATA), &mut [])?;
        }
    } else if sends {
        comm.send(leader, DATA, &[])?;
    }
    Ok(members.now() - begun)
}

/// Repetitions of a ring in one sample, about.
const SERIES: usize = 10;

/// As IMB does it: the mean of a series without isolation, in which neighbours keep each other in
/// step. Who is late once makes the next one late the next time, and so on round the ring; so the
/// series is as long as some whole ways round.
fn ring(members: &Members, out: &[u8], into: &mut [u8], both: bool) -> Result<f64, CommError> {
    let (count, at) = (members.ranks.len(), members.position);
    let right = members.ranks[(at + 1) % count];
    let left = members.ranks[(at + count - 1) % count];
    let begun = members.now();
    let series = SERIES.next_multiple_of(count);
    for _ in 0..series {
        if both {
            let (from_left, from_right) = into.split_at_mut(out.len());
            let mut receives = [(left, from_left), (right, from_right)];
            together(members.comm, &[(right, out), (left, out)], &mut receives, || ())?;
        } else {
            together(members.comm, &[(right, out)], &mut [(left, &mut *into)], || ())?;
        }
    }
    Ok((members.now() - begun) / series as f64)
}
