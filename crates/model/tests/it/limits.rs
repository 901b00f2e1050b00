//! Bad input, budgets, parallel experiments, and platforms that no such model can describe.

use crate::clusters;

use std::sync::Mutex;

use laneway_core::Observer;
use laneway_model::{
    Experiments, Kind, Model, ModelError, ModelKind, Parameter, Request, estimate,
    estimate_observed, fit,
};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, Program};

fn read(spec: &str) -> Platform {
    Platform::read(spec).expect("a platform")
}

fn experiments(network: &dyn Network) -> Experiments {
    let request = Request { gaps: true, ..Request::default() };
    clusters::estimated(network, &request).expect("experiments")
}

#[derive(Default)]
struct Seen(Mutex<Vec<(u64, u64)>>);

impl Observer for Seen {
    fn progress(&self, done: u64, all: u64, _what: &str) {
        self.0.lock().expect("the lock is not poisoned").push((done, all));
    }
}

#[test]
fn an_estimation_tells_how_far_it_is() {
    let (platform, seen) = (read("cluster:4"), Seen::default());
    let request = Request::default();
    let run = Program::new(&platform, 4).run(|comm| match comm.rank() {
        0 => estimate_observed(comm, &request, &seen),
        _ => estimate(comm, &request),
    });
    assert!(run.expect("it ends").results.into_iter().all(|found| found.is_ok()));
    let reports = seen.0.into_inner().expect("the lock is not poisoned");
    assert!(reports.len() > 10 && reports.iter().all(|(done, all)| done <= all), "{reports:?}");
    assert!(reports.windows(2).all(|two| two[0].0 < two[1].0), "{reports:?}");
}

#[test]
fn parallel_experiments_take_a_fifth_and_find_the_same() {
    for spec in ["mpiblib16,receive-buffer=none", "cluster:16,send=5us,receive=4us,per-byte=1ns"] {
        let platform = read(spec);
        let run = |parallel: bool| {
            let request = Request { parallel, ..Request::default() };
            let found = clusters::estimated(&platform, &request).expect("experiments");
            let fitted = fit(&found, ModelKind::Lmo).expect("a model");
            let Model::Lmo(lmo) = fitted.model else { panic!("LMO") };
            (fitted.cost, lmo)
        };
        let ((cost, lmo), (alone, same)) = (run(true), run(false));
        let ratio = cost.seconds / alone.seconds;
        println!(
            "{spec}: {} s in parallel, {} s in sequence: {ratio:.3}",
            cost.seconds, alone.seconds
        );
        assert!(ratio <= 0.2, "{spec}: {ratio}");
        let near = |a: f64, b: f64| (a - b).abs() <= 0.01 * b + 1e-18;
        for (a, b) in lmo.hosts.iter().zip(&same.hosts) {
            assert!(near(a.send.value, b.send.value) && near(a.receive.value, b.receive.value));
            assert!(near(a.per_byte_sent.value, b.per_byte_sent.value));
            assert!(near(a.per_byte_received.value, b.per_byte_received.value));
            let cards = [(a.card_out, b.card_out), (a.card_in, b.card_in)];
            assert!(cards.iter().all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => near(a.value, b.value),
                (a, b) => a == b,
            }));
        }
        for (a, b) in lmo.pairs.iter().zip(&same.pairs) {
            assert!(near(a.latency.value, b.latency.value), "{a:?} {b:?}");
            assert!(near(a.there.value, b.there.value) && near(a.back.value, b.back.value));
        }
    }
}

/// Links that several pairs share are in no such model, and the fit says so.
#[test]
fn what_is_shared_beyond_cards_does_not_hold() {
    for (spec, holds) in [
        ("cluster:8", true),
        ("cluster:8,lan=2Gbit", false),
        ("two-sites:4x4", true),
        ("two-sites:8x8", false),
        ("cluster:8,header=64", true),
        ("cluster:8,duplex=half", false),
    ] {
        let fitted = fit(&experiments(&read(spec)), ModelKind::Lmo).expect("a model");
        println!("{spec}: {:?}", fitted.quality);
        assert_eq!(fitted.quality.holds(), holds, "{spec}: {:?}", fitted.quality);
    }
}

