//! Congestion marks: routers mark packets that wait in a queue, and the window shrinks with the
//! part of them that was marked.

use crate::Nanos;

const ALL: u64 = 1024;
/// What a round trip counts for in the average, as a power of two.
const WEIGHT: u32 = 4;
/// Marks say all that there is to know of a queue for this time, or 16 round trips.
const RECENT: Nanos = 100_000_000;

pub(super) struct Marks {
    pub round_began: Nanos,
    /// Packets of this round trip that were acknowledged, and how many were marked.
    pub acked: u64,
    pub marked: u64,
    /// The part that is marked on average.
    part: u64,
    /// When a round trip with marks was last over.
    marked_at: Option<Nanos>,
}

impl Marks {
    pub fn new() -> Marks {
        Marks { round_began: 0, acked: 0, marked: 0, part: ALL, marked_at: None }
    }

    /// A round trip is over. Gives what is left of the window in parts of 1024, if any packet of it
    /// was marked.
    pub fn on_round(&mut self, now: Nanos) -> Option<u64> {
        let part = ALL * self.marked.min(self.acked) / self.acked.max(1);
        self.part = self.part - (self.part >> WEIGHT) + (part >> WEIGHT);
        let any = self.marked > 0;
        if any {
            self.marked_at = Some(now);
        }
        (self.round_began, self.acked, self.marked) = (now, 0, 0);
        any.then_some(ALL - self.part / 2)
    }

    /// Whether routers on the path were seen to mark packets.
    pub fn are_recent(&self, now: Nanos, trip: Nanos) -> bool {
        self.marked_at.is_some_and(|at| now < at + RECENT.max(16 * trip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(marks: &mut Marks, acked: u64, marked: u64) -> Option<u64> {
        (marks.acked, marks.marked) = (acked, marked);
        marks.on_round(1)
    }

    #[test]
    fn a_window_shrinks_with_the_part_that_is_marked() {
        let mut marks = Marks::new();
        assert_eq!(left(&mut marks, 10, 10), Some(512), "the first marks end the doubling");
        for _ in 0..200 {
            assert_eq!(left(&mut marks, 10, 0), None);
        }
        let few = left(&mut marks, 16, 1).expect("one was marked");
        assert!(few > 1000 && few < 1024, "{few}");
    }
}
