//! Every method against the truth, and what it costs.

use laneway_core::Collective as Kind;
use laneway_measure::Rule;
use laneway_measure::timing::{Confirmation, Global, Maximum, Root, StartTime, Tasks};

use super::support::*;

const ISOLATIONS: [&str; 7] = [
    "none",
    "barrier:dissemination",
    "barrier:linear",
    "double-barrier:tree",
    "barrier:double-ring",
    "reduce",
    "p2p",
];

#[test]
fn the_default_is_within_two_thousandths_of_the_truth_whatever_the_isolation() {
    let platform = sites(false);
    for kind in CELLS {
        for size in SIZES {
            let what = format!("{} {size}", kind.name());
            let mut estimates = Vec::new();
            for isolation in ISOLATIONS {
                let cell = (kind, size);
                let found = found(&platform, cell, isolation, Rule::default(), || {
                    Box::new(StartTime::default())
                });
                let error = (found.point.estimate / found.truth - 1.0).abs();
                assert!(error < 0.002, "{what} {isolation}: {error} of {}", found.truth);
                assert_eq!(found.point.timing, "start-time", "{what}");
                assert!(found.point.samples.len() >= 6, "{what}");
                let interval = found.point.interval.expect("an interval");
                assert!(
                    interval.low <= found.point.estimate && found.point.estimate <= interval.high
                );
                estimates.push(found.point.estimate);
            }
            let (least, most) = (
                estimates.iter().copied().fold(f64::INFINITY, f64::min),
                estimates.iter().copied().fold(0.0, f64::max),
            );
            assert!(most / least <= 1.01, "{what}: {least} to {most}");
        }
    }
}

#[test]
fn forty_samples_cost_at_most_three_times_their_sum() {
    let platform = sites(false);
    for kind in CELLS {
        for size in SIZES {
            let cell = (kind, size);
            let rule = Rule::fixed(40);
            let found = found(&platform, cell, "barrier", rule, || Box::new(StartTime::default()));
            let cost = found.point.cost / (40.0 * found.truth);
            println!("{} {size}: {cost:.2} times", kind.name());
            assert_eq!(found.point.samples.len(), 40);
            assert!(cost <= 3.0, "{} {size}: {cost}", kind.name());
        }
    }
}

#[test]
fn without_variance_a_point_is_soon_done() {
    let platform = sites(false);
    for kind in CELLS {
        for size in SIZES {
            let cell = (kind, size);
            let found = found(&platform, cell, "barrier", Rule::default(), || {
                Box::new(StartTime::default())
            });
            let what = format!("{} {size}: {} s of {}", kind.name(), found.point.cost, found.truth);
            println!("{what}");
            assert!(found.point.cost <= 10.0 * found.truth + 0.03, "{what}");
            assert!(size > 1024 || found.point.cost <= 0.05, "{what}");
            assert!(found.point.samples.len() >= 6);
        }
    }
}

#[test]
fn the_papers_methods_are_near_where_the_start_is() {
    let platform = sites(false);
    for kind in CELLS {
        let cell = (kind, 64 << 10);
        let rule = Rule::paper(5, 5, 0.05);
        let global = found(&platform, cell, "barrier", rule, || Box::new(Global { resync: 1 }));
        let maximum = found(&platform, cell, "barrier", rule, || Box::new(Maximum));
        // Barriers let ranks go one after the other: no error is larger than that explains, where
        // each of a few phases may wait for the last.
        for (name, found) in [("global", &global), ("maximum", &maximum)] {
            let error = (found.point.estimate / found.truth - 1.0).abs();
            let skew = found.point.skew.expect("a skew") / found.truth;
            let what = format!("{} {name}: {error} of {}, skew {skew}", kind.name(), found.truth);
            println!("{what}");
            assert!(error < 0.02 + 3.0 * skew, "{what}");
        }
        for confirmation in Confirmation::ALL {
            let root =
                found(&platform, cell, "barrier", rule, || Box::new(Root::new(0, confirmation)));
            let error = (root.point.estimate / root.truth - 1.0).abs();
            assert!(error < 0.5, "{} root, {}: {error}", kind.name(), confirmation.name());
        }
    }
}

#[test]
fn tasks_are_exact_and_cost_less_than_the_papers_global_method() {
    // Where all ranks have one clock the global method has nothing to compare.
    let platform = sites(true);
    for kind in [Kind::Bcast, Kind::Scatter] {
        for algorithm in ["linear", "binomial"] {
            for (size, reps) in SIZES.into_iter().flat_map(|size| [(size, 5), (size, 40)]) {
                let what = format!("{} {algorithm} {size}, {reps} times", kind.name());
                let rule = Rule::paper(reps, reps, 0.05);
                let named = Some(algorithm);
                let tasks = found_by(&platform, (kind, size), named, "barrier", rule, || {
                    Box::new(Tasks::new(0))
                });
                let error = (tasks.point.estimate / tasks.truth - 1.0).abs();
                println!("{what}: {:.3} %", error * 100.0);
                assert!(error < 0.01, "{what}: {error}");
                let global = found_by(&platform, (kind, size), named, "barrier", rule, || {
                    Box::new(Global { resync: 1 })
                });
                let (ours, theirs) = (tasks.point.cost, global.point.cost);
                println!("{what}: {:.2} of the cost", ours / theirs);
                assert!(ours < theirs, "{what}: {ours} s, {theirs} s by the global method");
            }
        }
    }
}
