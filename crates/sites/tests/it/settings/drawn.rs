//! Random platforms of unequal hosts and sites, and a random call on each.

use std::fmt::Write;

use laneway_core::{Collective, Shape};
use laneway_sim::HostId;
use laneway_sim::platform::Platform;
use laneway_stats::SplitMix64;

/// The operations that are compared.
pub const OPERATIONS: [Collective; 8] = [
    Collective::Bcast,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::Scatter,
    Collective::Gather,
    Collective::Allgather,
    Collective::ReduceScatter,
    Collective::Alltoall,
];

/// A platform, the host of each rank, and what is called.
pub struct Case {
    pub platform: Platform,
    pub hosts: Vec<HostId>,
    pub shape: Shape,
    pub what: String,
}

/// Between two numbers, each of their powers as likely.
fn scale(draws: &mut SplitMix64, low: f64, high: f64) -> f64 {
    low * (high / low).powf(draws.uniform())
}

fn bits(rate: f64) -> String {
    format!("{:.3}kbit", rate / 1e3)
}

fn time(seconds: f64) -> String {
    format!("{:.3}us", seconds * 1e6)
}

/// 2 to 9 sites of 1 to 40 hosts, at most so many hosts together.
fn site_sizes(draws: &mut SplitMix64, most: u64) -> Vec<u64> {
    loop {
        let sites = 2 + draws.index(8);
        let sizes: Vec<u64> = (0..sites)
            .map(|_| match draws.index(3) {
                0 => 1 + draws.index(3) as u64,
                1 => 1 + draws.index(12) as u64,
                _ => 1 + draws.index(40) as u64,
            })
            .collect();
        if sizes.iter().sum::<u64>() <= most {
            return sizes;
        }
    }
}

/// The hosts in the order of their ranks: by site, round robin, or at random.
fn placed(draws: &mut SplitMix64, sizes: &[u64]) -> Vec<HostId> {
    let mut sites: Vec<Vec<HostId>> = Vec::new();
    let mut next = 0;
    for size in sizes {
        sites.push((next..next + *size as HostId).collect());
        next += *size as HostId;
    }
    match draws.index(3) {
        0 => sites.concat(),
        1 => {
            let turns = sizes.iter().copied().max().unwrap_or(0) as usize;
            let turn = |turn: usize| sites.iter().filter_map(move |site| site.get(turn).copied());
            (0..turns).flat_map(turn).collect()
        }
        _ => {
            let mut all = sites.concat();
            draws.shuffle(&mut all);
            all
        }
    }
}

fn text(draws: &mut SplitMix64, sizes: &[u64]) -> String {
    let mut text = String::new();
    if draws.index(3) == 0 {
        let eager = [0, 1 << 10, 8 << 10, 1 << 20, 1 << 30][draws.index(5)];
        let _ = writeln!(text, "eager = {eager}");
    }
    if draws.index(6) == 0 {
        let _ = writeln!(text, "connections = {}", 2 << draws.index(3));
    }
    let card = scale(draws, 1e8, 1e10);
    let (has_uplinks, has_wan_cards) = (draws.index(2) == 0, draws.index(4) == 0);
    let costs = draws.index(4) == 0;
    for (site, size) in sizes.iter().enumerate() {
        let latency = time(scale(draws, 5e-6, 100e-6));
        let _ = write!(text, "[[site]]\nname = \"p{site}\"\nlatency = \"{latency}\"\n");
        if has_uplinks {
            let _ = writeln!(text, "uplink = \"{}\"", bits(card * scale(draws, 0.3, 10.0)));
        }
        for host in 0..*size {
            let own = if draws.index(5) == 0 { card * scale(draws, 0.2, 5.0) } else { card };
            let _ = write!(
                text,
                "[[host]]\nname = \"p{site}n{host}\"\nsite = \"p{site}\"\nrate = \"{}\"\n",
                bits(own)
            );
            if has_wan_cards {
                let _ = writeln!(text, "wan-rate = \"{}\"", bits(own * scale(draws, 0.1, 1.0)));
            }
            if costs {
                let cost = time(scale(draws, 0.5e-6, 10e-6));
                let _ = writeln!(text, "send = \"{cost}\"\nreceive = \"{cost}\"");
            }
        }
    }
    let _ = writeln!(text, "[wan]\nlatency = \"{}\"", time(scale(draws, 50e-6, 20e-3)));
    if draws.index(4) == 0 {
        let _ = writeln!(text, "aggregate = \"{}\"", bits(card * scale(draws, 0.5, 10.0)));
    }
    let limited = draws.index(3) > 0;
    let has_rates = draws.index(2) == 0;
    for (a, b) in (0..sizes.len()).flat_map(|a| (a + 1..sizes.len()).map(move |b| (a, b))) {
        let latency = time(scale(draws, 100e-6, 50e-3));
        let _ =
            write!(text, "[[between]]\nsites = [\"p{a}\", \"p{b}\"]\nlatency = \"{latency}\"\n");
        if limited {
            let _ = writeln!(text, "connection = \"{}\"", bits(card / scale(draws, 1.0, 20.0)));
        }
        if has_rates {
            let _ = writeln!(text, "rate = \"{}\"", bits(card * scale(draws, 0.1, 5.0)));
        }
    }
    text
}

/// The case of a seed, with at most so many hosts.
pub fn case(seed: u64, most: u64) -> Case {
    let draws = &mut SplitMix64::new(seed);
    let sizes = site_sizes(draws, most);
    let text = text(draws, &sizes);
    let platform = Platform::parse("drawn", &text).expect("a platform");
    let hosts = placed(draws, &sizes);
    let collective = OPERATIONS[(seed % OPERATIONS.len() as u64) as usize];
    let most = match collective {
        Collective::Alltoall | Collective::Allgather => 256e3,
        _ => 16e6,
    };
    let size = scale(draws, 8.0, most) as u64;
    let ranks = hosts.len() as u32;
    let root = if collective.has_root() { draws.index(hosts.len()) as u32 } else { 0 };
    let shape = Shape::new(collective, ranks, size).with_root(root);
    let what = format!("{} of {size} from {root}, sites {sizes:?}, seed {seed}", collective.name());
    Case { platform, hosts, shape, what }
}
