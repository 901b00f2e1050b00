//! The same figures to the last bit: from run to run, and wherever equal hosts stand.

use laneway_core::Collective;
use laneway_sim::{Delivery, HostCost, Outcome, Simulation, simulate};
use laneway_stats::SplitMix64;

use super::support::*;

/// A run in which much is shared, with its deliveries.
fn contended() -> (Outcome, Vec<Delivery>) {
    let mut network = Flat::new(24).eager();
    network.cost = HostCost {
        per_send: 1.7e-6,
        per_recv: 0.9e-6,
        per_byte_sent: 1e-11,
        per_byte_received: 1e-11,
    };
    let schedule = algorithm(Collective::Alltoall, "linear:window=7", 24, 30_011);
    let mut deliveries = Vec::new();
    let outcome = Simulation::new(&network).observed(&mut deliveries).run(&*schedule);
    (outcome.expect("a run that ends"), deliveries)
}

#[test]
fn two_runs_give_the_same_bits() {
    let (first, second) = (contended(), contended());
    assert_eq!(first.0.messages, 24 * 23);
    assert_eq!(first.1.len(), 24 * 23);
    let bits = |outcome: &Outcome| -> Vec<u64> {
        outcome.per_rank.iter().map(|time| time.to_bits()).collect()
    };
    assert_eq!(bits(&first.0), bits(&second.0));
    assert_eq!(first, second);
}

#[test]
fn equal_hosts_can_be_exchanged() {
    let network = Flat::new(32);
    for (collective, name) in [
        (Collective::Bcast, "binomial"),
        (Collective::Scatter, "binomial"),
        (Collective::Alltoall, "linear:window=5"),
        (Collective::Allreduce, "rabenseifner"),
    ] {
        let schedule = algorithm(collective, name, 32, 40_000);
        let straight = simulate(&network, &*schedule, None).expect("a run that ends");
        let mut hosts: Vec<u32> = (0..32).collect();
        let mut random = SplitMix64::new(7);
        for i in (1..32).rev() {
            hosts.swap(i, random.index(i + 1));
        }
        let shuffled = simulate(&network, &*schedule, Some(&hosts)).expect("a run that ends");
        assert_eq!(straight.per_rank, shuffled.per_rank, "{name}");
    }
}
