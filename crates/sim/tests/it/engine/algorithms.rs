//! Registered algorithms: all of them end, and those with a closed formula take what it says.

use laneway_coll::{all, check};
use laneway_core::{Collective, Shape};
use laneway_sim::{HostCost, Outcome, simulate};

use super::support::*;

/// Bytes of a block or vector; a whole number of the blocks that algorithms cut it into.
const SIZE: u64 = 1 << 20;

fn run(network: &Flat, collective: Collective, spelled: &str, ranks: u32) -> Outcome {
    simulate(network, &*algorithm(collective, spelled, ranks, SIZE), None).expect("a run that ends")
}

/// Seconds of one message of this number of bytes.
fn message(bytes: f64) -> f64 {
    LATENCY + bytes / RATE
}

#[test]
fn every_algorithm_ends_and_sends_what_the_checker_counts() {
    for ranks in [1u32, 2, 13, 16] {
        for algorithm in all() {
            let shape = Shape::new(algorithm.family, ranks, 4_096).with_element(8, true);
            let name = format!("{} {} on {ranks}", algorithm.family.name(), algorithm.name);
            let schedule = algorithm.schedule(&shape, &algorithm.defaults());
            let schedule = match schedule {
                Ok(schedule) => schedule,
                // Some algorithms need an even number of ranks.
                Err(_) if ranks % 2 == 1 => continue,
                Err(refusal) => panic!("{name}: {refusal}"),
            };
            let proof = check(&shape, &*schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let eager = || Flat::new(ranks).eager();
            for network in [Flat::new(ranks), eager(), eager().beside()] {
                let outcome = simulate(&network, &*schedule, None);
                let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(outcome.messages, proof.messages, "{name}");
                assert_eq!(outcome.flows, proof.messages, "{name}");
                let latest = outcome.per_rank.iter().copied().fold(0.0, f64::max);
                assert_eq!(outcome.finish, latest, "{name}");
                assert!(proof.messages == 0 || outcome.finish >= LATENCY, "{name}");
            }
        }
    }
}

#[test]
fn rooted_algorithms_take_what_the_formulas_say() {
    let n = SIZE as f64;
    for k in 1..=5u32 {
        let (p, steps) = (1u32 << k, f64::from(k));
        let others = f64::from(p - 1);
        let (shared, fat) = (Flat::new(p), Flat::with_links(p, false));
        let linear = run(&shared, Collective::Scatter, "linear", p);
        assert_close(linear.finish, others * message(n));
        // A send at a time; segments longer than the vector.
        let blocking = "knomial:radix=2:segment=1G:window=1";
        let bcast = run(&shared, Collective::Bcast, blocking, p);
        assert_close(bcast.finish, steps * message(n));
        // All sends at once: they halve a link, or do not where pipes are fat.
        let bcast = run(&shared, Collective::Bcast, "binomial", p);
        assert_close(bcast.finish, steps * LATENCY + steps * (steps + 1.0) / 2.0 * n / RATE);
        let bcast = run(&fat, Collective::Bcast, "binomial", p);
        assert_close(bcast.finish, steps * message(n));
        let scatter = run(&fat, Collective::Scatter, "binomial", p);
        assert_close(scatter.finish, steps * LATENCY + others * n / RATE);
        let bcast = run(&shared, Collective::Bcast, "linear:window=1", p);
        assert_close(bcast.finish, others * message(n));
        let gather = run(&shared, Collective::Gather, "linear:window=1000", p);
        assert_close(gather.finish, LATENCY + others * n / RATE);
    }
}

#[test]
fn a_linear_scatter_is_bound_by_the_root_s_processor() {
    // The formula of LMO: the root's part for all ranks, then the way and the last one's part.
    let (p, n) = (8u32, SIZE as f64);
    let mut network = Flat::new(p).eager();
    network.cost = HostCost {
        per_send: 5e-6,
        per_recv: 7e-6,
        per_byte_sent: 2.0 / RATE,
        per_byte_received: 2.0 / RATE,
    };
    let outcome = run(&network, Collective::Scatter, "linear", p);
    let (root, last) = (5e-6 + 2.0 * n / RATE, 7e-6 + 2.0 * n / RATE);
    assert_close(outcome.finish, f64::from(p - 1) * root + message(n) + last);
    assert_close(outcome.per_rank[0], f64::from(p - 1) * root);
}

#[test]
fn a_pipeline_takes_a_step_for_each_hop_and_segment() {
    let (p, segments) = (9u32, 16u64);
    let spelled = format!("pipeline:segment={}:window=1", SIZE / segments);
    let outcome = run(&Flat::new(p), Collective::Bcast, &spelled, p);
    let steps = f64::from(p - 2) + segments as f64;
    assert_close(outcome.finish, steps * message(SIZE as f64 / segments as f64));
}

#[test]
fn symmetric_algorithms_take_what_the_formulas_say() {
    let n = SIZE as f64;
    for (k, eager) in (1..=5u32).flat_map(|k| [(k, false), (k, true)]) {
        let (p, steps) = (1u32 << k, f64::from(k));
        let others = f64::from(p - 1);
        let network = if eager { Flat::new(p).eager() } else { Flat::new(p) };
        let time = |collective, name| run(&network, collective, name, p).finish;
        assert_close(time(Collective::Alltoall, "pairwise"), others * message(n));
        assert_close(time(Collective::Allgather, "ring"), others * message(n));
        let doubling = time(Collective::Allgather, "recursive-doubling");
        assert_close(doubling, steps * LATENCY + others * n / RATE);
        let bruck = time(Collective::Allgather, "bruck");
        assert_close(bruck, steps * LATENCY + others * n / RATE);
        assert_close(time(Collective::Allreduce, "recursive-doubling"), steps * message(n));
        let ring = time(Collective::Allreduce, "ring");
        assert_close(ring, 2.0 * others * message(n / f64::from(p)));
        assert_close(time(Collective::Barrier, "dissemination"), steps * LATENCY);
        let pairwise = run(&network, Collective::Alltoall, "pairwise", p);
        assert!(pairwise.per_rank.iter().all(|time| *time == pairwise.finish), "in step");
    }
}

#[test]
fn the_cost_of_an_all_to_all_grows_with_its_messages() {
    for p in [64u32, 128, 256, 512] {
        let schedule = algorithm(Collective::Alltoall, "pairwise", p, 1024);
        let outcome = simulate(&Flat::new(p).eager(), &*schedule, None).expect("a run that ends");
        assert_eq!(outcome.messages, u64::from(p) * u64::from(p - 1));
        assert_eq!(outcome.bytes, outcome.messages * 1024);
        assert!(outcome.shares <= 2 * outcome.messages, "{} shares", outcome.shares);
    }
}
