//! The packets that a path loses towards the peer, by what the peer counts.
//!
//! A packet that is overtaken is counted when it comes, and one that is late is not missing all the
//! time: neither reordering nor a longer round trip is a loss. Heavy loss is
//! certain after a few short intervals, light loss after a long one. A single burst, as of a queue
//! that overflows, is neither, and what gets lost while a queue is long may be its overflow.

use crate::Nanos;
use crate::paths::RoundTrip;
use crate::wire::Echo;

/// Heavy loss: three short intervals in a row, none of them shorter than a round trip.
const SHORT: Nanos = 12_000_000;
const SHORT_PACKETS: u64 = 32;
const HEAVY: u64 = 40;
const IN_A_ROW: u32 = 3;
/// Light loss: one long interval, and many packets.
const LONG: Nanos = 300_000_000;
const LONG_PACKETS: u64 = 500;
const LIGHT: u64 = 7;
/// Packets that wait for longer wait in a long queue: congestion control keeps its own shorter.
const LONG_QUEUE: Nanos = 3_000_000;

/// Packets between two times.
struct Interval {
    least_time: Nanos,
    least_packets: u64,
    began: Option<(Nanos, u64)>,
    /// The fewest packets that were missing in this interval, and in the one before: those that
    /// were late had come by then.
    missing: u64,
    missing_before: Option<u64>,
}

impl Interval {
    fn new(least_time: Nanos, least_packets: u64) -> Interval {
        let (began, missing, missing_before) = (None, u64::MAX, None);
        Interval { least_time, least_packets, began, missing, missing_before }
    }

    /// The number of packets that are missing up to `serial`; gives the part that was lost, in
    /// thousandths, at the end of an interval.
    fn add(&mut self, now: Nanos, serial: u64, missing: u64, trip: Nanos) -> Option<u64> {
        self.missing = self.missing.min(missing);
        let (began, first) = *self.began.get_or_insert((now, serial));
        let packets = serial - first;
        if now < began + self.least_time.max(trip) || packets < self.least_packets {
            return None;
        }
        self.began = Some((now, serial));
        let missing = std::mem::replace(&mut self.missing, u64::MAX);
        let before = self.missing_before.replace(missing)?;
        Some(missing.saturating_sub(before) * 1000 / packets)
    }
}

pub(crate) struct Loss {
    latest: Option<u64>,
    short: Interval,
    long: Interval,
    /// Short intervals with heavy loss in a row, and the least of them.
    heavy: u32,
    heavy_lost: u64,
    light_lost: Option<u64>,
}

impl Default for Loss {
    fn default() -> Loss {
        Loss {
            latest: None,
            short: Interval::new(SHORT, SHORT_PACKETS),
            long: Interval::new(LONG, LONG_PACKETS),
            heavy: 0,
            heavy_lost: 0,
            light_lost: None,
        }
    }
}

impl Loss {
    /// The peer reports the latest packet that arrived, and how many did.
    pub fn on_report(&mut self, now: Nanos, echo: &Echo, trip: RoundTrip) {
        if self.latest.is_some_and(|latest| latest >= echo.serial) {
            return;
        }
        if trip.last.saturating_sub(trip.least) > LONG_QUEUE {
            *self = Loss { latest: Some(echo.serial), ..Loss::default() };
            return;
        }
        self.latest = Some(echo.serial);
        let missing = echo.serial.saturating_add(1).saturating_sub(echo.arrived);
        self.count(now, echo.serial, missing, trip.smoothed);
    }

    /// The kernel has sent this number of segments of a stream, some of them again.
    pub fn on_segments(&mut self, now: Nanos, sent: u64, again: u64, trip: RoundTrip) {
        let is_another = self.latest.replace(sent).is_some_and(|before| before > sent);
        if is_another || trip.last.saturating_sub(trip.least) > LONG_QUEUE {
            *self = Loss { latest: Some(sent), ..Loss::default() };
        } else {
            self.count(now, sent, again, trip.smoothed);
        }
    }

