//! The checker: one symbolic run of a schedule, without thread or clock, that proves it.
//!
//! Bytes are not moved; each span carries whose input it is, or which ranks' inputs it joins
//! (`terms.rs`). Every access is remembered with the lane and round that made it, and two accesses
//! that touch must be ordered by gates (`memory.rs`, `order.rs`), so that one order of events
//! speaks for all. It is done under both readings of a send: *eager* (over at once) and
//! *rendezvous* (over when its receive has begun).

mod memory;
mod order;
mod terms;
mod world;

use std::fmt;

use laneway_core::{Rank, Schedule, Shape, Span, Step};

/// What a checked run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof {
    /// Steps executed, gates included, under one reading.
    pub steps: u64,
    /// Messages that arrived.
    pub messages: u64,
}

/// When a send is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// At once: the data is buffered.
    Eager,
    /// When the receive has it.
    Rendezvous,
}

/// What is wrong with a schedule; a fault's message says what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Its rank count is not the shape's.
    Ranks { schedule: u32, shape: u32 },
    /// A span lies outside its buffer, or two spans of a step do not fit together.
    Span { rank: Rank, step: Step, why: &'static str },
    /// A peer, lane or channel that does not exist.
    Peer { rank: Rank, step: Step },
    /// A span is used that was never written, or that is still being received.
    Undefined { rank: Rank, span: Span },
    /// Two accesses that no gate orders.
    Race { rank: Rank, span: Span, lane: u32, round: u64, other_lane: u32, other_round: u64 },
    /// The caller's input is written although it lies apart from the output.
    ConstInput { rank: Rank, span: Span },
    /// A reduction joins different parts of the vector, or the same input twice.
    Reduction { rank: Rank, span: Span, why: &'static str },
    /// A send and its receive differ in length.
    Length { from: Rank, to: Rank, sent: u64, received: u64 },
    /// Two lanes use one end of a channel.
    Shared { rank: Rank, peer: Rank, chan: u16 },
    /// A send without a receive, or the other way round.
    Unmatched { from: Rank, to: Rank, chan: u16, is_send: bool },
    /// These ranks cannot go on: rank, lane, round.
    Deadlock { stuck: Vec<(Rank, u32, u64)> },
    /// Out does not hold what the operation's definition says.
    Result { rank: Rank, at: u64, len: u64, expected: String, found: String },
    /// A barrier let a rank go that has not heard of this one.
    Unheard { rank: Rank, of: Rank },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Ranks { schedule, shape } => {
                write!(f, "a schedule for {schedule} ranks was built for a shape of {shape}")
            }
            Fault::Span { rank, step, why } => write!(f, "rank {rank}: {why}: {step:?}"),
            Fault::Peer { rank, step } => {
                write!(f, "rank {rank}: no such peer, lane or channel: {step:?}")
            }
            Fault::Undefined { rank, span } => {
                write!(f, "rank {rank} reads {span:?} before it is written")
            }
            Fault::Race { rank, span, lane, round, other_lane, other_round } => write!(
                f,
                "rank {rank}: no gate orders {span:?} of lane {lane} round {round} after lane \
                 {other_lane} round {other_round}"
            ),
            Fault::ConstInput { rank, span } => write!(f, "rank {rank} writes its input {span:?}"),
            Fault::Reduction { rank, span, why } => {
                write!(f, "rank {rank}: reduction into {span:?}: {why}")
            }
            Fault::Length { from, to, sent, received } => {
                write!(f, "{from} sends {sent} bytes to {to}, which receives {received}")
            }
            Fault::Shared { rank, peer, chan } => {
                write!(f, "rank {rank} uses channel {chan} with {peer} from two lanes")
            }
            Fault::Unmatched { from, to, chan, is_send: true } => {
                write!(f, "{from} sends on channel {chan} to {to}, which does not receive it")
            }
            Fault::Unmatched { from, to, chan, .. } => {
                write!(f, "{to} receives on channel {chan} from {from}, which sends nothing")
            }
            Fault::Deadlock { stuck } => {
                write!(f, "deadlock; blocked (rank, lane, round): {stuck:?}")
            }
            Fault::Result { rank, at, len, expected, found } => write!(
                f,
                "rank {rank}: bytes {at}..{} of Out should be {expected} and are {found}",
                at + len
            ),
            Fault::Unheard { rank, of } => {
                write!(f, "rank {rank} leaves the barrier without having heard of rank {of}")
            }
        }
    }
}

impl std::error::Error for Fault {}

/// Proves a schedule for a shape under both semantics.
pub fn check(shape: &Shape, schedule: &dyn Schedule) -> Result<Proof, Fault> {
    check_under(shape, schedule, Semantics::Eager)?;
    check_under(shape, schedule, Semantics::Rendezvous)
}

/// Proves a schedule under one reading of a send.
pub fn check_under(
    shape: &Shape,
    schedule: &dyn Schedule,
    semantics: Semantics,
) -> Result<Proof, Fault> {
    if schedule.ranks() != shape.ranks {
        return Err(Fault::Ranks { schedule: schedule.ranks(), shape: shape.ranks });
    }
    world::run(shape, schedule, semantics)
}