#[test]
fn a_missing_experiment_is_named() {
    let found = experiments(&clusters::draw(1, 4));
    type Chosen = fn(&Kind) -> bool;
    let cases: [(Chosen, ModelKind, &str); 6] = [
        (|kind| matches!(kind, Kind::Gap { .. }), ModelKind::LogGp, "gap"),
        (|kind| matches!(kind, Kind::Gap { .. }), ModelKind::PLogP, "gap"),
        (|kind| matches!(kind, Kind::Fan { .. }), ModelKind::Lmo, "point-to-two"),
        (|kind| matches!(kind, Kind::SendOverhead { .. }), ModelKind::Lmo, "send overhead"),
        (|kind| matches!(kind, Kind::ReceiveOverhead { .. }), ModelKind::LogGp, "receive overhead"),
        (|kind| matches!(kind, Kind::RoundTrip { .. }), ModelKind::Hockney, "round trip"),
    ];
    for (chosen, kind, word) in cases {
        let mut less = found.clone();
        less.timed.retain(|timed| !chosen(&timed.kind));
        let refused = fit(&less, kind).expect_err(word);
        assert!(
            matches!(&refused, ModelError::Missing { experiment } if experiment.contains(word))
        );
        assert!(refused.to_string().starts_with("the model cannot be fitted: no "), "{refused}");
    }
    let mut one = found.clone();
    one.timed.retain(|timed| timed.ranks != [1, 3]);
    let refused = fit(&one, ModelKind::Lmo).expect_err("a pair is missing").to_string();
    assert!(refused.contains("ranks 1, 3"), "{refused}");
}

#[test]
fn samples_that_are_no_times_are_refused() {
    let found = experiments(&clusters::draw(1, 4));
    for bad in [f64::NAN, f64::INFINITY, -1e-6] {
        for number in [0, found.timed.len() - 1] {
            let mut spoilt = found.clone();
            spoilt.timed[number].time = Parameter::exact(bad);
            for kind in ModelKind::ALL {
                let refused = fit(&spoilt, kind);
                assert!(matches!(refused, Err(ModelError::Sample { .. })), "{bad}: {refused:?}");
            }
        }
    }
}

#[test]
fn sizes_and_ranks_that_say_nothing_are_refused() {
    let two = read("cluster:2");
    let found = clusters::estimated(&two, &Request { gaps: true, ..Request::default() });
    let found = found.expect("pairs are enough for the others");
    let refused = fit(&found, ModelKind::Lmo).expect_err("no triple");
    let few = ModelError::TooFewRanks { ranks: 2, needed: 3, experiment: "point-to-two" };
    assert_eq!(refused, few);
    assert!(fit(&found, ModelKind::Hockney).is_ok() && fit(&found, ModelKind::PLogP).is_ok());
    let mut same = found.clone();
    same.timed.retain(|timed| match timed.kind {
        Kind::RoundTrip { out_bytes, back_bytes } => out_bytes + back_bytes == 0,
        _ => true,
    });
    assert!(matches!(fit(&same, ModelKind::Hockney), Err(ModelError::Sizes { .. })));
    let bad = [
        Request { sizes: vec![], ..Request::default() },
        Request { sizes: vec![0, 0], ..Request::default() },
        Request { sizes: vec![1 << 40], ..Request::default() },
        Request { precision: 0.0, ..Request::default() },
        Request { precision: f64::NAN, ..Request::default() },
        Request { budget: 0.0, ..Request::default() },
        Request { budget: f64::NAN, ..Request::default() },
    ];
    for request in bad {
        let ended = Program::new(&two, 2).run(|comm| estimate(comm, &request)).expect("it ends");
        for result in ended.results {
            let refused = result.expect_err("a bad request");
            let known = matches!(refused, ModelError::Sizes { .. } | ModelError::Request { .. });
            assert!(known, "{request:?}: {refused}");
        }
    }
    let one = read("cluster:2");
    let ended = Program::new(&one, 1).run(|comm| estimate(comm, &Request::default()));
    let results = ended.expect("it ends").results;
    assert!(matches!(results[0], Err(ModelError::TooFewRanks { needed: 2, .. })));
}

#[test]
fn a_budget_ends_the_estimation_on_every_rank() {
    let platform = read("cluster:8");
    let request = Request { budget: 0.01, ..Request::default() };
    let ended = Program::new(&platform, 8).run(|comm| estimate(comm, &request)).expect("it ends");
    for result in ended.results {
        assert!(matches!(result, Err(ModelError::Budget { .. })), "{result:?}");
    }
    assert!(ended.finish < 0.05, "{}", ended.finish);
}