    /// Of packets up to this number, some are missing.
    fn count(&mut self, now: Nanos, serial: u64, missing: u64, trip: Nanos) {
        if let Some(lost) = self.short.add(now, serial, missing, trip) {
            let least = if self.heavy == 0 { lost } else { self.heavy_lost.min(lost) };
            self.heavy = if lost >= HEAVY { self.heavy + 1 } else { 0 };
            self.heavy_lost = least;
        }
        if let Some(lost) = self.long.add(now, serial, missing, trip) {
            self.light_lost = Some(lost).filter(|lost| *lost >= LIGHT);
        }
    }

    /// The part of the packets that it loses, in thousandths, while it loses too many.
    pub fn sustained(&self) -> Option<u64> {
        if self.heavy >= IN_A_ROW { Some(self.heavy_lost) } else { self.light_lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathId;
    use crate::wire::Counts;
    use laneway_stats::SplitMix64;

    const MS: Nanos = 1_000_000;
    const TRIP: RoundTrip = RoundTrip { last: MS, smoothed: MS, least: MS, is_old: false };

    fn echo(serial: u64, arrived: u64) -> Echo {
        Echo { path: PathId(0), serial, delay_us: 0, arrived, counts: Counts::default() }
    }

    /// The time in milliseconds after which a path is found to lose packets, of `per_ms` a
    /// millisecond; each is lost by `lost`, and arrives up to `jitter` later than the one before.
    fn found_after(lost: f64, per_ms: u64, jitter: Nanos) -> Option<u64> {
        let (mut random, mut loss) = (SplitMix64::new(1), Loss::default());
        let mut arrivals: Vec<(Nanos, u64)> = (0..10_000 * per_ms)
            .filter_map(|serial| {
                let late = (random.uniform() * jitter as f64) as Nanos;
                (random.uniform() >= lost).then_some((serial * MS / per_ms + late, serial))
            })
            .collect();
        arrivals.sort_unstable();
        let (mut latest, mut arrived) = (0, 0);
        for (at, serial) in arrivals {
            (latest, arrived) = (serial.max(latest), arrived + 1);
            let echo = echo(latest, arrived);
            loss.on_report(at, &echo, TRIP);
            if loss.sustained().is_some() {
                return Some(at / MS);
            }
        }
        None
    }

    #[test]
    fn loss_is_found_in_time_and_reordering_is_none() {
        for per_ms in [5, 50, 500] {
            let heavy = found_after(0.2, per_ms, 0);
            assert!(heavy.is_some_and(|at| at < 70), "{per_ms}: {heavy:?}");
            let light = found_after(0.02, per_ms, 500_000);
            assert!(light.is_some_and(|at| at < 900), "{per_ms}: {light:?}");
            assert_eq!(found_after(0.0, per_ms, 500_000), None, "{per_ms}");
            assert_eq!(found_after(0.001, per_ms, 500_000), None, "{per_ms}");
        }
    }

    #[test]
    fn a_burst_is_not_sustained() {
        let mut loss = Loss::default();
        let mut arrived = 0;
        for serial in 0..100_000 {
            // 200 packets of one millisecond.
            if !(5_000..5_200).contains(&serial) {
                arrived += 1;
            }
            let echo = echo(serial, arrived);
            loss.on_report(serial * MS / 200, &echo, TRIP);
            assert!(loss.sustained().is_none_or(|lost| lost < 10), "{serial}");
        }
    }

    #[test]
    fn what_a_long_queue_loses_is_not_counted() {
        let mut loss = Loss::default();
        let long = RoundTrip { last: 5 * MS, smoothed: 5 * MS, ..TRIP };
        for serial in 0..100_000 {
            let report = echo(serial, serial * 9 / 10);
            let now = serial * MS / 200;
            // As soon as the queue is short the loss is found.
            loss.on_report(now, &report, if serial < 90_000 { long } else { TRIP });
            assert!(serial >= 90_000 || loss.sustained().is_none(), "{serial}");
        }
        assert!(loss.sustained().is_some_and(|lost| (95..=105).contains(&lost)));
    }
}
