//! The order in which requests for many connections are carried out: one after the other in turns
//! of the progress engine, beside the messages, and not all at once.
//!
//! What a request changes at this end is seen as soon as it returns; what follows from it, packets
//! at both ends and events, takes time. So the next one begins when the peer has answered, and
//! while messages are under way several times as long is left to them.

use std::collections::VecDeque;

use laneway_path::Nanos;

/// A request without an answer for so long, as its path is dead, does not hold up the others.
const LIMIT: Nanos = 250_000;
/// Messages have the time for themselves for this multiple of the last request's time.
const RESTS: Nanos = 1;
/// They do when the last one was sent so lately.
const LATELY: Nanos = 1_000_000;
/// A turn goes before what has arrived when the last one began so long ago.
const OVERDUE: Nanos = 500_000;

/// Places of connections that wait for their turn.
#[derive(Default)]
pub(crate) struct Turns {
    pending: VecDeque<u32>,
    /// The connection whose turn it is, unless it is known to be over.
    current: Option<u32>,
    /// When its turn, or that of the last one, began.
    begun_at: Nanos,
    /// Until when messages have the time for themselves.
    rests_until: Nanos,
    /// Until when more messages are expected.
    busy_until: Nanos,
}

/// What the owner of the connections says of them.
pub(crate) trait Turned {
    /// Whether the connection at a place still waits for its turn.
    fn waits(&self, place: u32) -> bool;

    /// Whether nothing is left to be agreed with the peer of the connection at a place.
    fn is_settled(&self, place: u32) -> bool;
}

impl Turns {
    /// Adds the connection at a place.
    pub fn push(&mut self, place: u32) {
        self.pending.push_back(place);
    }

    /// A message is sent over one of the connections.
    pub fn on_message(&mut self, now: Nanos) {
        self.busy_until = now + LATELY;
    }

    /// When the next turn can begin; `None` if no connection waits.
    pub fn next_at(&mut self, now: Nanos, of: &impl Turned) -> Option<Nanos> {
        if self.pending.is_empty() {
            return None;
        }
        if let Some(place) = self.current {
            let limit = self.begun_at + LIMIT;
            // Where something was requested again meanwhile, that is another turn.
            if now < limit && !of.is_settled(place) && !of.waits(place) {
                return Some(limit);
            }
            self.current = None;
            self.rests_until = now + RESTS * (now - self.begun_at).min(LIMIT);
        }
        Some(if now < self.busy_until { self.rests_until.max(now) } else { now })
    }

    /// Whether a turn goes before what has arrived.
    pub fn is_overdue(&self, now: Nanos) -> bool {
        !self.pending.is_empty() && self.begun_at + OVERDUE <= now
    }

    /// The connection whose turn begins now, if any does.
    pub fn begin(&mut self, now: Nanos, of: &impl Turned) -> Option<u32> {
        if self.next_at(now, of).is_none_or(|at| at > now) {
            return None;
        }
        self.begun_at = now;
        while let Some(place) = self.pending.pop_front() {
            if of.waits(place) {
                self.current = Some(place);
                return Some(place);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections that wait, and those whose peers have answered.
    struct Ends {
        waits: Vec<u32>,
        settled: Vec<u32>,
    }

    impl Turned for Ends {
        fn waits(&self, place: u32) -> bool {
            self.waits.contains(&place)
        }

        fn is_settled(&self, place: u32) -> bool {
            self.settled.contains(&place)
        }
    }

    #[test]
    fn one_request_is_under_way_at_a_time_and_messages_have_time_between() {
        let mut ends = Ends { waits: vec![1, 3, 4, 5], settled: vec![] };
        let mut turns = Turns::default();
        turns.on_message(0);
        assert_eq!((turns.begin(0, &ends), turns.next_at(0, &ends)), (None, None));
        (1..=5).for_each(|place| turns.push(place));
        assert_eq!(turns.begin(1000, &ends), Some(1));
        ends.waits.retain(|place| *place != 1);
        assert_eq!((turns.begin(2000, &ends), turns.next_at(2000, &ends)), (None, Some(251_000)));
        ends.settled.push(1);
        assert_eq!(turns.next_at(11_000, &ends), Some(11_000 + RESTS * 10_000));
        // The second is gone; the third has no answer.
        assert_eq!((turns.begin(12_000, &ends), turns.begin(90_000, &ends)), (None, Some(3)));
        ends.waits.retain(|place| *place != 3);
        assert_eq!(turns.next_at(91_000, &ends), Some(340_000));
        assert_eq!(turns.begin(340_000 + RESTS * LIMIT, &ends), None);
        // No message was sent of late.
        assert_eq!(turns.begin(LATELY, &ends), Some(4));
        assert_eq!(turns.next_at(LATELY, &ends), Some(LATELY), "requested again");
        ends.waits.retain(|place| *place != 4);
        ends.settled.push(4);
        assert_eq!(turns.begin(LATELY + 1000, &ends), Some(5));
        assert_eq!(turns.next_at(LATELY + 2000, &ends), None);
    }
}
