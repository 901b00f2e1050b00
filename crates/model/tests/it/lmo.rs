//! LMO on simulated clusters: parameters come back, and predictions are what the cluster does.

use crate::clusters;

use laneway_model::{Fitted, Lmo, Model, ModelKind, Request, fit};
use laneway_sim::{Network, simulate};

fn lmo(fitted: &Fitted) -> &Lmo {
    match &fitted.model {
        Model::Lmo(lmo) => lmo,
        other => panic!("{other:?}"),
    }
}

fn fitted(network: &dyn Network) -> Fitted {
    let experiments = clusters::estimated(network, &Request::default()).expect("experiments");
    fit(&experiments, ModelKind::Lmo).expect("a model")
}

/// The part that an estimate is off, or 0 where both are next to nothing.
fn off(found: f64, truth: f64) -> f64 {
    if (found - truth).abs() < 1e-18 { 0.0 } else { (found / truth - 1.0).abs() }
}

#[test]
fn parameters_come_back_within_two_percent() {
    for seed in 1..=6 {
        let platform = clusters::draw(seed, 16);
        let fitted = fitted(&platform);
        let lmo = lmo(&fitted);
        let mut worst = [(0.0, String::new()), (0.0, String::new()), (0.0, String::new())];
        let mut note = |kind: usize, what: String, found: f64, truth: f64| {
            let off = off(found, truth);
            if off >= worst[kind].0 {
                worst[kind] = (off, format!("{what}: {found:e} for {truth:e}"));
            }
        };
        let mut unseen = 0;
        for host in 0..16u32 {
            let (found, cost) = (&lmo.hosts[host as usize], platform.cost(host));
            note(0, format!("send {host}"), found.send.value, cost.per_send);
            note(0, format!("receive {host}"), found.receive.value, cost.per_recv);
            note(0, format!("sent {host}"), found.per_byte_sent.value, cost.per_byte_sent);
            let taken = (found.per_byte_received.value, cost.per_byte_received);
            note(0, format!("received {host}"), taken.0, taken.1);
            let truth = clusters::card(&platform, host);
            for (card, truth) in [found.card_out, found.card_in].into_iter().zip(truth) {
                match card {
                    Some(card) => note(2, format!("card {host}"), card.value, truth),
                    None => unseen += 1,
                }
            }
            for other in (0..16).filter(|&other| other != host) {
                let [latency, per_byte] = clusters::way(&platform, host, other);
                let pair = lmo.pair(host, other);
                note(1, format!("latency {host} {other}"), pair.latency.value, latency);
                let found = lmo.per_byte(host, other).value;
                note(1, format!("way {host} {other}"), found, per_byte);
            }
        }
        println!("seed {seed}: {worst:?}, {unseen} cards unseen, {:?}", fitted.quality);
        println!("  cost {:?}", fitted.cost);
        assert!(worst.iter().all(|(off, _)| *off <= 0.02), "seed {seed}: {worst:?}");
        assert!(fitted.quality.holds(), "seed {seed}: {:?}", fitted.quality);
    }
}

#[test]
fn predictions_are_what_the_cluster_does() {
    let mut errors = Vec::new();
    for seed in 1..=6 {
        let platform = clusters::draw(seed, 16);
        let fitted = fitted(&platform);
        for (call, schedule) in clusters::calls(16, 1) {
            let predicted = fitted.predict(&*schedule).expect("it holds").seconds;
            let truth = simulate(&platform, &*schedule, None).expect("it runs").finish;
            let off = (predicted / truth - 1.0).abs();
            errors.push((off, format!("seed {seed} {call}: {predicted:e} for {truth:e}")));
        }
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: Vec<f64> = errors.iter().map(|error| error.0).collect();
    let (median, tail) = (clusters::at(&all, 0.5), clusters::at(&all, 0.95));
    println!("{} calls: median {median:.2e}, 95th percentile {tail:.2e}", errors.len());
    errors.iter().rev().take(10).for_each(|worst| println!("  {worst:?}"));
    assert!(errors.len() > 1000 && median <= 0.05 && tail <= 0.15, "{median} {tail}");
}
