//! The receiving half of a connection: packets put in order, and what is owed to the peer for them.

mod incoming;

use incoming::Incoming;

pub(crate) use incoming::{Receive, Taken};

use crate::Nanos;
use crate::connection::Modify;
use crate::encoding::{NOT_READY_APART, NotReadyTimer};
use crate::wire::Range;

/// An acknowledgement waits this long for a packet that it could travel with.
const ACK_WAITS: Nanos = 100_000;
/// The number of packets that trigger an acknowledgement at once, and of bytes in frames.
const ACK_AFTER: u32 = 16;
const ACK_AFTER_BYTES: usize = 384 << 10;

pub(crate) struct Receiver {
    incoming: Incoming,
    not_ready_timer: NotReadyTimer,
    /// When an acknowledgement must leave, and how many packets wait for it.
    ack_at: Option<Nanos>,
    unacknowledged: u32,
    /// Bytes of frames that wait for it; `None` where data does not come by streams.
    unacknowledged_bytes: Option<usize>,
    /// The peer must learn that no receive is posted.
    not_ready_due: bool,
    /// When it must learn so again: it does not ask.
    not_ready_at: Option<Nanos>,
    /// Marks of congestion, which data does not carry, wait for an acknowledgement.
    has_marks: bool,
}

/// A packet of data, as it arrived.
pub(crate) struct Data<'p> {
    pub number: u64,
    pub first: bool,
    pub last: bool,
    pub ack_wanted: bool,
    pub bytes: &'p [u8],
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            incoming: Incoming::default(),
            not_ready_timer: NotReadyTimer::USUAL,
            ack_at: None,
            unacknowledged: 0,
            unacknowledged_bytes: None,
            not_ready_due: false,
            not_ready_at: None,
            has_marks: false,
        }
    }
}

impl Receiver {
    /// Takes over the attributes that concern it.
    pub fn apply(&mut self, modify: &Modify) {
        self.not_ready_timer = modify.not_ready_timer.unwrap_or(self.not_ready_timer);
        if let Some(number) = modify.receive_number {
            self.incoming.begin(u64::from(number));
        }
    }

    /// Data comes by streams.
    pub fn use_streams(&mut self) {
        self.unacknowledged_bytes = Some(0);
    }

    /// Whether a packet waits for its receive.
    pub fn waits_for_receive(&self) -> bool {
        self.incoming.waits_for_receive()
    }

    /// Whether a receive is posted for the next message that begins.
    pub fn has_receive(&self) -> bool {
        self.incoming.has_receive()
    }

    /// Posts a receive. A packet may have waited for it; then the peer waits too, and is
    /// acknowledged at once. It may not fit either.
    pub fn post(&mut self, id: u64, buffer: Vec<u8>) -> Option<Taken> {
        let before = self.incoming.expects();
        let taken = self.incoming.post(id, buffer);
        if self.incoming.expects() == before && taken != Taken::Broken {
            return None;
        }
        (self.not_ready_at, self.not_ready_due) = (None, false);
        self.owe(0, taken, true);
        Some(taken)
    }

    /// A packet of data arrived.
    pub fn on_data(
        &mut self,
        now: Nanos,
        Data { number, first, last, ack_wanted, bytes }: Data<'_>,
    ) -> Taken {
        // What closes a gap is reported at once, too: the peer may be about to send it again.
        let mut ack_wanted = ack_wanted || self.incoming.has_early();
        if let Some(waiting) = &mut self.unacknowledged_bytes {
            *waiting += bytes.len();
            ack_wanted |= *waiting >= ACK_AFTER_BYTES;
        }
        let taken = self.incoming.on_data(number, first, last, bytes);
        self.owe(now, taken, ack_wanted);
        taken
    }

    fn owe(&mut self, now: Nanos, taken: Taken, ack_wanted: bool) {
        self.unacknowledged += 1;
        let at_once = ack_wanted || taken != Taken::InOrder || self.unacknowledged >= ACK_AFTER;
        let at = if at_once { now } else { now + ACK_WAITS };
        self.ack_at = Some(self.ack_at.map_or(at, |before| before.min(at)));
        self.not_ready_due |= taken == Taken::NotReady;
        if taken == Taken::NotReady && self.unacknowledged_bytes.is_some() {
            self.not_ready_at = Some(now + NOT_READY_APART);
        }
    }

    /// The next message that is complete.
    pub fn pop(&mut self) -> Option<Receive> {
        self.incoming.pop()
    }

    /// Gives back the receives that no message will come for.
    pub fn flush(&mut self) -> Vec<u64> {
        (self.ack_at, self.not_ready_due, self.not_ready_at) = (None, false, None);
        self.incoming.flush()
    }

    /// Forgets the peer.
    pub fn reset(&mut self) {
        (self.incoming, self.not_ready_at) = (Incoming::default(), None);
    }

    /// The number of the packet that is expected next.
    pub fn expects(&self) -> u64 {
        self.incoming.expects()
    }

    /// Packets that came early, for an acknowledgement.
    pub fn early(&self) -> Vec<Range> {
        self.incoming.early()
    }

    /// When an acknowledgement must leave.
    pub fn ack_at(&self) -> Option<Nanos> {
        self.ack_at
    }

    /// An acknowledgement is due at this time.
    pub fn acknowledge_at(&mut self, at: Nanos) {
        self.ack_at = Some(at);
    }

    /// A packet was marked, which the next acknowledgement reports.
    pub fn report_marks(&mut self) {
        self.has_marks = true;
    }

    /// An acknowledgement leaves.
    pub fn on_ack_sent(&mut self) {
        (self.ack_at, self.unacknowledged, self.has_marks) = (None, 0, false);
        self.unacknowledged_bytes = self.unacknowledged_bytes.map(|_| 0);
    }

    /// Data leaves, which says what arrived in order; only what came early needs more words.
    pub fn on_data_sent(&mut self) {
        if !self.incoming.has_early() && !self.has_marks {
            self.on_ack_sent();
        }
    }

    /// When the peer must learn again that no receive is posted.
    pub fn not_ready_at(&self) -> Option<Nanos> {
        self.not_ready_at
    }

    /// Time has passed.
    pub fn on_timeout(&mut self, now: Nanos) {
        if self.not_ready_at.is_some_and(|at| at <= now) {
            self.not_ready_due = true;
            self.not_ready_at = Some(now + NOT_READY_APART);
        }
    }

    /// Whether something must leave now.
    pub fn has_due(&self, now: Nanos) -> bool {
        self.not_ready_due || self.ack_at.is_some_and(|at| at <= now)
    }

    /// The time that the peer is to wait for a receive, if it must learn that none is posted.
    pub fn take_not_ready(&mut self) -> Option<NotReadyTimer> {
        std::mem::take(&mut self.not_ready_due).then_some(self.not_ready_timer)
    }
}
