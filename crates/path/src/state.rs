//! The states of a connection as two declared tables: what a queue pair does (figure 1 of the
//! paper, with InfiniBand's SQD) and what becomes of its paths (figure 2).

use std::fmt;

/// The state of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QpState {
    /// Just created, or reset: no peer is known.
    Reset,
    /// Initialised with a primary path; receives may be posted.
    Init,
    /// Ready to receive: knows its peer.
    Rtr,
    /// Ready to send.
    Rts,
    /// Send queue drained: outstanding sends complete, no new one begins.
    Sqd,
    /// Broken; only a reset is possible.
    Error,
}

/// The migration state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MigrationState {
    /// No alternate path is loaded: at the beginning, and after each migration.
    Migrated,
    /// The alternate path is being loaded: both ends must have it, and it must work.
    Rearm,
    /// The alternate path is armed: it can take over at any time.
    Armed,
}

impl QpState {
    /// All states, in the order of a connection's life.
    pub const ALL: [QpState; 6] =
        [QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd, QpState::Error];

    /// The name of the state in InfiniBand.
    pub fn name(self) -> &'static str {
        match self {
            QpState::Reset => "RESET",
            QpState::Init => "INIT",
            QpState::Rtr => "RTR",
            QpState::Rts => "RTS",
            QpState::Sqd => "SQD",
            QpState::Error => "ERROR",
        }
    }

    /// Whether packets of the peer are accepted.
    pub fn receives(self) -> bool {
        matches!(self, QpState::Rtr | QpState::Rts | QpState::Sqd)
    }
}

impl MigrationState {
    /// All states.
    pub const ALL: [MigrationState; 3] =
        [MigrationState::Migrated, MigrationState::Rearm, MigrationState::Armed];

    /// The name of the state in InfiniBand.
    pub fn name(self) -> &'static str {
        match self {
            MigrationState::Migrated => "MIGRATED",
            MigrationState::Rearm => "REARM",
            MigrationState::Armed => "ARMED",
        }
    }
}

impl fmt::Display for QpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for MigrationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An attribute of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The primary path.
    Path,
    /// The peer's queue pair.
    Peer,
    /// The first packet number of the peer.
    ReceiveNumber,
    /// The longest payload of a packet.
    PacketSize,
    /// The time that a peer waits if no receive is posted here.
    NotReadyTimer,
    /// The first packet number of this end.
    SendNumber,
    /// The acknowledgement timeout.
    AckTimeout,
    /// The retransmission limit.
    Retries,
    /// How often a message is offered to a peer that is not ready.
    NotReadyRetries,
    /// The alternate path.
    Alternate,
    /// The request to load it: the migration state REARM.
    Load,
}

impl Attribute {
    /// The name of the attribute in a refusal.
    pub fn name(self) -> &'static str {
        match self {
            Attribute::Path => "path",
            Attribute::Peer => "peer",
            Attribute::ReceiveNumber => "receive number",
            Attribute::PacketSize => "packet size",
            Attribute::NotReadyTimer => "not-ready timer",
            Attribute::SendNumber => "send number",
            Attribute::AckTimeout => "ack timeout",
            Attribute::Retries => "retries",
            Attribute::NotReadyRetries => "not-ready retries",
            Attribute::Alternate => "alternate",
            Attribute::Load => "load",
        }
    }
}

/// A transition that a user may request.
pub struct Transition {
    /// The state before.
    pub from: QpState,
    /// The state after.
    pub to: QpState,
    /// The required attributes.
    pub needs: &'static [Attribute],
    /// The optional attributes.
    pub may_carry: &'static [Attribute],
}

use Attribute as A;
use QpState as S;

