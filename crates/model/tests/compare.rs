//! All models beside each other, and a larger cluster.

mod clusters;

use laneway_coll::algorithms;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, ModelKind, Request, fit};
use laneway_sim::{Network, simulate};

/// Errors of all calls, sorted.
fn errors(fitted: &Fitted, network: &dyn Network, powers: usize) -> Vec<f64> {
    let mut errors = Vec::new();
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for algorithm in algorithms(collective) {
            for size in (0..=20).step_by(powers).map(|power| 1u64 << power) {
                let shape = Shape::new(collective, network.hosts(), size);
                let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else {
                    continue;
                };
                let found = fitted.read(&*schedule).expect("a reading").seconds;
                let truth = simulate(network, &*schedule, None).expect("it runs").finish;
                errors.push((found / truth - 1.0).abs());
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    errors
}

fn at(errors: &[f64], part: f64) -> f64 {
    errors[((errors.len() - 1) as f64 * part) as usize]
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
