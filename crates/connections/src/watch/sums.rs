//! What all processes of this host have counted, also those that are gone: sums that never fall, as
//! a collector of counters needs them.

use std::collections::BTreeMap;

use laneway_path::{Counters, Histogram, Nanos};

use super::look::{Seen, Snapshot};
use crate::endpoint::Traffic;

/// What is summed up.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// Traffic of each device, sent and received.
    pub traffic: BTreeMap<String, [Traffic; 2]>,
    pub counters: Counters,
}

/// Sums over the processes of this host. A process adds what it has counted since it was seen last.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub(super) sum: Sum,
    /// What each service had counted when it was seen last.
    last: BTreeMap<(u32, u32), Sum>,
}

impl Sums {
    /// Nothing seen yet.
    pub fn new() -> Sums {
        Sums::default()
    }

    /// Adds what is new in a snapshot.
    pub fn add(&mut self, look: &Snapshot) {
        let before = std::mem::take(&mut self.last);
        for seen in &look.seen {
            let key = (seen.pid, seen.service);
            let now = of(seen);
            // Another process may have got the number of one that has ended.
            let then = before.get(&key).filter(|then| then.counters.sent <= now.counters.sent);
            self.sum.add(&now, then.unwrap_or(&Sum::default()));
            self.last.insert(key, now);
        }
        if !look.silent.is_empty() {
            // Those that did not answer this time are not counted twice the next time.
            before.into_iter().for_each(|(key, then)| _ = self.last.entry(key).or_insert(then));
        }
    }
}

fn of(seen: &Seen) -> Sum {
    let mut sum = Sum { counters: seen.status.totals, ..Sum::default() };
    for path in &seen.status.paths {
        let device = path.device.clone().unwrap_or_default();
        let both = sum.traffic.entry(device).or_default();
        for (all, more) in both.iter_mut().zip([path.sent, path.received]) {
            all.packets += more.packets;
            all.bytes += more.bytes;
        }
    }
    sum
}

fn grow(sum: &mut u64, now: u64, then: u64) {
    *sum += now.saturating_sub(then);
}

fn grow_histogram(sum: &mut Histogram, now: &Histogram, then: &Histogram) {
    for ((sum, now), then) in sum.counts.iter_mut().zip(now.counts).zip(then.counts) {
        grow(sum, now, then);
    }
    grow(&mut sum.sum, now.sum, then.sum);
}

impl Sum {
    fn add(&mut self, now: &Sum, then: &Sum) {
        for (device, now) in &now.traffic {
            let then = then.traffic.get(device).copied().unwrap_or_default();
            let both = self.traffic.entry(device.clone()).or_default();
            for ((sum, now), then) in both.iter_mut().zip(now).zip(then) {
                grow(&mut sum.packets, now.packets, then.packets);
                grow(&mut sum.bytes, now.bytes, then.bytes);
            }
        }
        let (sum, now, then) = (&mut self.counters, &now.counters, &then.counters);
        grow(&mut sum.migrations, now.migrations, then.migrations);
        grow(&mut sum.left_dead, now.left_dead, then.left_dead);
        grow(&mut sum.left_short, now.left_short, then.left_short);
        grow(&mut sum.left_lossy, now.left_lossy, then.left_lossy);
        grow(&mut sum.suspicions, now.suspicions, then.suspicions);
        grow(&mut sum.sent_again, now.sent_again, then.sent_again);
        grow(&mut sum.duplicates, now.duplicates, then.duplicates);
        grow(&mut sum.replayed, now.replayed, then.replayed);
        grow_histogram(&mut sum.trips, &now.trips, &then.trips);
        grow_histogram(&mut sum.stalls, &now.stalls, &then.stalls);
    }
}

/// The limits of a histogram in seconds.
pub(super) fn limits() -> Vec<f64> {
    let seconds = |limit: Nanos| limit as f64 / 1e9;
    (0..Histogram::STEPS).filter_map(Histogram::limit).map(seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Status;

    fn look(services: &[(u32, u64)]) -> Snapshot {
        let seen = services.iter().map(|&(pid, count)| {
            let mut totals = Counters::default();
            (totals.sent, totals.migrations) = (count, count);
            (0..count).for_each(|_| totals.trips.count(1000));
            let (paths, connections) = (Vec::new(), Vec::new());
            let (program, dropped) = (String::new(), crate::Dropped::default());
            let status = Status { program, paths, connections, dropped, totals };
            Seen { pid, service: 0, status }
        });
        Snapshot { seen: seen.collect(), silent: Vec::new() }
    }

    #[test]
    fn sums_never_fall() {
        let mut sums = Sums::new();
        // The second ends, and another process gets its number.
        let all = [&[(1, 5), (2, 7)][..], &[(1, 6)], &[(1, 6), (2, 3)], &[(2, 1)], &[]];
        let wanted = [12, 13, 16, 17, 17];
        for (services, wanted) in all.into_iter().zip(wanted) {
            sums.add(&look(services));
            let counters = sums.sum.counters;
            assert_eq!((counters.migrations, counters.trips.counts[0]), (wanted, wanted));
        }
        let mut silent = look(&[]);
        silent.silent.push("process 2 did not answer".into());
        sums.add(&look(&[(2, 4)]));
        sums.add(&silent);
        sums.add(&look(&[(2, 5)]));
        assert_eq!(sums.sum.counters.migrations, 17 + 5);
    }
}
