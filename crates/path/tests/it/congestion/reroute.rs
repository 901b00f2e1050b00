//! Round-trip times that change in mid-run, as when a fabric is routed anew.

use super::net::{MS, Net, US};

/// Messages of 64 KiB that wait: more than the largest window.
const QUEUE: usize = 320;

/// The part of the rate that is left a while after each change of the round trip.
fn rates_after_changes(gbits: f64, trips: &[u64]) -> Vec<f64> {
    let mut net = Net::single(gbits, trips[0], 5 * MS, 1);
    net.send(0, QUEUE);
    let rates = trips.iter().map(|trip| {
        net.reroute(*trip);
        net.pass(400 * MS + 40 * trip);
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
    check(1.0, &[100 * US, 50 * MS]);
}

#[test]
fn the_rate_recovers_when_a_long_way_becomes_short() {
    check(1.0, &[20 * MS, 100 * US, 5 * MS, 20 * MS]);
    check(1.0, &[50 * MS, 100 * US]);
}

/// A way that becomes longer is silent for as long as the difference, and no longer: here for less
/// than a dead path is waited for.
#[test]
fn a_longer_way_does_not_cause_a_migration() {
    for trip in [MS, 2 * MS, 5 * MS] {
        let mut net = Net::single(1.0, 100 * US, 5 * MS, 2);
        net.send(0, QUEUE);
        for _ in 0..20 {
            net.pass(50 * MS);
            net.reroute(trip);
            net.pass(50 * MS);
            net.reroute(100 * US);
        }
        let counters = net.flows[0].ends.each_ref().map(|end| *end.counters());
        assert_eq!(net.flows[0].migrations, 0, "round trips of {trip} ns: {counters:?}");
    }
}

/// Round trips grow from 0.1 to 50 ms, and shrink again, by a millisecond each time.
#[test]
fn a_way_that_becomes_longer_step_by_step_is_not_left() {
    let mut net = Net::single(1.0, 100 * US, 5 * MS, 2);
    net.send(0, QUEUE);
    for step in (0..=50u64).chain((0..50).rev()) {
        net.reroute(100 * US + step * MS);
        net.pass(20 * MS);
    }
    assert_eq!(net.flows[0].migrations, 0);
    let rate = net.rate(0, 200 * MS);
    assert!(rate >= 0.9, "{rate}");
}
