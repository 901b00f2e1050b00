//! Platforms on which choices were wrong once, each the smallest of its kind.

use laneway_core::Collective;
use laneway_core::Collective::{Allgather, Allreduce, Alltoall, Bcast, Gather, Reduce, Scatter};

use crate::draw::{Call, Drawn};
use crate::plan::{Between, Card, Host, Plan, Site, Wan};

const MBIT: f64 = 1e6;
const GBIT: f64 = 1e9;
const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

/// By their names.
pub fn all() -> Vec<(&'static str, Drawn)> {
    vec![
        ("fat-last", fat_host(7, 100.0 * GBIT, None)),
        ("fat-head", fat_host(0, 10.0 * GBIT, None)),
        ("fat-head-limited", fat_host(0, 10.0 * GBIT, Some(250.0 * MBIT))),
        ("fast-receivers", fast_receivers()),
        ("unlike-uplinks", unlike_uplinks()),
        ("unlike-uplinks-unnamed", unnamed(unlike_uplinks())),
        ("near-pair", near_pair()),
        ("near-pair-unnamed", unnamed(near_pair())),
        ("shuffled-ranks", three_sites(true)),
        ("sorted-ranks", three_sites(false)),
        ("seven-round-robin", seven(true)),
        ("seven-by-site", seven(false)),
        ("triangle", triangle()),
    ]
}

/// Sites of these numbers of hosts with these cards.
fn plan(counts: &[usize], latencies_us: &[f64], rate: f64) -> Plan {
    let mut plan = Plan { eager: 64 * KB, ..Plan::default() };
    for (site, (&count, us)) in counts.iter().zip(latencies_us).enumerate() {
        plan.sites.push(Site { count, latency: us * 1e-6, ..Site::default() });
        let card = Card { out: rate, into: rate };
        let host = |number| Host { site, number, card, wan: None, cost: None };
        plan.hosts.extend((0..count).map(host));
    }
    plan
}

fn by_site(plan: &Plan) -> Vec<usize> {
    (0..plan.hosts.len()).collect()
}

fn round_robin(plan: &Plan) -> Vec<usize> {
    let mut order = by_site(plan);
    order.sort_by_key(|host| plan.hosts[*host].number);
    order
}

/// Calls of each operation with each size, from the first rank.
fn calls(operations: &[Collective], sizes: &[u64]) -> Vec<Call> {
    let of = |&op: &Collective| sizes.iter().map(move |&size| Call { op, size, root: 0 });
    operations.iter().flat_map(of).collect()
}

fn drawn(plan: &Plan, order: &[usize], calls: Vec<Call>, what: &str) -> Drawn {
    let are_sites_found = plan.can_sites_be_found();
    Drawn { what: what.into(), are_sites_found, ..Drawn::of(plan, order, calls) }
}

/// The same where measuring has to find the sites, or to refuse.
fn unnamed(drawn: Drawn) -> Drawn {
    Drawn { are_sites_found: true, ..drawn }
}

/// Two sites of eight hosts, of which one host has ten times the rate.
fn fat_host(number: usize, wan: f64, connection: Option<f64>) -> Drawn {
    let mut plan = plan(&[8, 8], &[20.0, 20.0], GBIT);
    plan.hosts[8 + number].card = Card { out: 10.0 * GBIT, into: 10.0 * GBIT };
    plan.wan = Wan { latency: 5e-3, rate: Some(wan), connection, ..Wan::default() };
    let mut calls = calls(&[Scatter, Gather, Bcast, Reduce, Allgather, Alltoall], &[64 * KB, MB]);
    let from_fat = |call: &Call| Call { root: 8 + number as u32, ..call.clone() };
    let others: Vec<Call> = calls.iter().take(8).map(from_fat).collect();
    calls.extend(others);
    drawn(&plan, &by_site(&plan), calls, "one host has ten times the others' rate")
}

/// Hosts that receive up to four times as fast as they send, or ten times as slowly.
fn fast_receivers() -> Drawn {
    let mut plan = plan(&[4, 6], &[69.0, 24.0], 4.0 * GBIT);
    let times = [0.1, 2.0, 4.0, 0.25, 4.0, 2.0, 2.0, 0.5, 0.5, 0.25];
    for (host, times) in plan.hosts.iter_mut().zip(times) {
        host.card.into *= times;
    }
    plan.wan = Wan { latency: 4.5e-3, connection: Some(3.1 * GBIT), ..Wan::default() };
    let calls = calls(&[Scatter, Gather, Bcast, Allreduce, Reduce, Allgather], &[64 * KB, MB]);
    drawn(&plan, &round_robin(&plan), calls, "in and out differ")
}

