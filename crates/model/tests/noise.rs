//! LMO where others disturb the experiments.

mod clusters;

use laneway_coll::algorithms;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, Model, ModelKind, Parameter, Request, fit};
use laneway_sim::{Network, simulate};

const HOSTS: u32 = 6;

fn fitted(network: &dyn Network) -> Fitted {
    let request = Request { precision: 0.02, ..Request::default() };
    let found = clusters::estimated(network, &request).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

/// How many intervals hold what is true of the cluster without others, and of how many.
fn held(fitted: &Fitted, clean: &dyn Network) -> [(u32, u32); 4] {
    let Model::Lmo(lmo) = &fitted.model else { panic!("LMO") };
    let mut held = [(0, 0); 4];
    let mut count = |kind: usize, found: Parameter, truth: f64| {
        // Instants are whole picoseconds.
        let near = (found.value - truth).abs() < 1e-5 * truth;
        held[kind].0 += u32::from(near || found.holds(truth));
        held[kind].1 += 1;
    };
    for host in 0..HOSTS {
        let (found, cost) = (&lmo.hosts[host as usize], clean.cost(host));
        count(0, found.send, cost.per_send);
        count(0, found.receive, cost.per_recv);
        count(0, found.per_byte, cost.per_byte);
        let cards = [found.card_out, found.card_in].into_iter().zip(clusters::card(clean, host));
        cards.for_each(|(found, truth)| {
            found.into_iter().for_each(|found| count(3, found, truth));
        });
        for other in (0..HOSTS).filter(|&other| other != host) {
            let [latency, per_byte] = clusters::way(clean, host, other);
            count(1, lmo.pair(host, other).latency, latency);
            count(2, lmo.per_byte(host, other), per_byte);
        }
    }
    held
}

fn errors(fitted: &Fitted, network: &dyn Network) -> Vec<f64> {
    let mut errors = Vec::new();
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for algorithm in algorithms(collective) {
            for size in (0..=20).step_by(2).map(|power| 1u64 << power) {
                let shape = Shape::new(collective, HOSTS, size);
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

#[test]
fn others_disturb_little() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    for (part, bytes) in [(0.05, 4096), (0.05, 65536), (0.2, 4096), (0.2, 65536)] {
        let (mut all, mut sum, mut refused) = ([Vec::new(), Vec::new()], [(0, 0); 4], 0);
        for seed in 1..=seeds {
            let (clean, noisy) =
                (clusters::draw(seed, HOSTS), clusters::draw_noisy(seed, HOSTS, part, bytes));
            let fitted = fitted(&noisy);
            refused += u32::from(!fitted.quality.holds());
            all[0].extend(errors(&fitted, &clean));
            all[1].extend(errors(&fitted, &noisy));
            for (sum, held) in sum.iter_mut().zip(held(&fitted, &clean)) {
                *sum = (sum.0 + held.0, sum.1 + held.1);
            }
            println!("seed {seed}: {:?} cost {:?}", fitted.quality, fitted.cost);
        }
        for (errors, what) in all.iter_mut().zip(["clean", "noisy"]) {
            errors.sort_by(f64::total_cmp);
            let at = |part: f64| errors[((errors.len() - 1) as f64 * part) as usize];
            println!(
                "seed table {part} {bytes} {what}: median {:.4} 95th {:.4}",
                at(0.5),
                at(0.95)
            );
        }
        println!("seed table {part} {bytes}: held {sum:?}, refused {refused}");
    }
}
