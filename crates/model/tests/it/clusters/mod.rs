//! Heterogeneous clusters drawn from a seed, and what is true of them.

// Every test uses a part of it, and so does the benchmark `models`.
#![allow(dead_code)]

pub mod uneven;

use std::fmt::Write;

use laneway_coll::algorithms;
use laneway_core::{Collective, Schedule, Shape};
use laneway_model::{Experiments, ModelError, Request, estimate};
use laneway_sim::platform::Platform;
use laneway_sim::{HostId, Network, Program, Route};
use laneway_stats::SplitMix64;

/// Hosts behind one switch that differ in all that a message costs: cards, processors, and latency
/// and limit of each pair.
pub fn draw(seed: u64, hosts: u32) -> Platform {
    Platform::parse(&format!("cluster {seed}"), &text(seed, hosts)).expect("a platform")
}

/// As a file, whose first line says in a comment what was drawn.
pub fn text(seed: u64, hosts: u32) -> String {
    // Draws of its own, as it came later than the others.
    let in_order = SplitMix64::new(!seed).uniform() < 0.5;
    let mut draws = SplitMix64::new(seed);
    let mut between = |low: f64, high: f64| low * (high / low).powf(draws.uniform());
    let eager = [4, 16, 64][(between(1.0, 4.0) as usize - 1).min(2)];
    let card = between(50e6, 5e9);
    let cost = between(0.2e-6, 20e-6);
    // From a processor that is hardly felt to one that is slower than the card.
    let per_byte = between(0.03, 1.5) / card;
    let latency = between(2e-6, 100e-6);
    let mut text = format!(
        "# {hosts} hosts, {:.0} MB/s, {:.1} us and {:.2} ns/B a message, {:.1} us, eager {eager}K, \
         in order {in_order}\neager = \"{eager}K\"\nin-order = {in_order}\n\n[[link]]\n\
         name = \"wire\"\nrate = \"1TB/s\"\nshared = false\n",
        card / 1e6,
        cost * 1e6,
        per_byte * 1e9,
        latency * 1e6
    );
    for host in 0..hosts {
        let [out, into] = [(); 2].map(|()| card * between(0.4, 1.0) / 1e6);
        let [send, receive] = [(); 2].map(|()| cost * between(1.0, 3.0) * 1e6);
        let [sent, received] = [(); 2].map(|()| per_byte * between(1.0, 2.0) * 1e9);
        let _ = write!(
            text,
            "\n[[host]]\nname = \"n{host}\"\nrate-out = \"{out:.6}MB/s\"\n\
             rate-in = \"{into:.6}MB/s\"\n\
             send = \"{send:.6}us\"\nreceive = \"{receive:.6}us\"\n\
             per-byte-sent = \"{sent:.9}ns\"\nper-byte-received = \"{received:.9}ns\"\n"
        );
    }
    for (i, j) in (0..hosts).flat_map(|i| (i + 1..hosts).map(move |j| (i, j))) {
        let latency = latency * between(1.0, 1.5) * 1e6;
        let most = card * between(0.5, 2.0) / 1e6;
        let _ = write!(
            text,
            "\n[[route]]\nfrom = \"n{i}\"\nto = \"n{j}\"\nlinks = [\"wire\"]\n\
             latency = \"{latency:.6}us\"\nconnection = \"{most:.6}MB/s\"\n"
        );
    }
    text
}

/// Estimates on a simulated cluster.
pub fn estimated(network: &dyn Network, request: &Request) -> Result<Experiments, ModelError> {
    let run = Program::new(network, network.hosts()).run(|comm| estimate(comm, request));
    let first = run.expect("it ends").results.into_iter().next().expect("rank 0");
    first.map(|experiments| experiments.expect("rank 0 knows"))
}

/// Latency, and seconds a byte of one message alone.
pub fn way(network: &dyn Network, from: HostId, to: HostId) -> [f64; 2] {
    let mut route = Route::default();
    network.route(from, to, &mut route);
    let rates = route.resources.iter().map(|&id| network.resources()[id as usize].rate);
    [route.latency, 1.0 / rates.fold(route.most, f64::min)]
}

/// Seconds a byte of the card of a host, out and in.
pub fn card(network: &dyn Network, host: HostId) -> [f64; 2] {
    let other = if host == 0 { 1 } else { 0 };
    let end = |from: HostId, to: HostId, first: bool| {
        let mut route = Route::default();
        network.route(from, to, &mut route);
        let id = if first { route.resources.first() } else { route.resources.last() };
        id.map_or(0.0, |&id| 1.0 / network.resources()[id as usize].rate)
    };
    [end(host, other, true), end(other, host, false)]
}

/// The same hosts with traffic of others: every host sends messages to the next one now and then,
/// which take so large a part of its card.
pub fn draw_noisy(seed: u64, hosts: u32, part: f64, bytes: u64, when: u64) -> Platform {
    let clean = draw(seed, hosts);
    // When others send is drawn by the platform's own seed.
    let mut text = format!("seed = {when}\n{}", text(seed, hosts));
    for host in 0..hosts {
        let every = bytes as f64 * card(&clean, host)[0] / part * 1e6;
        let to = (host + 1) % hosts;
        let _ = write!(
            text,
            "\n[[background]]\nfrom = \"n{host}\"\nto = \"n{to}\"\nsize = \"{bytes}\"\n\
             every = \"{every:.6}us\"\nrandom = true\n"
        );
    }
    Platform::parse(&format!("noisy cluster {seed}"), &text).expect("a platform")
}

/// Every scatter, gather and bcast of the registry from 1 B to 1 MiB, in steps of a number of
/// powers of two, with its name.
pub fn calls(hosts: u32, powers: usize) -> Vec<(String, Box<dyn Schedule>)> {
    let mut calls = Vec::new();
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for algorithm in algorithms(collective) {
            for size in (0..=20).step_by(powers).map(|power| 1u64 << power) {
                let shape = Shape::new(collective, hosts, size);
                let schedule = algorithm.schedule(&shape, &algorithm.defaults());
                calls.extend(schedule.map(|call| (format!("{algorithm:?} {size} B"), call)));
            }
        }
    }
    calls
}

/// The value that this part of a sorted list does not exceed.
pub fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}
