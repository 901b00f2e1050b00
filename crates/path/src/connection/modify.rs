//! Transitions that the user asks for: all of one is checked before any of it is done.

use super::{Connection, Event, MOST_PACKET_BYTES, Refusal, Why};
use crate::encoding::{AckTimeout, NotReadyTimer, Retries};
use crate::number::START_LIMIT;
use crate::state::{Attribute, QpState, Transition, transition};
use crate::{Nanos, PathId};

/// A requested transition with its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modify {
    /// The new state.
    pub to: QpState,
    /// The primary path.
    pub path: Option<PathId>,
    /// The peer's queue pair.
    pub peer: Option<u32>,
    /// The first packet number of the peer.
    pub receive_number: Option<u32>,
    /// The longest payload of a packet.
    pub packet_bytes: Option<usize>,
    /// The time that a peer waits if no receive is posted here.
    pub not_ready_timer: Option<NotReadyTimer>,
    /// The first packet number of this end.
    pub send_number: Option<u32>,
    /// The acknowledgement timeout.
    pub ack_timeout: Option<AckTimeout>,
    /// The retransmission limit.
    pub retries: Option<Retries>,
    /// How often a message is offered to a peer that is not ready.
    pub not_ready_retries: Option<Retries>,
    /// The alternate path.
    pub alternate: Option<PathId>,
    /// Whether the alternate path is to be loaded.
    pub load: bool,
}

impl Modify {
    /// A transition without attributes.
    pub fn to(to: QpState) -> Modify {
        Modify {
            to,
            path: None,
            peer: None,
            receive_number: None,
            packet_bytes: None,
            not_ready_timer: None,
            send_number: None,
            ack_timeout: None,
            retries: None,
            not_ready_retries: None,
            alternate: None,
            load: false,
        }
    }

    fn has(&self, attribute: Attribute) -> bool {
        match attribute {
            Attribute::Path => self.path.is_some(),
            Attribute::Peer => self.peer.is_some(),
            Attribute::ReceiveNumber => self.receive_number.is_some(),
            Attribute::PacketSize => self.packet_bytes.is_some(),
            Attribute::NotReadyTimer => self.not_ready_timer.is_some(),
            Attribute::SendNumber => self.send_number.is_some(),
            Attribute::AckTimeout => self.ack_timeout.is_some(),
            Attribute::Retries => self.retries.is_some(),
            Attribute::NotReadyRetries => self.not_ready_retries.is_some(),
            Attribute::Alternate => self.alternate.is_some(),
            Attribute::Load => self.load,
        }
    }
}

const EVERY: [Attribute; 11] = [
    Attribute::Path,
    Attribute::Peer,
    Attribute::ReceiveNumber,
    Attribute::PacketSize,
    Attribute::NotReadyTimer,
    Attribute::SendNumber,
    Attribute::AckTimeout,
    Attribute::Retries,
    Attribute::NotReadyRetries,
    Attribute::Alternate,
    Attribute::Load,
];

const NOTHING: &[Attribute] = &[];

impl Connection {
    /// Changes the state, or only the attributes.
    pub fn modify(&mut self, now: Nanos, modify: Modify) -> Result<(), Refusal> {
        self.check(&modify)?;
        match modify.to {
            QpState::Reset => self.reset(),
            QpState::Error => {
                if self.state() != QpState::Error {
                    self.fail(Why::Asked);
                }
            }
            _ => self.apply(now, &modify),
        }
        Ok(())
    }

    fn check(&self, modify: &Modify) -> Result<(), Refusal> {
        let (from, to) = (self.state(), modify.to);
        let (needs, may_carry) = match transition(from, to) {
            _ if matches!(to, QpState::Reset | QpState::Error) => (NOTHING, NOTHING),
            Some(Transition { needs, may_carry, .. }) => (*needs, *may_carry),
            None => return Err(Refusal::NoTransition { from, to }),
        };
        for attribute in EVERY {
            let (needed, given) = (needs.contains(&attribute), modify.has(attribute));
            if needed && !given {
                return Err(Refusal::Missing { from, to, attribute });
            }
            if given && !needed && !may_carry.contains(&attribute) {
                return Err(Refusal::NotNow { from, to, attribute });
            }
        }
        self.check_values(modify)
    }

    fn check_values(&self, modify: &Modify) -> Result<(), Refusal> {
        for path in [modify.path, modify.alternate].into_iter().flatten() {
            if !self.paths.knows(path) {
                return Err(Refusal::UnknownPath { path });
            }
        }
        if let Some(path) = modify.alternate.filter(|path| *path == self.primary()) {
            return Err(Refusal::AlternateIsPrimary { path });
        }
        if modify.load && modify.alternate.or(self.alternate()).is_none() {
            return Err(Refusal::NoAlternate);
        }
        let sizes = 1..=MOST_PACKET_BYTES;
        if let Some(bytes) = modify.packet_bytes.filter(|bytes| !sizes.contains(bytes)) {
            return Err(Refusal::PacketSize { bytes, most: MOST_PACKET_BYTES });
        }
        let numbers = [
            (Attribute::Peer, modify.peer),
            (Attribute::ReceiveNumber, modify.receive_number),
            (Attribute::SendNumber, modify.send_number),
        ];
        match numbers.iter().find(|(_, number)| number.is_some_and(|number| number >= START_LIMIT))
        {
            Some((attribute, _)) => Err(Refusal::Number { attribute: *attribute }),
            None => Ok(()),
        }
    }

    fn apply(&mut self, now: Nanos, modify: &Modify) {
        self.queue_pair.apply(modify);
        if let Some(path) = modify.path {
            self.paths.set_primary(path);
        }
        if let Some(bytes) = modify.packet_bytes {
            self.paths.set_packet_bytes(bytes);
        }
        self.receiver.apply(modify);
        self.sender.apply(modify);
        if let Some(path) = modify.alternate {
            self.paths.specify(path);
        }
        if modify.load {
            self.paths.load(now);
        }
    }

    /// Forgets the peer.
    fn reset(&mut self) {
        self.stop();
        self.receiver.reset();
        self.paths.reset();
        self.queue_pair.reset();
    }

    /// Reports once that nothing is outstanding in SQD.
    pub(super) fn report_drained(&mut self) {
        if !self.sender.has_outstanding() && self.queue_pair.drain() {
            self.events.push_back(Event::Drained);
        }
    }
}