/// Four sites with uplinks from 1.6 Mbit/s to 3 Gbit/s, one of them as wide inside as the others
/// are apart.
fn unlike_uplinks() -> Drawn {
    let mut plan = plan(&[9, 7, 7, 7], &[1.3, 2.6, 10.4, 198.0], 300.0 * MBIT);
    for host in &mut plan.hosts {
        let rate = [300.0, 2000.0, 4300.0, 310.0][host.site] * MBIT;
        host.card = Card { out: rate, into: rate };
    }
    let uplinks = [[4.1, 14.7], [3000.0, 3000.0], [41.0, 43.0], [1170.0, 1.6]];
    for (site, uplink) in plan.sites.iter_mut().zip(uplinks) {
        site.uplink = Some(uplink.map(|rate| rate * MBIT));
    }
    plan.eager = 1;
    let (rate, connection) = (Some(16.0 * MBIT), Some(2.9 * GBIT));
    plan.wan = Wan { latency: 361e-6, rate, connection, ..Wan::default() };
    let ends = |ends| Between { ends, ..Between::default() };
    plan.set_between(Between { latency: Some(155e-6), ..ends([1, 2]) });
    let far = Between { latency: Some(32.5e-3), ..ends([1, 3]) };
    plan.set_between(Between { connection: Some(80.0 * MBIT), ..far });
    let calls = calls(&[Scatter, Gather, Bcast, Reduce], &[64 * KB, MB]);
    drawn(&plan, &round_robin(&plan), calls, "uplinks from 1.6 Mbit/s to 3 Gbit/s")
}

/// Two sites that are near to each other, and a far one.
fn near_pair() -> Drawn {
    let mut plan = plan(&[4, 4, 4], &[5.0, 25.0, 20.0], 10.0 * GBIT);
    plan.wan = Wan { latency: 5e-3, rate: Some(GBIT), ..Wan::default() };
    let near = Between { ends: [0, 1], latency: Some(60e-6), ..Between::default() };
    plan.set_between(near);
    let calls = calls(&[Scatter, Gather, Bcast, Allreduce, Allgather], &[64 * KB, MB]);
    drawn(&plan, &by_site(&plan), calls, "two sites 60 us apart")
}

/// Three sites of unlike hosts, with the ranks by site or at random.
fn three_sites(is_shuffled: bool) -> Drawn {
    let mut plan = plan(&[3, 14, 2], &[54.0, 84.0, 8.0], 660.0 * MBIT);
    for host in &mut plan.hosts {
        let same = |rate: f64| Card { out: rate * MBIT, into: rate * MBIT };
        host.card =
            [same(660.0), same(1700.0), Card { into: 2.6 * GBIT, ..same(660.0) }][host.site];
        host.wan = (host.site == 0).then(|| same(660.0));
    }
    plan.eager = 1000;
    let (rate, connection) = (Some(340.0 * MBIT), Some(21.0 * MBIT));
    plan.wan = Wan { latency: 15.4e-3, rate, connection, ..Wan::default() };
    let (latency, connection) = (Some(121e-6), Some(1.14 * MBIT));
    plan.set_between(Between { ends: [0, 1], latency, connection, ..Between::default() });
    let mut order = by_site(&plan);
    match is_shuffled {
        true => crate::dice::Dice::new(300).shuffle(&mut order),
        // The large site first.
        false => order.sort_by_key(|host| [2, 0, 1][plan.hosts[*host].site]),
    }
    let calls = calls(&[Reduce, Bcast, Allreduce, Scatter, Gather], &[64 * KB, MB]);
    drawn(&plan, &order, calls, "three sites of unlike hosts and slow connections")
}

/// Seven sites of four hosts, ranks round robin or by site.
fn seven(is_round_robin: bool) -> Drawn {
    let mut plan = plan(&[4; 7], &[20.0; 7], 10.0 * GBIT);
    plan.sites.iter_mut().for_each(|site| site.uplink = Some([GBIT; 2]));
    plan.wan.latency = 5e-3;
    let order = if is_round_robin { round_robin(&plan) } else { by_site(&plan) };
    let calls = calls(&[Bcast, Reduce, Allreduce, Allgather, Alltoall], &[64 * KB, 4 * MB]);
    drawn(&plan, &order, calls, "seven sites with uplinks")
}

/// A slow way between two sites, and fast ones over the third.
fn triangle() -> Drawn {
    let mut plan = plan(&[4, 4, 4], &[20.0; 3], 10.0 * GBIT);
    plan.wan = Wan { latency: 5e-3, rate: Some(10.0 * GBIT), ..Wan::default() };
    let (latency, rate) = (Some(40e-3), Some(100.0 * MBIT));
    plan.set_between(Between { ends: [0, 1], latency, rate, ..Between::default() });
    let calls = calls(&[Scatter, Gather, Bcast, Allgather], &[MB, 16 * MB]);
    drawn(&plan, &by_site(&plan), calls, "a way over a third site")
}
