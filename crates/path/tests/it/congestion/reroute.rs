//! Round-trip times that change in mid-run, as when a fabric is routed anew.

use super::net::{MS, Net, US};

/// Messages of 64 KiB that wait: more than the largest window.
const QUEUE: usize = 320;

/// The part of the rate that is left a while after each change of the round trip.
fn rates_after_changes(gbits: f64, trips: &[u64]) -> Vec<f64> {
    let mut net = Net::single(gbits, trips[0], 5 * MS);
    net.send(0, QUEUE);
    let rates = trips.iter().map(|trip| {
        net.reroute(*trip);
        net.pass(400 * MS + 10 * trip);
        net.rate(0, 200 * MS)
    });
    rates.collect()
}

fn check(gbits: f64, trips: &[u64]) {
    let rates = rates_after_changes(gbits, trips);
    println!("{gbits} Gbit/s, round trips of {trips:?} ns: {rates:.2?}");
    assert!(rates.iter().all(|rate| *rate >= 0.9), "{rates:?} of the rate after {trips:?} ns");
}

#[test]
fn the_rate_recovers_after_a_reroute() {
    check(10.0, &[100 * US, 10 * MS, 100 * US]);
    check(1.0, &[100 * US, 10 * MS, 100 * US]);
    check(1.0, &[100 * US, 50 * MS, 100 * US]);
    check(1.0, &[50 * MS, 100 * US, 5 * MS, 50 * MS]);
}
