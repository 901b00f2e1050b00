//! LMO where others disturb the experiments.

use crate::clusters;

use clusters::at;
use laneway_core::Schedule;
use laneway_model::{Fitted, Model, ModelKind, Parameter, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, simulate};
use laneway_stats::median;

const HOSTS: u32 = 6;

fn fitted(network: &dyn Network) -> Fitted {
    let request = Request { precision: 0.02, ..Request::default() };
    let found = clusters::estimated(network, &request).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

/// How many intervals hold what is true of the cluster without others, and of how many: costs of
/// hosts, latencies, ways, cards.
fn held(fitted: &Fitted, clean: &dyn Network) -> [[u32; 2]; 4] {
    let Model::Lmo(lmo) = &fitted.model else { panic!("LMO") };
    let mut held = [[0; 2]; 4];
    let mut count = |kind: usize, found: Parameter, truth: f64| {
        // Instants are whole picoseconds.
        let near = (found.value - truth).abs() < 1e-5 * truth;
        held[kind][0] += u32::from(near || found.holds(truth));
        held[kind][1] += 1;
    };
    for host in 0..HOSTS {
        let (found, cost) = (&lmo.hosts[host as usize], clean.cost(host));
        count(0, found.send, cost.per_send);
        count(0, found.receive, cost.per_recv);
        count(0, found.per_byte_sent, cost.per_byte_sent);
        count(0, found.per_byte_received, cost.per_byte_received);
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

/// How far the model is off for every call, as parts of the middle of what it takes at several
/// times.
fn errors(fitted: &Fitted, networks: &[Platform]) -> Vec<f64> {
    let off = |(_, schedule): (String, Box<dyn Schedule>)| {
        let found = fitted.read(&*schedule).expect("a reading").seconds;
        let time =
            |network: &Platform| simulate(network, &*schedule, None).expect("it runs").finish;
        let truth = median(&networks.iter().map(time).collect::<Vec<f64>>());
        (found / truth.expect("times") - 1.0).abs()
    };
    clusters::calls(HOSTS, 4).into_iter().map(off).collect()
}

/// Messages of others take 5 % and 20 % of every card, in short messages and in long ones.
/// `LANEWAY_SEEDS=1:101` tries other clusters.
#[test]
fn predictions_are_of_the_cluster_with_the_others() {
    let seeds = std::env::var("LANEWAY_SEEDS").unwrap_or("1:4".into());
    let (first, end) = seeds.split_once(':').expect("LANEWAY_SEEDS is FIRST:END");
    let seeds = first.parse::<u64>().expect("a seed")..end.parse().expect("a seed");
    for (part, bytes) in [(0.05, 4096), (0.05, 65536), (0.2, 4096), (0.2, 65536)] {
        let (mut errors_of_all, mut sum, mut refused) = (Vec::new(), [[0; 2]; 4], 0);
        for seed in seeds.clone() {
            let noisy = |when| clusters::draw_noisy(seed, HOSTS, part, bytes, when);
            let fitted = fitted(&noisy(1));
            refused += u32::from(!fitted.quality.holds());
            // One that does not hold would predict nothing.
            if fitted.quality.holds() {
                let runs: Vec<Platform> = (2..=10).map(noisy).collect();
                errors_of_all.extend(errors(&fitted, &runs));
            }
            for (sum, held) in sum.iter_mut().zip(held(&fitted, &clusters::draw(seed, HOSTS))) {
                *sum = [sum[0] + held[0], sum[1] + held[1]];
            }
        }
        errors_of_all.sort_by(f64::total_cmp);
        let (middle, tail) = (at(&errors_of_all, 0.5), at(&errors_of_all, 0.95));
        println!(
            "table {part} in {bytes} B: median {middle:.4}, 95th percentile {tail:.4}; intervals \
             that hold {sum:?}; {refused} of {} refuse",
            seeds.end - seeds.start
        );
        assert!(middle <= 0.05 && tail <= 0.15, "{part} in {bytes} B: {middle} {tail}");
        for [held, all] in &sum {
            assert!(f64::from(*held) >= 0.9 * f64::from(*all), "{part} in {bytes} B: {sum:?}");
        }
    }
}
