//! All models beside each other, and a larger cluster.

use crate::clusters;

use clusters::at;
use laneway_core::Schedule;
use laneway_model::{Fitted, ModelKind, Request, fit};
use laneway_sim::{Network, simulate};

/// Errors of all calls, sorted.
fn errors(fitted: &Fitted, network: &dyn Network, powers: usize) -> Vec<f64> {
    let off = |(_, schedule): (String, Box<dyn Schedule>)| {
        let found = fitted.read(&*schedule).expect("a reading").seconds;
        let truth = simulate(network, &*schedule, None).expect("it runs").finish;
        (found / truth - 1.0).abs()
    };
    let calls = clusters::calls(network.hosts(), powers);
    let mut errors: Vec<f64> = calls.into_iter().map(off).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

#[test]
fn the_other_models_are_farther_off() {
    let mut all = vec![Vec::new(); ModelKind::ALL.len()];
    let sizes = vec![512, 2 << 10, 128 << 10, 256 << 10];
    for seed in 1..=3 {
        let platform = clusters::draw(seed, 16);
        let request = Request { gaps: true, sizes: sizes.clone(), ..Request::default() };
        let found = clusters::estimated(&platform, &request).expect("experiments");
        for (kind, all) in ModelKind::ALL.into_iter().zip(&mut all) {
            let fitted = fit(&found, kind).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            all.extend(errors(&fitted, &platform, 2));
        }
    }
    println!("table: model, median, 95th percentile of the error");
    for (kind, errors) in ModelKind::ALL.into_iter().zip(&mut all) {
        errors.sort_by(f64::total_cmp);
        println!("table: {} {:.4} {:.4}", kind.name(), at(errors, 0.5), at(errors, 0.95));
    }
    let lmo = at(all.last().expect("LMO"), 0.95);
    assert!(all[..all.len() - 1].iter().all(|other| at(other, 0.95) > 10.0 * lmo));
}

#[test]
fn sixty_four_hosts() {
    let platform = clusters::draw(1, 64);
    let sizes = vec![2 << 10, 128 << 10];
    let found = clusters::estimated(&platform, &Request { sizes, ..Request::default() });
    let found = found.expect("experiments");
    let fitted = fit(&found, ModelKind::Lmo).expect("a model");
    let errors = errors(&fitted, &platform, 5);
    let (middle, tail) = (at(&errors, 0.5), at(&errors, 0.95));
    println!("table: 64 hosts {:?}: median {middle:.2e}, 95th percentile {tail:.2e}", found.cost);
    assert!(fitted.quality.holds() && middle <= 0.05 && tail <= 0.15, "{middle} {tail}");
}
