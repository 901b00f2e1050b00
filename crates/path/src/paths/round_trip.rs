//! Round-trip times of a path.

use crate::Nanos;

/// Assumed before the first round trip was measured.
const FIRST_TRIP: Nanos = 1_000_000;
/// The longest round trip is remembered for this time, at least.
const RECENT: Nanos = 200_000_000;

/// The latest, the smoothed and the least round-trip time of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub last: Nanos,
    pub smoothed: Nanos,
    pub least: Nanos,
}

/// The round-trip times that were measured on a path.
#[derive(Default)]
pub(crate) struct RoundTrips {
    measured: Option<RoundTrip>,
    /// The longest of this stretch of time and of the one before.
    longest: [Nanos; 2],
    stretch_ends: Nanos,
}

impl RoundTrips {
    /// Records a measured round trip.
    pub fn add(&mut self, now: Nanos, last: Nanos) {
        self.measured = Some(match self.measured {
            None => RoundTrip { last, smoothed: last, least: last },
            Some(trip) => RoundTrip {
                last,
                smoothed: (7 * trip.smoothed + last) / 8,
                least: trip.least.min(last),
            },
        });
        if now >= self.stretch_ends {
            self.longest = [0, self.longest[0]];
            self.stretch_ends = now + RECENT;
        }
        self.longest[0] = self.longest[0].max(last);
    }

    /// The estimate; an assumed one before the first measurement.
    pub fn estimate(&self) -> RoundTrip {
        let first = RoundTrip { last: FIRST_TRIP, smoothed: FIRST_TRIP, least: FIRST_TRIP };
        self.measured.unwrap_or(first)
    }

    /// None before the first measurement.
    pub fn smoothed(&self) -> Option<Nanos> {
        self.measured.map(|trip| trip.smoothed)
    }

    /// The longest recent round trip; a packet that takes longer may be lost, or wait in a queue
    /// that has just grown.
    pub fn longest(&self) -> Nanos {
        let seen = self.longest[0].max(self.longest[1]);
        if self.measured.is_none() { FIRST_TRIP } else { seen }
    }
}
