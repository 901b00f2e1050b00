//! Clusters that the simulator draws: several sites, shared uplinks, headers, small eager limits,
//! wrong clocks. A model holds and predicts, or says that it does not hold.

mod clusters;

use laneway_coll::algorithms;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, ModelKind, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, simulate};

const HOSTS: u32 = 8;
const SEEDS: u64 = 40;

fn errors(fitted: &Fitted, network: &dyn Network) -> Vec<(f64, String)> {
    let mut errors = Vec::new();
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for algorithm in algorithms(collective) {
            for size in (0..=20).step_by(2).map(|power| 1u64 << power) {
                let shape = Shape::new(collective, HOSTS, size);
                let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else {
                    continue;
                };
                let found = fitted.predict(&*schedule).expect("it holds").seconds;
                let truth = simulate(network, &*schedule, None).expect("it runs").finish;
                let what = format!("{algorithm:?} {size} B: {found:e} for {truth:e}");
                errors.push(((found / truth - 1.0).abs(), what));
            }
        }
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    errors
}

#[test]
fn drawn_clusters_are_predicted_or_refused() {
    let (mut all, mut holding) = (Vec::new(), 0);
    for seed in 1..=SEEDS {
        let spec = format!("random:{seed},hosts={HOSTS},background=none,ways=symmetric");
        let platform = Platform::read(&spec).expect("a platform");
        // Uplinks are shared: one experiment at a time.
        let request = Request { parallel: false, budget: 1e6, ..Request::default() };
        let found = clusters::estimated(&platform, &request).expect("experiments");
        let fitted = fit(&found, ModelKind::Lmo).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if !fitted.quality.holds() {
            println!("{spec}: refused, {:.2} {}", fitted.quality.worst, fitted.quality.worst_of);
            continue;
        }
        holding += 1;
        let errors = errors(&fitted, &platform);
        let at = |part: f64| &errors[((errors.len() - 1) as f64 * part) as usize];
        println!(
            "{spec}: worst check {:.4}; median {:.4}, 95th {:.4}, worst {:?}",
            fitted.quality.worst,
            at(0.5).0,
            at(0.95).0,
            at(1.0)
        );
        all.extend(errors.iter().map(|error| error.0));
    }
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
    println!("table: {holding} of {SEEDS} hold: median {:.4}, 95th {:.4}", at(0.5), at(0.95));
    assert!(holding >= 10 && at(0.5) <= 0.05 && at(0.95) <= 0.15);
}
