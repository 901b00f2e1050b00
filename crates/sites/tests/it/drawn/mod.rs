//! A seeded generator of platforms with several sites, and of calls on them.

use std::fmt::Write;

use laneway_core::Collective;
use laneway_stats::SplitMix64;

/// No platform has more hosts.
const MOST_HOSTS: usize = 32;

/// A call of all ranks.
pub struct Call {
    pub op: Collective,
    pub size: u64,
    pub root: u32,
}

struct Draws(SplitMix64);

impl Draws {
    /// Between two numbers, each of their powers as likely.
    fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }

    fn chance(&mut self, part: f64) -> bool {
        self.0.uniform() < part
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.index(values.len())]
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            values.swap(at, self.0.index(at + 1));
        }
    }
}

fn bits(rate: f64) -> String {
    format!("\"{:.3}kbit\"", rate / 1e3)
}

fn time(seconds: f64) -> String {
    format!("\"{:.3}us\"", seconds * 1e6)
}

/// The hosts of each site, in the order of ranks: by site, round robin, or at random.
fn order(draws: &mut Draws, counts: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> =
        counts.iter().enumerate().flat_map(|(site, &count)| vec![site; count]).collect();
    match draws.0.index(3) {
        0 => {}
        1 => draws.shuffle(&mut order),
        _ => {
            let turn = |(place, &site): (usize, &usize)| {
                (order[..place].iter().filter(|one| **one == site).count(), site)
            };
            let mut turns: Vec<(usize, usize)> = order.iter().enumerate().map(turn).collect();
            turns.sort_unstable();
            order = turns.into_iter().map(|(_, site)| site).collect();
        }
    }
    order
}

/// The text of a platform, and calls on it.
pub fn platform(seed: u64) -> (String, Vec<Call>) {
    let draws = &mut Draws(SplitMix64::new(seed));
    let sites = if draws.chance(0.6) { 2 + draws.0.index(2) } else { 2 + draws.0.index(8) };
    let mut counts: Vec<usize> = (0..sites).map(|_| 1 + draws.0.index(12)).collect();
    while counts.iter().sum::<usize>() > MOST_HOSTS {
        let largest = (0..sites).max_by_key(|site| counts[*site]).unwrap_or(0);
        counts[largest] -= 1;
    }
    let hosts = counts.iter().sum::<usize>();
    let usual = draws.scale(1e8, 1e10);
    let cards: Vec<f64> = match draws.chance(0.3) {
        true => (0..sites).map(|_| usual * draws.one_of(&[0.1, 0.25, 1.0, 1.0, 2.5])).collect(),
        false => vec![usual; sites],
    };
    let slowest = cards.iter().copied().fold(f64::INFINITY, f64::min);
    let mut text = settings(draws);
    let one = slowest / draws.scale(1.0, 32.0);
    let shared = one * draws.scale(0.7, 2.0 * hosts as f64 / sites as f64);
    let (uplinks, ways, all) = (draws.chance(0.3), draws.chance(0.3), draws.chance(0.05));
    for site in 0..sites {
        let latency = time(draws.scale(3e-6, 60e-6));
        let _ = write!(text, "[[site]]\nname = \"q{site}\"\nlatency = {latency}\n");
        if uplinks {
            let out = shared * draws.scale(0.5, 2.0);
            let into = if draws.chance(0.5) { out } else { shared * draws.scale(0.5, 2.0) };
            let _ = write!(text, "uplink-out = {}\nuplink-in = {}\n", bits(out), bits(into));
        }
    }
    let order = order(draws, &counts);
    write_hosts(draws, &mut text, &order, &cards, one);
    let _ = writeln!(text, "[wan]\nlatency = \"1ms\"");
    if all {
        let _ = writeln!(text, "aggregate = {}", bits(shared * draws.scale(0.7, 2.0)));
    }
    let limited = draws.chance(0.7);
    for (a, b) in (0..sites).flat_map(|a| (a + 1..sites).map(move |b| (a, b))) {
        let latency = time(draws.scale(0.3e-3, 30e-3));
        let _ = write!(text, "[[between]]\nsites = [\"q{a}\", \"q{b}\"]\nlatency = {latency}\n");
        if limited {
            let part = draws.one_of(&[1.0, 1.0, 1.0, 0.5, 2.0]);
            let _ = writeln!(text, "connection = {}", bits(one * part));
        }
        if ways {
            let _ = writeln!(text, "rate = {}", bits(shared * draws.scale(0.5, 2.0)));
        }
    }
    let calls = calls(draws, hosts);
    (text, calls)
}

/// Eager limit, order, connections and sharing.
fn settings(draws: &mut Draws) -> String {
    let eager = draws.one_of(&[0, 1, 4 << 10, 64 << 10, 64 << 10, 64 << 10, 1 << 20, 1 << 30]);
    let mut text = format!("eager = {eager}\n");
    match draws.0.index(10) {
        0 => text.push_str("in-order = false\n"),
        1 | 2 => {
            let _ = writeln!(text, "connections = {}", draws.one_of(&[2, 4]));
        }
        _ => {}
    }
    if draws.chance(0.15) {
        text.push_str("sharing = \"by-latency\"\n");
    }
    text
}

fn write_hosts(draws: &mut Draws, text: &mut String, order: &[usize], cards: &[f64], one: f64) {
    let (uneven, fat) = (draws.chance(0.2), draws.chance(0.3).then(|| draws.0.index(order.len())));
    let thin = draws.chance(0.25).then(|| draws.0.index(order.len()));
    let seconds = draws.chance(0.25).then(|| draws.scale(0.5, 8.0).max(1.0) * one);
    let costs = draws.chance(0.2);
    let cost = [draws.scale(0.3e-6, 10e-6), draws.scale(0.3e-6, 10e-6)];
    let per_byte = draws.scale(0.02, 0.5) * 8.0 / cards[0];
    let only_some = draws.chance(0.5);
    for (number, &site) in order.iter().enumerate() {
        let mut card = cards[site];
        if fat == Some(number) {
            card *= 10.0;
        } else if thin == Some(number) {
            card *= 0.1;
        }
        let into =
            if uneven { card * draws.one_of(&[0.1, 0.25, 0.5, 1.0, 2.0, 4.0]) } else { card };
        let (out, into) = (bits(card), bits(into));
        let _ = write!(text, "[[host]]\nname = \"n{number}\"\nsite = \"q{site}\"\n");
        let _ = write!(text, "rate-out = {out}\nrate-in = {into}\n");
        if let Some(second) = seconds
            && !(only_some && draws.chance(0.5))
        {
            let _ = writeln!(text, "wan-rate = {}", bits(second));
        }
        if costs {
            let [send, receive] = cost.map(time);
            let _ = write!(text, "send = {send}\nreceive = {receive}\n");
            let _ = writeln!(text, "per-byte = \"{:.6}ns\"", per_byte * 1e9);
        }
    }
}

fn calls(draws: &mut Draws, hosts: usize) -> Vec<Call> {
    let operations = [
        Collective::Scatter,
        Collective::Gather,
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
    ];
    let call = |op: Collective| {
        let size = draws.one_of(&[4 << 10, 64 << 10, 256 << 10, 1 << 20]);
        let root = if op.has_root() { draws.0.index(hosts) as u32 } else { 0 };
        Call { op, size, root }
    };
    operations.into_iter().map(call).collect()
}
