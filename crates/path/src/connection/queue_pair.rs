//! The queue pair: its state, its number and its peer's, and what was reported of them.

use super::Modify;
use crate::state::QpState;

pub(super) struct QueuePair {
    number: u32,
    peer: u32,
    state: QpState,
    /// Whether a packet of the peer has come since RESET.
    established: bool,
    drained_reported: bool,
}

impl QueuePair {
    pub fn new(number: u32) -> QueuePair {
        let (established, drained_reported) = (false, false);
        QueuePair { number, peer: 0, state: QpState::Reset, established, drained_reported }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn peer(&self) -> u32 {
        self.peer
    }

    pub fn state(&self) -> QpState {
        self.state
    }

    /// Changes the state, which its table allows.
    pub fn apply(&mut self, modify: &Modify) {
        if modify.to == QpState::Sqd && self.state != QpState::Sqd {
            self.drained_reported = false;
        }
        self.state = modify.to;
        self.peer = modify.peer.unwrap_or(self.peer);
    }

    pub fn fail(&mut self) {
        self.state = QpState::Error;
    }

    /// Forgets the peer.
    pub fn reset(&mut self) {
        (self.state, self.established) = (QpState::Reset, false);
    }

    /// A packet of the peer came; whether it is the first, and none was expected yet.
    pub fn establish(&mut self) -> bool {
        let first = !std::mem::replace(&mut self.established, true);
        first && self.state == QpState::Rtr
    }

    /// Nothing is outstanding; whether this is to be reported, once in SQD.
    pub fn drain(&mut self) -> bool {
        let drains = self.state == QpState::Sqd && !self.drained_reported;
        self.drained_reported |= drains;
        drains
    }
}
