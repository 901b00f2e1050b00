//! Clusters that the simulator draws: several sites, shared uplinks, headers, small eager limits,
//! wrong clocks. A model holds and predicts, or says that it does not hold.

use crate::clusters;

use clusters::at;
use laneway_core::Schedule;
use laneway_model::{Fitted, ModelKind, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, simulate};

const HOSTS: u32 = 8;
const SEEDS: u64 = 20;

fn errors(fitted: &Fitted, network: &dyn Network) -> Vec<(f64, String)> {
    let off = |(call, schedule): (String, Box<dyn Schedule>)| {
        let found = fitted.predict(&*schedule).expect("it holds").seconds;
        let truth = simulate(network, &*schedule, None).expect("it runs").finish;
        ((found / truth - 1.0).abs(), format!("{call}: {found:e} for {truth:e}"))
    };
    let mut errors: Vec<(f64, String)> = clusters::calls(HOSTS, 2).into_iter().map(off).collect();
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
        let own: Vec<f64> = errors.iter().map(|error| error.0).collect();
        println!(
            "{spec}: worst check {:.4}; 95th {:.4}, worst {:?}",
            fitted.quality.worst,
            at(&own, 0.95),
            errors.last()
        );
        all.extend(own);
    }
    all.sort_by(f64::total_cmp);
    let (middle, tail) = (at(&all, 0.5), at(&all, 0.95));
    println!("table: {holding} of {SEEDS} hold: median {middle:.4}, 95th {tail:.4}");
    assert!(holding >= SEEDS / 2 && middle <= 0.05 && tail <= 0.15, "{holding} {middle} {tail}");
}
