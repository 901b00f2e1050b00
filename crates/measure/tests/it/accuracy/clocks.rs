//! Clocks that are off and drift, and what is left of it.

use laneway_core::{Collective as Kind, Comm};
use laneway_measure::timing::{StartTime, Timing};
use laneway_measure::{GlobalClock, Procedure, Rule};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

use super::support::*;

/// Seven seconds and more of one cell after the other.
fn drift_changes_nothing(kind: Kind) {
    let platform = sites(true);
    for size in SIZES {
        let cell = (kind, size);
        let start_time = || Box::new(StartTime::default()) as Box<dyn Timing>;
        let truth = found(&platform, cell, "barrier", Rule::fixed(1), start_time).truth;
        for reps in [30, (7.5 / truth) as u32] {
            let found = found(&platform, cell, "barrier", Rule::fixed(reps), start_time);
            let error = (found.point.estimate / found.truth - 1.0).abs();
            let what = format!("{} {size}, {reps}: {error} of {} s", kind.name(), found.truth);
            println!("{what}; {} s, {} rejected", found.point.cost, found.point.rejected);
            assert!(error < 0.002, "{what}");
            assert!(reps == 30 || found.point.cost > 7.0, "{what}: {}", found.point.cost);
            assert_eq!(found.point.timing, "start-time", "{what}");
            assert!(found.point.clock_error < 10e-6, "{what}: {}", found.point.clock_error);
            let bound = found.point.bound.expect("a bound");
            assert!(bound.low <= found.truth && found.truth <= bound.high, "{what}: {bound:?}");
            assert!(bound.high - bound.low > 100e-6, "{what}: {bound:?}");
        }
    }
}

#[test]
fn drift_changes_no_bcast() {
    drift_changes_nothing(Kind::Bcast);
}

#[test]
fn drift_changes_no_scatter() {
    drift_changes_nothing(Kind::Scatter);
}

#[test]
fn drift_changes_no_gather() {
    drift_changes_nothing(Kind::Gather);
}

#[test]
fn drift_changes_no_allreduce() {
    drift_changes_nothing(Kind::Allreduce);
}

#[test]
fn drift_changes_no_alltoall() {
    drift_changes_nothing(Kind::Alltoall);
}

/// The largest difference between ranks' ideas of one true instant, some seconds after the last
/// comparison.
fn apart(procedure: Procedure, comparisons: u32, later: f64) -> f64 {
    let platform = sites(true);
    let ended = Program::new(&platform, platform.hosts()).run(|comm: &dyn Comm| {
        let mut clock = GlobalClock::new(comm, procedure);
        let truth = comm.clock().truth().expect("a simulation");
        for comparison in 0..comparisons {
            truth.sleep_until(f64::from(comparison));
            clock.synchronise().expect("a comparison");
        }
        truth.sleep_until(f64::from(comparisons) + later);
        clock.now()
    });
    let times = ended.expect("a program that ends").results;
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    times.iter().copied().fold(f64::NEG_INFINITY, f64::max) - first
}

#[test]
fn offsets_alone_drift_away_and_two_comparisons_give_the_drift() {
    // Clocks that differ by up to 20 ppm.
    for procedure in Procedure::ALL {
        let once = apart(procedure, 1, 5.0);
        assert!((20e-6..200e-6).contains(&once), "{}: {once}", procedure.name());
        let twice = apart(procedure, 3, 5.0);
        assert!(twice < 1e-6, "{}: {twice}", procedure.name());
    }
}

/// What a rank expected between two comparisons, without knowing the drift, and with it.
#[test]
fn a_comparison_gives_the_error_of_the_expectation() {
    let platform = sites(true);
    let ended = Program::new(&platform, 4).run(|comm: &dyn Comm| {
        let mut clock = GlobalClock::new(comm, Procedure::Tree);
        let mut missed = Vec::new();
        for _ in 0..3 {
            missed.push(clock.synchronise().expect("a comparison"));
            clock.sleep_until_local(clock.local() + 1.0);
        }
        missed
    });
    let missed = ended.expect("a program").results;
    assert_eq!(missed[0], [0.0; 3]);
    for rank in &missed[1..] {
        assert_eq!(rank[0], 0.0);
        // Two clocks of up to 10 millionths each; then all but the way there is known.
        assert!((0.1e-6..=20.2e-6).contains(&rank[1]), "{rank:?}");
        assert!(rank[2] < 0.1 * rank[1], "{rank:?}");
    }
}

#[test]
fn a_clock_that_all_share_needs_no_comparison() {
    let platform = sites(false);
    let ended = Program::new(&platform, 4).run(|comm: &dyn Comm| {
        let mut clock = GlobalClock::new(comm, Procedure::Tree);
        clock.synchronise().expect("a comparison");
        (clock.is_global(), comm.clock().now())
    });
    assert_eq!(ended.expect("a program").results, [(true, 0.0); 4]);
}

/// Hosts whose messages are delayed at random by those of others.
fn noisy(seed: u64) -> Platform {
    let clocks = "clock-offset=+-500ms";
    let mut text = format!("include = [\"cluster:8,rate=100Mbit,{clocks}\"]\nseed = {seed}\n");
    for host in 0..8 {
        text += &format!(
            "[[background]]\nfrom = \"node{host}\"\nto = \"node{}\"\n\
             size = \"1K\"\nevery = \"300us\"\nrandom = true\n",
            (host + 1) % 8
        );
    }
    Platform::parse("noise", &text).expect("a platform")
}

/// How far the ranks' ideas of one true instant are apart, and the largest error that one tells.
fn apart_with_noise(seed: u64, trips: u32) -> (f64, f64) {
    let platform = noisy(seed);
    let ended = Program::new(&platform, 8).run(|comm: &dyn Comm| {
        let mut clock = GlobalClock::new(comm, Procedure::Offset).with_trips(trips);
        clock.synchronise().expect("a comparison");
        let truth = comm.clock().truth().expect("a simulation");
        truth.sleep_until(0.5);
        let now = clock.now();
        (now, clock.ways().expect("what was heard").map_or(0.0, |ways| ways.widest()))
    });
    let reported = ended.expect("a program that ends").results;
    let times = || reported.iter().map(|(now, _)| *now);
    let first = times().fold(f64::INFINITY, f64::min);
    let apart = times().fold(f64::NEG_INFINITY, f64::max) - first;
    (apart, reported.iter().map(|(_, error)| *error).fold(0.0, f64::max))
}

#[test]
fn an_offset_is_that_of_the_shortest_trip_whatever_comes_after_it() {
    for seed in 1..=10 {
        let (apart, most) = apart_with_noise(seed, 20);
        // The shortest of twenty and more was not delayed.
        assert!(apart < 1e-6, "seed {seed}: {apart}, reported {most}");
        let (apart, most) = apart_with_noise(seed, 1);
        assert!(apart <= 2.0 * most, "seed {seed}: {apart}, reported {most}");
    }
}
