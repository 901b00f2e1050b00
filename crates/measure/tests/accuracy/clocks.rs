//! Clocks that are off and drift, and what is left of it.

use laneway_core::{Collective as Kind, Comm};
use laneway_measure::timing::StartTime;
use laneway_measure::{GlobalClock, Procedure, Rule};
use laneway_sim::{Network, Program};

use crate::support::*;

#[test]
fn skewed_clocks_change_nothing_even_over_many_seconds() {
    let platform = sites(true);
    for kind in CELLS {
        for size in SIZES {
            let cell = (kind, size);
            // Of two operations so many that they take seven seconds and more.
            let long = size == 8 && matches!(kind, Kind::Bcast | Kind::Alltoall);
            let reps = if long { 10_000 } else { 60 };
            let found = found(&platform, cell, "barrier", Rule::fixed(reps), || {
                Box::new(StartTime::default())
            });
            let error = (found.point.estimate / found.truth - 1.0).abs();
            let what = format!("{} {size}: {error} of {} s", kind.name(), found.truth);
            println!("{what}; {} s, {} rejected", found.point.cost, found.point.rejected);
            assert!(error < 0.002, "{what}");
            assert!(!long || found.point.cost > 7.0, "{what}");
            assert!(found.point.clock_error < 10e-6, "{what}: {}", found.point.clock_error);
            assert!(found.point.clock_unknowable > 100e-6, "{what}");
        }
    }
}

/// The largest difference between ranks' ideas of one true instant, so many seconds after the last
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
fn offsets_alone_drift_away_and_two_comparisons_tell_the_drift() {
    // Clocks that differ by up to 20 ppm.
    for procedure in Procedure::ALL {
        let once = apart(procedure, 1, 5.0);
        assert!((20e-6..200e-6).contains(&once), "{}: {once}", procedure.name());
        let twice = apart(procedure, 3, 5.0);
        assert!(twice < 1e-6, "{}: {twice}", procedure.name());
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
