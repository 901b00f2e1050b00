//! What a drill has seen: when messages came, and whether they were right.

use laneway_path::Nanos;

/// Times between two messages shorter than this are not kept one by one.
const SHORT: Nanos = 200_000;
/// Bytes are counted in stretches of this length.
const STRETCH: Nanos = 1_000_000;

/// When messages came.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    begun: Nanos,
    last: Nanos,
    messages: u64,
    /// Times between two messages that were not short: from, until.
    gaps: Vec<(Nanos, Nanos)>,
    /// The time without a message that had not ended when the traffic did: from, until.
    unfinished: Option<(Nanos, Nanos)>,
    /// Bytes of each millisecond.
    bytes: Vec<u64>,
}

impl Trace {
    /// Nothing seen yet.
    pub fn new(now: Nanos) -> Trace {
        Trace { begun: now, last: now, ..Trace::default() }
    }

    pub(super) fn on_message(&mut self, now: Nanos, bytes: usize) {
        if now - self.last >= SHORT {
            self.gaps.push((self.last, now));
        }
        self.last = now;
        self.messages += 1;
        let stretch = ((now - self.begun) / STRETCH) as usize;
        if self.bytes.len() <= stretch {
            self.bytes.resize(stretch + 1, 0);
        }
        self.bytes[stretch] += bytes as u64;
    }

    /// The traffic ends at `now` while a message is under way: it has stalled since the last one.
    pub(super) fn end_stalled(&mut self, now: Nanos) {
        self.unfinished = Some((self.last, now.max(self.last)));
    }

    /// The length so far of the stall that had not ended when the traffic did.
    pub fn unfinished(&self) -> Option<Nanos> {
        self.unfinished.map(|(from, until)| until - from)
    }

    /// How many messages came.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The longest time without a message that touches these instants, also one that has not ended;
    /// 0 where all were short.
    pub fn longest_gap(&self, from: Nanos, until: Nanos) -> Nanos {
        let first = self.gaps.partition_point(|(_, end)| *end < from);
        let open = self.unfinished.iter().filter(|(_, end)| *end >= from);
        let touching = self.gaps[first..].iter().chain(open).filter(|(start, _)| *start <= until);
        touching.map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Bytes a second between two instants.
    pub fn rate(&self, from: Nanos, until: Nanos) -> f64 {
        let index = |at: Nanos| ((at.saturating_sub(self.begun)) / STRETCH) as usize;
        let (first, last) = (index(from), index(until).min(self.bytes.len()));
        let bytes: u64 = self.bytes.get(first..last.max(first)).unwrap_or_default().iter().sum();
        bytes as f64 / ((last.max(first + 1) - first) as f64 * STRETCH as f64 / 1e9)
    }
}

/// Whether messages came once and in order: their numbers count up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    next: u64,
    /// Messages that came.
    pub received: u64,
    /// Those that had come before.
    pub duplicated: u64,
    /// Those that came out of order.
    pub reordered: u64,
    /// Those whose bytes are wrong.
    pub damaged: u64,
}

impl Checked {
    pub(super) fn on_message(&mut self, message: &[u8]) {
        self.received += 1;
        let Some(number) = message.first_chunk().map(|number| u64::from_be_bytes(*number)) else {
            self.damaged += 1;
            return;
        };
        match number.cmp(&self.next) {
            std::cmp::Ordering::Less => self.duplicated += 1,
            std::cmp::Ordering::Equal => self.next += 1,
            std::cmp::Ordering::Greater => {
                self.reordered += 1;
                self.next = number + 1;
            }
        }
        let filler = number as u8;
        let wrong = message.get(8..).unwrap_or_default().iter().any(|byte| *byte != filler);
        self.damaged += u64::from(wrong);
    }

    /// Counts what another connection has seen.
    pub(super) fn add(&mut self, other: &Checked) {
        self.received += other.received;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.damaged += other.damaged;
    }

    /// How many of `sent` messages did not arrive.
    pub fn lost(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.received - self.duplicated)
    }
}

/// Fills a buffer with message number `number`.
pub(super) fn fill(buffer: &mut [u8], number: u64) {
    buffer.fill(number as u8);
    if let Some(head) = buffer.first_chunk_mut() {
        *head = number.to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn gaps_are_found_where_they_are() {
        let mut trace = Trace::new(0);
        for at in [MS, 2 * MS, 12 * MS, 13 * MS, 16 * MS] {
            trace.on_message(at, 1000);
        }
        assert_eq!(trace.longest_gap(5 * MS, 6 * MS), 10 * MS);
        assert_eq!(trace.longest_gap(12 * MS + 1, 20 * MS), 3 * MS);
        assert_eq!(trace.longest_gap(17 * MS, 20 * MS), 0);
        assert_eq!(trace.rate(MS, 3 * MS), 1e6);
        assert_eq!((trace.rate(3 * MS, 11 * MS), trace.messages()), (0.0, 5));
        assert_eq!(trace.unfinished(), None);
        trace.end_stalled(30 * MS);
        assert_eq!(trace.unfinished(), Some(14 * MS));
        assert_eq!(
            (trace.longest_gap(17 * MS, 20 * MS), trace.longest_gap(0, 15 * MS)),
            (14 * MS, 10 * MS)
        );
    }

    #[test]
    fn messages_that_are_wrong_are_counted() {
        let message = |number: u64| {
            let mut bytes = vec![0; 20];
            fill(&mut bytes, number);
            bytes
        };
        let mut checked = Checked::default();
        [0, 1, 2, 2, 5, 6].iter().for_each(|number| checked.on_message(&message(*number)));
        assert_eq!((checked.duplicated, checked.reordered, checked.damaged), (1, 1, 0));
        assert_eq!(checked.lost(7), 2);
        let mut wrong = message(7);
        wrong[9] ^= 1;
        checked.on_message(&wrong);
        checked.on_message(b"short");
        assert_eq!(checked.damaged, 2);
    }
}
