//! How much later than the packets behind it a packet may arrive.
//!
//! A fabric that sends the packets of one flow over several ways lets them overtake each other. A
//! packet counts as lost if one that left later by more than a window has arrived. The window is a
//! quarter of the least round trip at first, and as long as packets were late in the latest
//! seconds.

use crate::Nanos;
use crate::paths::RoundTrip;

/// Packets that are later than this, or a round trip, are sent again: waiting would cost more.
const MOST: Nanos = 2_000_000;
/// What was seen is remembered for this time, at least.
const RECENT: Nanos = 2_000_000_000;

#[derive(Default)]
pub(super) struct Reordering {
    /// The latest packet of this stretch of time and of the one before.
    latest: [Nanos; 2],
    stretch_ends: Nanos,
}

impl Reordering {
    /// A packet arrived this much later than those behind it.
    pub fn add(&mut self, now: Nanos, late: Nanos, trip: RoundTrip) {
        if late > MOST.max(trip.smoothed) {
            return;
        }
        self.pass(now);
        self.latest[0] = self.latest[0].max(late);
    }

    fn pass(&mut self, now: Nanos) {
        if now >= self.stretch_ends {
            let ended = now < self.stretch_ends + RECENT;
            self.latest = [0, if ended { self.latest[0] } else { 0 }];
            self.stretch_ends = now + RECENT;
        }
    }

    /// How much later a packet must have left for the one before it to be lost.
    pub fn window(&mut self, now: Nanos, trip: RoundTrip) -> Nanos {
        self.pass(now);
        let latest = self.latest[0].max(self.latest[1]);
        (trip.least / 4).max(latest + latest / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1_000;

    #[test]
    fn the_window_follows_the_latest_packets() {
        let trip = RoundTrip { last: 100_000, smoothed: 100_000, least: 80_000, is_old: false };
        let mut reordering = Reordering::default();
        assert_eq!(reordering.window(0, trip), 20 * US);
        reordering.add(US, 400 * US, trip);
        reordering.add(2 * US, 100 * US, trip);
        reordering.add(3 * US, 50_000 * US, trip);
        assert_eq!(reordering.window(4 * US, trip), 500 * US, "one was late beyond all bounds");
        assert_eq!(reordering.window(RECENT + 2 * US, trip), 500 * US);
        assert_eq!(reordering.window(2 * RECENT + 3 * US, trip), 20 * US, "long ago");
    }
}
