//! Many hosts of few kinds: the kinds are found, a few of each are measured in full, and
//! predictions are as good as where every pair is measured. Copies of hosts that a user asks for.
//!
//! `LANEWAY_HOSTS=256` takes so many hosts of three kinds, and prints what it took.

use crate::clusters;

use std::fmt::Write;
use std::time::Instant;

use laneway_coll::find;
use laneway_core::{Collective, Schedule, Shape};
use laneway_model::{Fitted, ModelError, ModelKind, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::simulate;

/// Hosts of these kinds, in turn; each kind is its card in Mbit/s and its costs in us.
fn platform(kinds: &[[f64; 2]], hosts: usize) -> Platform {
    let mut text = String::from("[[site]]\nname = \"s\"\nlatency = \"20us\"\n");
    for host in 0..hosts {
        let [rate, cost] = kinds[host % kinds.len()];
        let _ = write!(
            text,
            "[[host]]\nname = \"n{host}\"\nsite = \"s\"\nrate-out = \"{rate}Mbit\"\n\
             rate-in = \"{rate}Mbit\"\nsend = \"{cost}us\"\nreceive = \"{cost}us\"\n\
             per-byte = \"0.05ns\"\n"
        );
    }
    Platform::parse("kinds", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn fitted(platform: &Platform) -> Fitted {
    let sizes = vec![4 << 10, 64 << 10, 256 << 10];
    let request = Request { sizes, budget: 1e4, ..Request::default() };
    let found = clusters::estimated(platform, &request).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

fn schedule(collective: Collective, name: &str, ranks: u32, bytes: u64) -> Box<dyn Schedule> {
    let (algorithm, params) = find(collective, name).expect("an algorithm");
    let shape = Shape::new(collective, ranks, bytes);
    algorithm.schedule(&shape, &params).expect("a schedule")
}

/// What the model is off for calls on the platform, and whether all intervals hold.
fn off(fitted: &Fitted, platform: &Platform, ranks: u32) -> (f64, bool) {
    let (mut worst, mut all_hold) = (0.0f64, true);
    for (collective, name) in [
        (Collective::Scatter, "linear"),
        (Collective::Gather, "binomial"),
        (Collective::Bcast, "binomial"),
        (Collective::Allreduce, "ring"),
    ] {
        for bytes in [1, 10_000, 200_000] {
            let schedule = schedule(collective, name, ranks, bytes);
            let truth = simulate(platform, &*schedule, None).expect("it runs").finish;
            let found = fitted.predict(&*schedule).expect("it holds");
            worst = worst.max((found.seconds / truth - 1.0).abs());
            let ends = found.interval.expect("an interval");
            all_hold &= (ends.low..=ends.high).contains(&truth);
        }
    }
    (worst, all_hold)
}

#[test]
fn hosts_of_three_kinds_share_their_parameters() {
    let hosts = std::env::var("LANEWAY_HOSTS").ok().and_then(|text| text.parse().ok());
    // The slowest is rank 0: with it alone, the others look alike.
    let kinds = [[1000.0, 2.0], [10_000.0, 2.0], [40_000.0, 2.0]];
    let hosts = hosts.unwrap_or(36);
    let platform = platform(&kinds, hosts);
    let begun = Instant::now();
    let fitted = fitted(&platform);
    println!("{hosts} hosts: {:.1} s, {:?}", begun.elapsed().as_secs_f64(), fitted.quality);
    println!("{:?}", fitted.cost);
    let alike = fitted.alike.clone().expect("kinds");
    println!("{}", alike.sentence(&fitted.hosts));
    let told: Vec<u32> = (0..hosts as u32).map(|rank| rank % 3).collect();
    assert_eq!(alike.kinds, told);
    assert!(alike.measured.len() < 24 && alike.differ < 0.01, "{alike:?}");
    assert!(fitted.quality.holds(), "{:?}", fitted.quality);
    let (worst, all_hold) = off(&fitted, &platform, hosts as u32);
    assert!(worst < 0.01 && all_hold, "{worst}");
    let text = fitted.save();
    assert!(text.len() < 40_000 && text.contains("[alike]"), "{} bytes", text.len());
    let loaded = Fitted::load("kinds.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.alike, fitted.alike);
    let (again, _) = off(&loaded, &platform, hosts as u32);
    assert!((again - worst).abs() < 1e-6, "{again} {worst}");
    let bad = text.replace("kinds = [0, 1, 2,", "kinds = [0, 1, 7,");
    let refused = Fitted::load("bad.toml", &bad).expect_err("a kind that is not there").to_string();
    assert!(refused.contains("bad.toml:") && refused.contains("kinds"), "{refused}");
}

#[test]
fn hosts_that_differ_are_all_measured() {
    let kinds: Vec<[f64; 2]> = (0..26).map(|n| [1000.0 + 90.0 * f64::from(n), 2.0]).collect();
    let fitted = fitted(&platform(&kinds, 26));
    assert_eq!(fitted.alike, None);
    assert!(fitted.quality.holds(), "{:?}", fitted.quality);
}

#[test]
fn copies_of_a_host_are_predicted_with_wider_intervals() {
    let (few, many) = (platform(&[[1000.0, 2.0], [2000.0, 3.0]], 6), {
        // Hosts 6 to 11 are as host 1.
        let mut kinds = [[1000.0, 2.0], [2000.0, 3.0]].repeat(3);
        kinds.extend([[2000.0, 3.0]; 6]);
        platform(&kinds, 12)
    });
    let fitted = fitted(&few);
    let asked = schedule(Collective::Bcast, "binomial", 12, 1000);
    assert!(matches!(fitted.predict(&*asked), Err(ModelError::Ranks { .. })));
    let copied = fitted.copied(12, &[1]).expect("copies");
    assert_eq!(copied.hosts.len(), 12);
    let (worst, all_hold) = off(&copied, &many, 12);
    assert!(worst < 0.05 && all_hold, "{worst}");
    let width = |fitted: &Fitted, ranks: u32| {
        let schedule = schedule(Collective::Bcast, "binomial", ranks, 1000);
        let found = fitted.predict(&*schedule).expect("it holds");
        let ends = found.interval.expect("an interval");
        (ends.high - ends.low) / found.seconds
    };
    assert!(width(&copied, 12) > 2.0 * width(&fitted, 6));
    for (ranks, like) in [(6, vec![1]), (12, vec![]), (12, vec![6]), (1 << 20, vec![1])] {
        let refused = fitted.copied(ranks, &like);
        assert!(matches!(refused, Err(ModelError::Request { .. })), "{ranks} {like:?}");
    }
}