/// Every transition but those to ERROR and to RESET, which are allowed from everywhere and carry
/// nothing. An alternate path may be given from INIT to RTR on, and loaded at any time after.
pub const TRANSITIONS: &[Transition] = &[
    Transition { from: S::Reset, to: S::Init, needs: &[A::Path], may_carry: &[] },
    Transition { from: S::Init, to: S::Init, needs: &[], may_carry: &[A::Path] },
    Transition {
        from: S::Init,
        to: S::Rtr,
        needs: &[A::Peer, A::ReceiveNumber, A::PacketSize, A::NotReadyTimer],
        may_carry: &[A::Alternate, A::Load],
    },
    Transition {
        from: S::Rtr,
        to: S::Rts,
        needs: &[A::SendNumber, A::AckTimeout, A::Retries, A::NotReadyRetries],
        may_carry: &[A::NotReadyTimer, A::Alternate, A::Load],
    },
    Transition {
        from: S::Rtr,
        to: S::Rtr,
        needs: &[],
        may_carry: &[A::NotReadyTimer, A::Alternate, A::Load],
    },
    Transition {
        from: S::Rts,
        to: S::Rts,
        needs: &[],
        may_carry: &[A::NotReadyTimer, A::Alternate, A::Load],
    },
    Transition { from: S::Rts, to: S::Sqd, needs: &[], may_carry: &[] },
    Transition {
        from: S::Sqd,
        to: S::Sqd,
        needs: &[],
        may_carry: &[
            A::NotReadyTimer,
            A::AckTimeout,
            A::Retries,
            A::NotReadyRetries,
            A::Alternate,
            A::Load,
        ],
    },
    Transition {
        from: S::Sqd,
        to: S::Rts,
        needs: &[],
        may_carry: &[A::NotReadyTimer, A::Alternate, A::Load],
    },
];

/// The transition between two states, where there is one.
pub fn transition(from: QpState, to: QpState) -> Option<&'static Transition> {
    TRANSITIONS.iter().find(|row| row.from == from && row.to == to)
}

/// The cause of a change of the migration state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The user requests to load an alternate path.
    Load,
    /// Both ends have loaded the alternate path, and it works.
    Loaded,
    /// The alternate path does not answer.
    Unhealthy,
    /// The user requests a migration.
    Request,
    /// The primary path has failed.
    Failure,
    /// The primary path passes short packets only.
    Length,
    /// The primary path loses packets, and the alternate one does not.
    Loss,
    /// The peer has migrated.
    Peer,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 8] = [
        Cause::Load,
        Cause::Loaded,
        Cause::Unhealthy,
        Cause::Request,
        Cause::Failure,
        Cause::Length,
        Cause::Loss,
        Cause::Peer,
    ];

    /// The name of the cause.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Load => "load",
            Cause::Loaded => "loaded",
            Cause::Unhealthy => "unhealthy",
            Cause::Request => "request",
            Cause::Failure => "failure",
            Cause::Length => "length",
            Cause::Loss => "loss",
            Cause::Peer => "peer",
        }
    }
}

/// The whole of figure 2: what is not here does not happen. A peer that was armed may migrate when
/// this end is not armed yet, or not any more; following it is the only way to go on.
pub const MIGRATIONS: &[(MigrationState, Cause, MigrationState)] = &[
    (MigrationState::Migrated, Cause::Load, MigrationState::Rearm),
    (MigrationState::Rearm, Cause::Load, MigrationState::Rearm),
    (MigrationState::Armed, Cause::Load, MigrationState::Rearm),
    (MigrationState::Rearm, Cause::Loaded, MigrationState::Armed),
    (MigrationState::Armed, Cause::Unhealthy, MigrationState::Rearm),
    (MigrationState::Armed, Cause::Request, MigrationState::Migrated),
    (MigrationState::Armed, Cause::Failure, MigrationState::Migrated),
    (MigrationState::Armed, Cause::Length, MigrationState::Migrated),
    (MigrationState::Armed, Cause::Loss, MigrationState::Migrated),
    (MigrationState::Armed, Cause::Peer, MigrationState::Migrated),
    (MigrationState::Rearm, Cause::Peer, MigrationState::Migrated),
    (MigrationState::Migrated, Cause::Peer, MigrationState::Migrated),
];

/// The next migration state for a cause; `None` if the cause does not apply.
pub fn migration(from: MigrationState, cause: Cause) -> Option<MigrationState> {
    MIGRATIONS.iter().find(|row| row.0 == from && row.1 == cause).map(|row| row.2)
}
