//! Whether packets wait because of what this end sends.
//!
//! Once in a round trip the shortest trip of it is compared with one through an empty queue. If
//! packets waited too long the window shrinks, and two round trips later the wait must have become
//! shorter. If it has not, others fill the queue, or the way has become longer: then the shrinking
//! is taken back, and a trip counts as long only if it is longer than it was then.

use crate::Nanos;
use crate::paths::RoundTrip;

/// How long packets may wait in a queue.
pub(super) const WAIT: Nanos = 2_000_000;
/// Round trips after which a smaller window shows.
const ROUNDS: u32 = 2;

/// A smaller window, and what it is to achieve.
struct Trial {
    /// The window and the shortest round trip before.
    window: u64,
    trip: Nanos,
    /// The round trip if only this end fills the queue.
    expected: Nanos,
    rounds_left: u32,
}

/// What is to become of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// It shrinks to this number of parts in 1024.
    Shrink(u64),
    /// It was better before, with this number of bytes. If less made hardly a difference, it is far
    /// too small.
    Restore { window: u64, had_no_effect: bool },
}

/// What a smaller window can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Who fills the queue.
    Large,
    /// Nothing: it is one of many that share the queue.
    Small,
    /// Nothing: packets were lost of late, which has made it smaller, and others too.
    Lossy,
    /// Nothing that marks of congestion do not say better.
    Marked,
}

pub(super) struct Delay {
    /// The round trip to compare with where the least one measured does not serve.
    raised: Option<Nanos>,
    /// Whether others were found to fill a part of the queue.
    is_shared: bool,
    round_began: Nanos,
    shortest: Nanos,
    trial: Option<Trial>,
}

impl Delay {
    pub fn new() -> Delay {
        Delay { raised: None, is_shared: false, round_began: 0, shortest: Nanos::MAX, trial: None }
    }

    /// The round trip through an empty queue, or one to be taken as such.
    fn base(&self, trip: RoundTrip) -> Nanos {
        self.raised.map_or(trip.least, |raised| raised.max(trip.least))
    }

    /// How long the latest packet waited.
    pub fn waited(&self, trip: RoundTrip) -> Nanos {
        trip.last.saturating_sub(self.base(trip))
    }

    /// Whether others were found to fill a part of the queue.
    pub fn is_shared(&self) -> bool {
        self.raised.is_some() && self.is_shared
    }

    /// The window has shrunk for another reason, so that the trial shows nothing.
    pub fn end_trial(&mut self) {
        self.trial = None;
    }

    /// A packet was acknowledged with this window.
    pub fn on_ack(
        &mut self,
        now: Nanos,
        trip: RoundTrip,
        window: u64,
        share: Share,
    ) -> Option<Advice> {
        if share == Share::Marked {
            (self.raised, self.trial) = (None, None);
        }
        self.raised = self.raised.map(|raised| raised.min(trip.last)).filter(|r| *r > trip.least);
        self.shortest = self.shortest.min(trip.last);
        if now.saturating_sub(trip.last) < self.round_began {
            return None;
        }
        let shortest = std::mem::replace(&mut self.shortest, Nanos::MAX);
        self.round_began = now;
        if let Some(trial) = &mut self.trial {
            trial.rounds_left -= 1;
            if trial.rounds_left > 0 {
                return None;
            }
        }
        let trial = self.trial.take();
        if matches!(share, Share::Lossy | Share::Marked) {
            return None;
        }
        let advice = trial.and_then(|trial| self.judge(&trial, shortest));
        if share == Share::Small {
            return advice;
        }
        advice.or_else(|| self.try_less(trip, shortest, window))
    }

    /// What follows from the shortest trip with a smaller window.
    fn judge(&mut self, trial: &Trial, shortest: Nanos) -> Option<Advice> {
        let wanted = trial.trip.saturating_sub(trial.expected);
        let gained = trial.trip.saturating_sub(shortest);
        if 8 * gained >= 5 * wanted {
            return None;
        }
        self.raised = Some(trial.trip.min(shortest));
        let had_no_effect = 4 * gained < wanted;
        self.is_shared = !had_no_effect;
        Some(Advice::Restore { window: trial.window, had_no_effect })
    }

    fn try_less(&mut self, trip: RoundTrip, shortest: Nanos, window: u64) -> Option<Advice> {
        let base = self.base(trip);
        if shortest <= base + WAIT {
            return None;
        }
        // As much as fits without a queue, or a half. Now and then the queue must be empty, or its
        // length would not be known any more.
        let fits = 1000 * base / shortest;
        let must_be_empty = trip.is_old && self.raised.is_none();
        let parts = if must_be_empty { fits } else { fits.max(512) };
        let expected = base.max(shortest * parts / 1024);
        self.trial = Some(Trial { window, trip: shortest, expected, rounds_left: ROUNDS });
        Some(Advice::Shrink(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn trip(last: Nanos) -> RoundTrip {
        RoundTrip { last, smoothed: last, least: MS, is_old: false }
    }

    /// What is advised in round trips of these lengths, with a window of 1000 bytes.
    fn advise(delay: &mut Delay, now: &mut Nanos, trips: &[Nanos]) -> Vec<Advice> {
        let advice = trips.iter().filter_map(|last| {
            *now += last;
            delay.on_ack(*now, trip(*last), 1000, Share::Large)
        });
        advice.collect()
    }

    #[test]
    fn a_queue_of_ones_own_shrinks_with_the_window() {
        let (mut delay, mut now) = (Delay::new(), MS);
        let advice = advise(&mut delay, &mut now, &[2 * MS, 5 * MS, 5 * MS, 2 * MS, 2 * MS]);
        assert_eq!(advice, [Advice::Shrink(512)]);
        assert!(!delay.is_shared());
    }

    #[test]
    fn a_longer_way_does_not() {
        let (mut delay, mut now) = (Delay::new(), MS);
        let advice = advise(&mut delay, &mut now, &[20 * MS; 10]);
        let restored = Advice::Restore { window: 1000, had_no_effect: true };
        assert_eq!(advice, [Advice::Shrink(512), restored]);
        assert_eq!(delay.waited(trip(21 * MS)), MS);
        advise(&mut delay, &mut now, &[4 * MS]);
        assert_eq!(delay.waited(trip(21 * MS)), 17 * MS, "it was the queue of others");
    }

    #[test]
    fn half_an_effect_is_half_the_queue() {
        let (mut delay, mut now) = (Delay::new(), MS);
        let advice = advise(&mut delay, &mut now, &[20 * MS, 20 * MS, 16 * MS]);
        let restored = Advice::Restore { window: 1000, had_no_effect: false };
        assert_eq!(advice, [Advice::Shrink(512), restored]);
    }
}
