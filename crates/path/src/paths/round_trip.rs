//! Round-trip times of a path.

use crate::Nanos;

/// Assumed before the first round trip was measured.
const FIRST_TRIP: Nanos = 1_000_000;
/// The longest round trip is remembered for this time, at least.
const RECENT: Nanos = 200_000_000;
/// The least one is old after this time unless one nearly as short is measured in it. After twice
/// the time it counts no more: the way may have become longer.
const AGES: Nanos = 2_500_000_000;

/// The latest, the smoothed and the least round-trip time of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub last: Nanos,
    pub smoothed: Nanos,
    pub least: Nanos,
    /// Whether the least one was measured so long ago that it must be measured again.
    pub is_old: bool,
}

/// The least round trip of the latest seconds.
#[derive(Clone, Copy)]
struct Least {
    trip: Nanos,
    at: Nanos,
    /// The least one since it became old.
    next: Option<Nanos>,
}

/// The round-trip times that were measured on a path.
#[derive(Default)]
pub(crate) struct RoundTrips {
    measured: Option<RoundTrip>,
    least: Option<Least>,
    /// The longest of this stretch of time and of the one before.
    longest: [Nanos; 2],
    stretch_ends: Nanos,
}

impl RoundTrips {
    /// Records a measured round trip.
    pub fn add(&mut self, now: Nanos, last: Nanos) {
        let first = Least { trip: last, at: now, next: None };
        let least = self.least.map_or(first, |least| least.and(now, last));
        let smoothed = self.measured.map_or(last, |trip| (7 * trip.smoothed + last) / 8);
        let is_old = least.is_old(now);
        self.measured = Some(RoundTrip { last, smoothed, least: least.trip, is_old });
        self.least = Some(least);
        if now >= self.stretch_ends {
            self.longest = [0, self.longest[0]];
            self.stretch_ends = now + RECENT;
        }
        self.longest[0] = self.longest[0].max(last);
    }

    /// The estimate; an assumed one before the first measurement.
    pub fn estimate(&self) -> RoundTrip {
        let [last, smoothed, least] = [FIRST_TRIP; 3];
        self.measured.unwrap_or(RoundTrip { last, smoothed, least, is_old: false })
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

impl Least {
    /// The least round trip when this one has been measured.
    fn and(self, now: Nanos, last: Nanos) -> Least {
        if last <= self.trip + self.trip / 8 {
            return Least { trip: self.trip.min(last), at: now, next: None };
        }
        let next = self.next.map_or(last, |next| next.min(last));
        if now >= self.at + 2 * AGES {
            return Least { trip: next, at: now, next: None };
        }
        Least { next: self.is_old(now).then_some(next), ..self }
    }

    fn is_old(&self, now: Nanos) -> bool {
        now >= self.at + AGES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_round_trip_expires() {
        let mut trips = RoundTrips::default();
        let step = AGES / 50;
        (0..100).for_each(|k| trips.add(k * step, if k % 50 == 0 { 1000 } else { 9000 }));
        assert_eq!(trips.estimate().least, 1000, "it was measured again");
        (100..150).for_each(|k| trips.add(k * step, 9000));
        assert!(trips.estimate().least == 1000 && trips.estimate().is_old);
        (150..152).for_each(|k| trips.add(k * step, 7000 + 10 * k));
        assert_eq!(trips.estimate().least, 8500, "the least one since it became old");
        trips.add(200 * step, 500);
        assert!(trips.estimate().least == 500 && !trips.estimate().is_old);
    }
}
