//! The stream of a path: a kernel connection that carries data in order, beside the packets that
//! carry everything else.
//!
//! The kernel cuts, repeats and paces what a stream carries. What it cannot say is kept here:
//! whether the stream is open, which frames it has carried, and whether it makes progress.

use crate::Nanos;

/// A stream that holds unacknowledged bytes and shows no progress for so long, beside four round
/// trips, is stuck: longer than the kernel's first retransmission.
const STUCK: Nanos = 300_000_000;
/// After so long the kernel waits for its retransmission: packets were lost.
const WAITS: Nanos = 40_000_000;

/// The kernel is asked this often while data is under way.
const ASK_APART: Nanos = 10_000_000;

/// What the kernel says of a path's stream, since it opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Bytes that the peer's kernel has acknowledged.
    pub acknowledged: u64,
    /// Whether others are under way.
    pub holds_bytes: bool,
    /// Segments that were sent.
    pub segments: u64,
    /// Segments that were sent again.
    pub retransmitted: u64,
}

#[derive(Default)]
pub(crate) struct Stream {
    is_open: bool,
    next_serial: u64,
    /// The serial number of the next frame that arrives, or a later one.
    expects: u64,
    /// Bytes that the kernel had sent and seen acknowledged when it was asked last.
    acknowledged: u64,
    /// Whether some were not.
    holds_bytes: bool,
    /// When the kernel last saw some acknowledged, or the peer has taken frames.
    progress_at: Nanos,
    asked_at: Nanos,
}

impl Stream {
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The stream opens, or is lost; false if this was known.
    pub fn set_open(&mut self, now: Nanos, open: bool) -> bool {
        (self.acknowledged, self.holds_bytes, self.progress_at) = (0, false, now);
        std::mem::replace(&mut self.is_open, open) != open
    }

    /// The serial number of a frame that leaves.
    pub fn next_serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial - 1
    }

    /// A frame has arrived; false where it, or a later one, had arrived before. Frames that a lost
    /// stream carried are left out.
    pub fn on_arrival(&mut self, serial: u64) -> bool {
        let is_new = serial >= self.expects;
        if is_new {
            self.expects = serial.saturating_add(1);
        }
        is_new
    }

    /// What the kernel says of it.
    pub fn on_state(&mut self, now: Nanos, state: &StreamState) {
        if state.acknowledged > self.acknowledged || !self.holds_bytes {
            self.progress_at = now;
        }
        (self.acknowledged, self.holds_bytes) = (state.acknowledged, state.holds_bytes);
        self.asked_at = now;
    }

    /// The peer has taken frames: only from now on may more progress be expected. Those that it
    /// had left in its kernel move nothing in this one for a while.
    pub fn on_progress(&mut self, now: Nanos) {
        self.progress_at = now;
    }

    /// When the kernel is to be asked again, if data is under way.
    pub fn ask_at(&self) -> Nanos {
        self.asked_at + ASK_APART
    }

    /// When the peer's kernel last took some, or the stream opened.
    pub fn progress_at(&self) -> Nanos {
        self.progress_at
    }

    /// Whether it holds bytes and has carried none for long.
    pub fn is_stuck(&self, now: Nanos, trip: Nanos) -> bool {
        self.shows_nothing_for(STUCK + 4 * trip, now)
    }

    /// Whether it has carried none since packets of it were lost, as the kernel sends them again
    /// late.
    pub fn waits(&self, now: Nanos, trip: Nanos) -> bool {
        self.shows_nothing_for(WAITS + 4 * trip, now)
    }

    fn shows_nothing_for(&self, time: Nanos, now: Nanos) -> bool {
        self.is_open && self.holds_bytes && now >= self.progress_at + time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_once_and_in_order() {
        let mut stream = Stream::default();
        assert!(stream.on_arrival(0) && stream.on_arrival(1) && !stream.on_arrival(1));
        assert!(stream.on_arrival(7), "a lost stream carried those before");
        assert!(!stream.on_arrival(6) && !stream.on_arrival(0));
        assert!(stream.on_arrival(u64::MAX) && stream.on_arrival(u64::MAX), "never reached");
    }

    #[test]
    fn a_stream_is_stuck_only_while_it_holds_bytes_that_do_not_move() {
        let state = |acknowledged, holds_bytes| StreamState {
            acknowledged,
            holds_bytes,
            ..StreamState::default()
        };
        let mut stream = Stream::default();
        assert!(stream.set_open(5, true) && !stream.set_open(5, true));
        assert!(!stream.is_stuck(10 * STUCK, 0), "nothing is under way");
        stream.on_state(10 * STUCK, &state(0, true));
        assert!(!stream.is_stuck(11 * STUCK - 1, 0) && stream.is_stuck(11 * STUCK, 0));
        let waits = 10 * STUCK + WAITS;
        assert!(!stream.waits(waits - 1, 0) && stream.waits(waits, 0));
        assert!(!stream.is_stuck(11 * STUCK, 1), "round trips count");
        stream.on_state(11 * STUCK, &state(1, true));
        assert!(!stream.is_stuck(12 * STUCK - 1, 0));
        stream.on_state(12 * STUCK, &state(1, true));
        assert!(stream.is_stuck(12 * STUCK, 0));
        assert_eq!(stream.progress_at(), 11 * STUCK);
        stream.on_progress(12 * STUCK);
        assert!(!stream.is_stuck(13 * STUCK - 1, 0), "the peer took what it had");
        stream.on_state(12 * STUCK, &state(9, false));
        assert!(!stream.is_stuck(20 * STUCK, 0), "all has arrived");
    }
}
