//! What links carry over time: no byte is lost, none is counted twice, no card is overfull.

use laneway_coll::algorithms;
use laneway_core::{Collective, Schedule, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{
    Change, Delivery, Intervals, Network, Outcome, Recorder, Resource, Route, Simulation,
};

use super::support::*;

/// Bytes of a block: above the eager limit of platforms, and no whole number of intervals.
const SIZE: u64 = 100_003;

/// A run, and the bytes of each resource and interval.
struct Recorded {
    outcome: Outcome,
    intervals: Intervals,
    bytes: Vec<Vec<f64>>,
}

fn record(network: &dyn Network, schedule: &dyn Schedule, count: usize) -> Recorded {
    let plain = Simulation::new(network).run(schedule).expect("a run that ends");
    let intervals = Intervals::divide(plain.finish, count);
    let mut recorder = Recorder::new(network.resources().len(), intervals);
    let outcome = Simulation::new(network).observed(&mut recorder).run(schedule);
    let outcome = outcome.expect("a run that ends");
    assert_eq!(outcome, plain, "watching changes nothing");
    Recorded { outcome, intervals, bytes: recorder.finish() }
}

/// The bytes that pass each resource, by the messages and their ways alone.
fn passing(network: &dyn Network, schedule: &dyn Schedule) -> Vec<f64> {
    let mut seen: Vec<Delivery> = Vec::new();
    Simulation::new(network).observed(&mut seen).run(schedule).expect("a run that ends");
    let mut bytes = vec![0.0; network.resources().len()];
    for Delivery { from, to, bytes: length, .. } in seen.into_iter().filter(|d| d.from != d.to) {
        let mut route = Route { most: f64::INFINITY, ..Route::default() };
        network.route(from, to, &mut route);
        for resource in route.resources {
            bytes[resource as usize] += (length + network.header_bytes()) as f64;
        }
    }
    bytes
}

fn assert_conserved(what: &str, network: &dyn Network, schedule: &dyn Schedule) {
    for count in [1, 7, 200] {
        let Recorded { outcome, intervals, bytes } = record(network, schedule, count);
        assert_eq!((intervals.count(), intervals.begin(0)), (count, 0.0));
        assert_eq!(intervals.begin(count), outcome.finish);
        for (resource, wanted) in passing(network, schedule).into_iter().enumerate() {
            let Resource { name, rate, shared, .. } = &network.resources()[resource];
            let carried: f64 = bytes[resource].iter().sum();
            // An instant is a picosecond, which is a thousandth of a byte here.
            assert!((carried - wanted).abs() <= 1e-9 * wanted + 1.0, "{what}, {name}: {carried}");
            for (number, bytes) in bytes[resource].iter().enumerate().filter(|_| *shared) {
                let length = intervals.begin(number + 1) - intervals.begin(number);
                assert!(*bytes <= rate * length * (1.0 + 1e-9), "{what}, {name}: {bytes}");
            }
        }
    }
}

#[test]
fn bytes_are_conserved_on_every_kind_of_platform() {
    for spec in [
        "cluster:6",
        "cluster:6,duplex=half,lan=2Gbit,header=40",
        "two-sites:3x3",
        "two-sites:3x3,wan-rate=300Mbit,aggregate=700Mbit,uplink=600Mbit,in-order=false",
        "mpiblib16",
        "random:7,background=none,hosts=6",
    ] {
        let platform = Platform::read(spec).expect("a platform");
        for collective in [Collective::Scatter, Collective::Bcast, Collective::Alltoall] {
            for algorithm in algorithms(collective) {
                let shape = Shape::new(collective, 6, SIZE);
                let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else {
                    continue;
                };
                assert_conserved(&format!("{spec} {}", algorithm.name), &platform, &*schedule);
            }
        }
    }
}

#[test]
fn what_is_not_shared_is_recorded_too() {
    let steps = vec![vec![send(1, SIZE), send(2, 0)], vec![recv(0, SIZE)], vec![recv(0, 0)]];
    assert_conserved("alone", &Flat::with_links(3, false), &Script(steps));
    let gather = algorithm(Collective::Gather, "linear", 5, SIZE);
    assert_conserved("gather", &Flat::with_links(5, false), &*gather);
}

#[test]
fn a_link_that_slows_carries_the_same_bytes() {
    let mut network = Flat::new(2);
    let slow = Change { at: LATENCY + 20e-6, resource: up(0), rate: RATE / 4.0 };
    let dead = Change { at: LATENCY + 40e-6, resource: up(0), rate: 0.0 };
    let again = Change { at: LATENCY + 60e-6, resource: up(0), rate: RATE };
    network.changes = vec![slow, dead, again];
    let steps = Script(vec![vec![send(1, SIZE)], vec![recv(0, SIZE)]]);
    assert_conserved("slow", &network, &steps);
    let Recorded { intervals, bytes, .. } = record(&network, &steps, 100);
    let at = |seconds: f64| (seconds / intervals.begin(1)) as usize;
    assert_eq!(bytes[0][at(LATENCY + 50e-6)], 0.0);
    let length = intervals.begin(1);
    assert_close(bytes[0][at(LATENCY + 30e-6)], RATE / 4.0 * length);
    assert_close(bytes[0][at(LATENCY + 10e-6)], RATE * length);
}

/// Steps done and in all, as they are reported.
#[derive(Default)]
struct Reports(std::sync::Mutex<Vec<(u64, u64)>>);

impl laneway_core::Observer for Reports {
    fn progress(&self, done: u64, all: u64, _what: &str) {
        self.0.lock().expect("the lock is not poisoned").push((done, all));
    }
}

#[test]
fn a_long_run_reports_progress_and_the_same_result() {
    let platform = Platform::read("cluster:400").expect("a platform");
    let shape = Shape::new(Collective::Alltoall, 400, 8);
    let (algorithm, params) =
        laneway_coll::find(Collective::Alltoall, "pairwise").expect("an algorithm");
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let reports = Reports::default();
    let watched = Simulation::new(&platform).progress(&reports).run(&*schedule);
    assert_eq!(watched, Simulation::new(&platform).run(&*schedule), "reports change nothing");
    let reports = reports.0.into_inner().expect("the lock is not poisoned");
    assert!(!reports.is_empty() && reports.iter().all(|(done, all)| done < all), "{reports:?}");
    assert!(reports.windows(2).all(|two| two[0].0 <= two[1].0), "{reports:?}");
}
