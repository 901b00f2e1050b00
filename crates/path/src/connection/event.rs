//! Events, counters and refusals of a connection.

use std::fmt;

use crate::state::{Attribute, Cause, MigrationState, QpState};
use crate::{Histogram, PathId};

/// An event, with the message, the receive or the paths that it concerns.
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

/// Why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The retransmission limit was reached.
    Retries,
    /// The limit for a peer that is not ready was reached.
    NotReadyRetries,
    /// A message was longer than its receive, or its parts did not fit together.
    Message,
    /// By request of the user.
    Asked,
}

/// Counters of packets and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Data packets that were retransmitted.
    pub sent_again: u64,
    /// Duplicate data packets.
    pub duplicates: u64,
    /// Malformed packets.
    pub malformed: u64,
    /// Packets for another queue pair, or over an unknown path.
    pub strange: u64,
    /// Replayed packets, or far too late ones.
    pub replayed: u64,
    /// Packets in a state that accepts none.
    pub unexpected: u64,
    /// Migrations.
    pub migrations: u64,
    /// Migrations because the primary path was silent or had no carrier.
    pub left_dead: u64,
    /// Migrations because the primary path passed short packets only.
    pub left_short: u64,
    /// Migrations because the primary path lost packets.
    pub left_lossy: u64,
    /// How often the primary path was probed.
    pub suspicions: u64,
    /// The round-trip times over all paths.
    pub trips: Histogram,
    /// How long messages had waited for a sign of the peer when the connection left a dead path.
    pub stalls: Histogram,
}

impl Counters {
    /// Adds the counters of another connection.
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
        self.left_dead += other.left_dead;
        self.left_short += other.left_short;
        self.left_lossy += other.left_lossy;
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
    /// The transition needs this attribute.
    Missing { from: QpState, to: QpState, attribute: Attribute },
    /// The transition cannot set this attribute.
    NotNow { from: QpState, to: QpState, attribute: Attribute },
    /// The connection does not have this path.
    UnknownPath { path: PathId },
    /// The alternate path cannot be the primary one.
    AlternateIsPrimary { path: PathId },
    /// No alternate path is specified.
    NoAlternate,
    /// The connection is not armed.
    NotArmed { migration: MigrationState },
    /// An invalid packet length.
    PacketSize { bytes: usize, most: usize },
    /// A number of more than 24 bits.
    Number { attribute: Attribute },
    /// The state does not allow the call.
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
