//! Events, counters and refusals of a connection.

use std::fmt;

use crate::state::{Attribute, Cause, MigrationState, QpState};
use crate::{Histogram, PathId};

/// What happened, with the message, the receive or the paths that it happened to.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The first packet of the peer came while this end was ready to receive only.
    Established,
    /// A message has arrived at the peer.
    Sent { id: u64, message: Vec<u8> },
    /// A message has arrived here.
    Received { id: u64, message: Vec<u8> },
    /// The alternate path can take over.
    Armed { path: PathId },
    /// The alternate path has taken over.
    Migrated { from: PathId, to: PathId, cause: Cause },
    /// The alternate path does not answer any more; it is being loaded again.
    Unhealthy { path: PathId },
    /// The peer loads this path, which is not the alternate one here.
    Wanted { path: PathId },
    /// Nothing is under way in SQD.
    Drained,
    /// A message that was not sent when the connection broke or was reset.
    SendFlushed { id: u64 },
    /// A receive that got nothing when the connection broke or was reset.
    ReceiveFlushed { id: u64 },
    /// The connection is in ERROR.
    Failed { why: Why },
}

/// Why a connection broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The peer did not acknowledge a packet that was sent as often as allowed.
    Retries,
    /// The peer was not ready as often as allowed.
    NotReadyRetries,
    /// A message was longer than its receive, or its parts did not fit together.
    Message,
    /// The user asked for it.
    Asked,
}

/// How many packets came and went, and what was wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Packets sent.
    pub sent: u64,
    /// Packets that came.
    pub received: u64,
    /// Packets of data that were sent once more.
    pub sent_again: u64,
    /// Packets of data that were there before.
    pub duplicates: u64,
    /// Packets that cannot have been written by a peer.
    pub malformed: u64,
    /// For another queue pair, or over a path that is not known.
    pub strange: u64,
    /// Packets that came again, or far too late.
    pub replayed: u64,
    /// Packets that came in a state that takes none.
    pub unexpected: u64,
    /// How often the alternate path took over.
    pub migrations: u64,
    /// How often the primary path was asked whether it is alive.
    pub suspicions: u64,
    /// Round trips that were seen, over all paths.
    pub trips: Histogram,
    /// How long messages had waited for a sign of the peer when the connection left a dead path.
    pub stalls: Histogram,
}

impl Counters {
    /// Adds what another connection has counted.
    pub fn add(&mut self, other: &Counters) {
        self.sent += other.sent;
        self.received += other.received;
        self.sent_again += other.sent_again;
        self.duplicates += other.duplicates;
        self.malformed += other.malformed;
        self.strange += other.strange;
        self.replayed += other.replayed;
        self.unexpected += other.unexpected;
        self.migrations += other.migrations;
        self.suspicions += other.suspicions;
        self.trips.add(&other.trips);
        self.stalls.add(&other.stalls);
    }
}

/// Why a call was refused; the connection goes on as before.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The queue-pair state machine has no such transition.
    NoTransition { from: QpState, to: QpState },
    /// The transition needs an attribute.
    Missing { from: QpState, to: QpState, attribute: Attribute },
    /// The transition cannot set an attribute.
    NotNow { from: QpState, to: QpState, attribute: Attribute },
    /// A path that the connection does not have.
    UnknownPath { path: PathId },
    /// One path cannot be both.
    AlternateIsPrimary { path: PathId },
    /// No alternate path was given.
    NoAlternate,
    /// Only an armed connection migrates.
    NotArmed { migration: MigrationState },
    /// Packets that are too long or have no bytes.
    PacketSize { bytes: usize, most: usize },
    /// A number of more than 24 bits.
    Number { attribute: Attribute },
    /// The connection is in no state for it.
    State { state: QpState, wanted: &'static str },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoTransition { from, to } => write!(f, "no transition from {from} to {to}"),
            Refusal::Missing { from, to, attribute } => {
                write!(f, "the transition from {from} to {to} needs: {}", attribute.name())
            }
            Refusal::NotNow { from, to, attribute } => {
                write!(f, "the transition from {from} to {to} cannot set: {}", attribute.name())
            }
            Refusal::UnknownPath { path } => write!(f, "{path} is not known"),
            Refusal::AlternateIsPrimary { path } => {
                write!(f, "{path} is the primary path, it cannot be the alternate one as well")
            }
            Refusal::NoAlternate => write!(f, "no alternate path was given"),
            Refusal::NotArmed { migration } => {
                write!(f, "only an armed connection migrates; this one is {migration}")
            }
            Refusal::PacketSize { bytes, most } => {
                write!(f, "packets of {bytes} bytes; 1 to {most} are possible")
            }
            Refusal::Number { attribute } => {
                write!(f, "{} is longer than 24 bits", attribute.name())
            }
            Refusal::State { state, wanted } => {
                write!(f, "the connection is in {state}; this needs {wanted}")
            }
        }
    }
}

impl std::error::Error for Refusal {}
