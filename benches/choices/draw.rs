//! Platforms as users have them, and calls on them, drawn by seed.
//!
//! Hosts are fat and thin, sites have 1 to 40 of them, and what else a platform may have (second
//! cards, uplinks, ways over a third site, costs, several connections) each has a chance of its
//! own. Every tenth seed has more than [`MOST_SMALL`] hosts.

use std::fmt::Write;

use laneway_core::{Collective, Shape};

use crate::dice::{Dice, prime_from};

/// More hosts than this are a large platform.
pub const MOST_SMALL: usize = 64;
const MOST_LARGE: usize = 240;
const MOST_IN_SITE: u64 = 40;
/// Of a block or a vector, and of all of them together.
const MOST_SIZE: u64 = 64 << 20;
const MOST_BYTES: u64 = 2 << 30;
/// Calls on a small platform and on a large one.
const CALLS: u64 = 4;
const CALLS_LARGE: u64 = 2;

/// The operations; consecutive calls take consecutive ones.
pub const OPERATIONS: [Collective; 8] = [
    Collective::Scatter,
    Collective::Bcast,
    Collective::Gather,
    Collective::Allreduce,
    Collective::Reduce,
    Collective::Allgather,
    Collective::ReduceScatter,
    Collective::Alltoall,
];
/// Those that have a lower bound.
const BOUNDED: [Collective; 2] = [Collective::Scatter, Collective::Gather];

/// A call with one rank on each host.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub op: Collective,
    pub size: u64,
    pub root: u32,
}

impl Call {
    pub fn shape(&self, ranks: u32) -> Shape {
        Shape::new(self.op, ranks, self.size).with_root(self.root)
    }

    /// As `laneway sim` and `laneway sites` take it.
    pub fn spelled(&self) -> String {
        let root =
            if self.op.has_root() { format!(" --root {}", self.root) } else { String::new() };
        format!("{} --sizes {}{root}", self.op.name(), self.size)
    }
}

/// A platform and calls on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The platform's file.
    pub text: String,
    /// What it has, in words.
    pub what: String,
    /// The site of each host, in the order of the file.
    pub sites: Vec<String>,
    /// SimGrid can express it.
    pub is_simgrids: bool,
    /// Its eager limit.
    pub eager: u64,
    pub calls: Vec<Call>,
}

impl Drawn {
    pub fn new(seed: u64) -> Drawn {
        let dice = &mut Dice::new(seed);
        let is_large = seed % 10 == 9;
        let mut made = Made::draw(dice, is_large);
        made.draw_cards(dice);
        made.draw_second_cards(dice);
        made.draw_ways(dice);
        made.draw_rest(dice);
        let order = made.order(dice);
        let calls = made.draw_calls(dice, seed, is_large, &order);
        let sites = order.iter().map(|host| format!("s{}", made.hosts[*host].site)).collect();
        let counts: Vec<String> = made.sites.iter().map(|site| site.count.to_string()).collect();
        let what = format!("sites of {}; {}", counts.join(", "), made.what.join(", "));
        let (is_simgrids, eager) = (made.is_simgrids, made.eager);
        Drawn { text: made.text(&order), what, sites, is_simgrids, eager, calls }
    }
}

/// Bits a second of both directions of a card.
#[derive(Clone, Copy, Debug)]
struct Card {
    out: f64,
    into: f64,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    send: f64,
    receive: f64,
    per_byte: f64,
}

#[derive(Clone, Debug)]
struct Host {
    site: usize,
    number: usize,
    card: Card,
    wan: Option<Card>,
    cost: Option<Cost>,
}

#[derive(Clone, Debug, Default)]
struct Site {
    count: usize,
    latency: f64,
    uplink: Option<[f64; 2]>,
    switch: Option<f64>,
    connection: Option<f64>,
}

/// What two sites have of their own.
#[derive(Clone, Debug, Default)]
struct Between {
    ends: [usize; 2],
    latency: Option<f64>,
    rate: Option<f64>,
    connection: Option<f64>,
}

#[derive(Clone, Debug, Default)]
struct Wan {
    latency: f64,
    rate: Option<f64>,
    aggregate: Option<f64>,
    connection: Option<f64>,
    window: Option<u64>,
}

/// A platform being made.
#[derive(Default)]
struct Made {
    /// Bits a second of a usual card.
    rate: f64,
    sites: Vec<Site>,
    hosts: Vec<Host>,
    wan: Wan,
    between: Vec<Between>,
    eager: u64,
    header: u64,
    in_order: bool,
    by_latency: bool,
    connections: u64,
    is_simgrids: bool,
    what: Vec<String>,
}

impl Made {
    /// Sites and how many hosts each has.
    fn draw(dice: &mut Dice, is_large: bool) -> Made {
        let mut made = Made { rate: dice.log(1e8, 1e11), ..Made::default() };
        let count = if is_large { dice.whole(3, 9) } else { dice.whole(2, 9) } as usize;
        let are_prime = dice.is(0.3);
        let mut counts: Vec<u64> = (0..count).map(|_| dice.whole(1, MOST_IN_SITE)).collect();
        if dice.is(0.5) {
            let small = dice.index(count);
            counts[small] = counts[small].min(dice.whole(1, 4));
        }
        let largest = |counts: &[u64]| (0..count).max_by_key(|at| counts[*at]).unwrap_or(0);
        if is_large {
            while counts.iter().sum::<u64>() <= MOST_SMALL as u64 {
                let at = dice.index(count);
                counts[at] = (2 * counts[at]).min(MOST_IN_SITE);
            }
        }
        if are_prime {
            counts.iter_mut().filter(|n| **n > 1).for_each(|n| *n = prime_from(*n));
            made.what.push("prime counts".into());
        }
        let most = if is_large { MOST_LARGE } else { MOST_SMALL } as u64;
        while counts.iter().sum::<u64>() > most {
            let at = largest(&counts);
            counts[at] -= if are_prime { counts[at] / 3 } else { 1 };
        }
        let site = |&count: &u64| Site { count: count as usize, ..Site::default() };
        made.sites = counts.iter().map(site).collect();
        made.sites.iter_mut().for_each(|site| site.latency = dice.log(1e-6, 2e-4));
        made
    }

    /// Cards that are alike, or fat and thin ones, or each its own.
    fn draw_cards(&mut self, dice: &mut Dice) {
        let rate = self.rate;
        let kind =
            dice.one_of(&["alike", "alike", "by site", "a fat host", "a thin host", "mixed"]);
        let factor = dice.log(3.0, 20.0);
        let heads_everywhere = dice.is(0.3);
        let chosen = dice.index(self.sites.len());
        let [in_site, at_end] = [dice.is(0.5), dice.is(0.5)];
        let apart = dice.is(0.25).then(|| dice.log(1.5, 10.0));
        for at in 0..self.sites.len() {
            let of_site = dice.one_of(&[0.1, 0.3, 1.0, 1.0, 2.0]);
            let count = self.sites[at].count;
            let special = if at_end { count - 1 } else { dice.index(count) };
            for number in 0..count {
                let is_special = number == special && (heads_everywhere || at == chosen);
                let times = match kind {
                    "by site" => of_site,
                    "a fat host" if is_special => factor,
                    "a thin host" if is_special => 1.0 / factor,
                    "mixed" if in_site || at == chosen => dice.one_of(&[0.1, 0.25, 0.5, 1.0, 1.0]),
                    _ => 1.0,
                };
                let mut card = Card { out: rate * times, into: rate * times };
                if let Some(apart) = apart.filter(|_| dice.is(0.5)) {
                    card.into *= if dice.is(0.5) { apart } else { 1.0 / apart };
                }
                self.hosts.push(Host { site: at, number, card, wan: None, cost: None });
            }
        }
        self.what.push(format!("cards {kind}"));
        if apart.is_some() {
            self.what.push("in and out differ".into());
        }
    }

    fn draw_second_cards(&mut self, dice: &mut Dice) {
        if !dice.is(0.25) {
            return;
        }
        let part = dice.one_of(&["all", "all", "a site", "some"]);
        let times = dice.log(0.05, 2.0);
        let (site, differ) = (dice.index(self.sites.len()), dice.is(0.3));
        for host in &mut self.hosts {
            let has = match part {
                "all" => true,
                "a site" => host.site == site,
                _ => dice.is(0.4),
            };
            let out = self.rate * times;
            let into = if differ { out * dice.log(0.5, 2.0) } else { out };
            host.wan = has.then_some(Card { out, into });
        }
        self.what.push(format!("second cards of {part}"));
    }

    /// Everything between the sites.
    fn draw_ways(&mut self, dice: &mut Dice) {
        let rate = self.rate;
        let share = dice.log(0.1, 10.0);
        self.wan.latency = dice.log(2e-4, 3e-2);
        self.wan.rate = dice.is(0.6).then_some(rate * share);
        self.wan.aggregate = dice.is(0.12).then(|| rate * dice.log(0.3, 20.0));
        if dice.is(0.45) {
            self.wan.connection = Some(rate / dice.log(1.0, 32.0));
            self.what.push("limited connections".into());
        } else if dice.is(0.15) {
            let bytes = rate / 8.0 * 2.0 * self.wan.latency / dice.log(1.0, 16.0);
            self.wan.window = Some((bytes as u64).clamp(4096, 64 << 20));
            self.what.push("windows".into());
        }
        if dice.is(0.4) {
            let [all, alike] = [dice.is(0.7), dice.is(0.6)];
            let usual = dice.log(0.1, 20.0);
            for site in &mut self.sites {
                if !all && dice.is(0.5) {
                    continue;
                }
                let out = rate * if alike { usual } else { dice.log(0.05, 20.0) };
                let into = if dice.is(0.7) { out } else { out * dice.log(0.2, 5.0) };
                site.uplink = Some([out, into]);
            }
            self.what.push("uplinks".into());
        }
        let count = self.sites.len();
        if dice.is(0.4) {
            for ends in (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])) {
                if dice.is(0.5) {
                    let latency = (self.wan.latency * dice.log(0.1, 10.0)).clamp(1e-4, 0.1);
                    let own = dice.is(0.4).then(|| rate * dice.log(0.05, 10.0));
                    let connection = dice.is(0.2).then(|| rate / dice.log(1.0, 32.0));
                    self.set_between(Between {
                        ends,
                        latency: Some(latency),
                        rate: own,
                        connection,
                    });
                }
            }
            self.what.push("skewed latencies".into());
        }
        if count >= 3 && dice.is(0.3) {
            self.draw_shortcut(dice);
        }
    }

    /// Two sites with a slow way, and two fast ones over a third.
    fn draw_shortcut(&mut self, dice: &mut Dice) {
        let mut three: Vec<usize> = (0..self.sites.len()).collect();
        dice.shuffle(&mut three);
        let [a, b, c] = [three[0], three[1], three[2]];
        let slow = self.rate * dice.log(0.005, 0.1);
        let latency =
            |dice: &mut Dice, times: f64| Some((times * dice.log(2e-4, 1e-2)).clamp(1e-4, 0.1));
        let far = latency(dice, 6.0);
        let none = Between::default();
        self.set_between(Between { ends: [a, b], latency: far, rate: Some(slow), ..none.clone() });
        for ends in [[a, c], [c, b]] {
            let fast = Some(slow * dice.log(10.0, 200.0));
            let latency = latency(dice, 1.0);
            self.set_between(Between { ends, latency, rate: fast, ..none.clone() });
        }
        for site in [a, b, c] {
            self.sites[site].uplink = None;
        }
        self.what.push("a way over a third site".into());
    }

    fn set_between(&mut self, mut new: Between) {
        new.ends.sort_unstable();
        self.between.retain(|between| between.ends != new.ends);
        self.between.push(new);
    }

    /// Costs, settings, and what few platforms have.
    fn draw_rest(&mut self, dice: &mut Dice) {
        self.is_simgrids = dice.is(0.35);
        self.header = dice.one_of(&[0, 0, 0, 0, 40, 1500]);
        self.in_order = dice.is(0.85);
        self.by_latency = dice.is(0.2);
        self.connections = if dice.is(0.2) { dice.whole(2, 16) } else { 1 };
        self.eager = dice.one_of(&[0, 1, 1000, 4 << 10, 64 << 10, 64 << 10, 1 << 20, 1 << 30]);
        if self.is_simgrids {
            // What SimGrid is, and what it stops at: eager messages beside others.
            (self.header, self.in_order, self.by_latency, self.connections) = (16, false, true, 1);
            self.eager = dice.one_of(&[0, 1 << 30]);
            return;
        }
        if !self.in_order {
            self.connections = 1;
            self.what.push("messages of a pair beside each other".into());
        }
        if self.by_latency {
            self.what.push("shares by latency".into());
        }
        if self.connections > 1 {
            self.what.push("several connections".into());
        }
        if dice.is(0.2) {
            let usual = [dice.log(2e-7, 1e-5), dice.log(2e-7, 1e-5), dice.log(2e-11, 1e-9)];
            let differ = dice.is(0.6);
            for host in &mut self.hosts {
                let mut times = || if differ { dice.log(0.4, 2.5) } else { 1.0 };
                let [send, receive, per_byte] = usual.map(|usual| usual * times());
                host.cost = Some(Cost { send, receive, per_byte });
            }
            self.what.push("costs".into());
        }
        if dice.is(0.06) {
            let at = dice.index(self.sites.len());
            let hosts = self.sites[at].count as f64;
            self.sites[at].switch = Some(self.rate * dice.log(0.5, hosts.max(1.0)));
            self.what.push("a slow switch".into());
        }
        if dice.is(0.04) {
            let at = dice.index(self.sites.len());
            self.sites[at].connection = Some(self.rate / dice.log(1.0, 8.0));
            self.what.push("limited connections in a site".into());
        }
    }

    /// The hosts in the order of the file, which is that of ranks.
    fn order(&mut self, dice: &mut Dice) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.hosts.len()).collect();
        let placed = dice.one_of(&["by site", "round robin", "round robin", "at random"]);
        match placed {
            "round robin" => order.sort_by_key(|host| self.hosts[*host].number),
            "at random" => dice.shuffle(&mut order),
            _ => {}
        }
        self.what.push(format!("placed {placed}"));
        order
    }

    fn draw_calls(&self, dice: &mut Dice, seed: u64, is_large: bool, order: &[usize]) -> Vec<Call> {
        let calls = if is_large { CALLS_LARGE } else { CALLS };
        let call = |number: u64| {
            // Large platforms have every tenth seed.
            let all: &[Collective] = if is_large { &BOUNDED } else { &OPERATIONS };
            let op =
                all[(seed.wrapping_mul(CALLS).wrapping_add(number) % all.len() as u64) as usize];
            let size = size(dice, op, order.len() as u64);
            Call { op, size, root: self.root(dice, order) }
        };
        (0..calls).map(call).collect()
    }

    /// Any rank, or the first, or one of the smallest site.
    fn root(&self, dice: &mut Dice, order: &[usize]) -> u32 {
        let smallest = (0..self.sites.len()).min_by_key(|at| self.sites[*at].count);
        let there = |host: &usize| Some(self.hosts[*host].site) == smallest;
        let root = match dice.index(4) {
            0 => 0,
            1 => order.iter().position(there).unwrap_or(0),
            _ => dice.index(order.len()),
        };
        root as u32
    }
}

/// Bytes of a block or a vector: any number, a power of two, or a prime.
fn size(dice: &mut Dice, op: Collective, ranks: u64) -> u64 {
    let copies = match op {
        Collective::Alltoall => ranks * ranks,
        Collective::Allgather | Collective::ReduceScatter => ranks * ranks / 4,
        Collective::Scatter | Collective::Gather => ranks,
        _ => 1,
    };
    let most = (MOST_BYTES / copies.max(1)).clamp(1, MOST_SIZE);
    let size = dice.whole(1, most);
    let size = match dice.index(3) {
        0 => size,
        1 => size.next_power_of_two(),
        _ => prime_from(size),
    };
    size.min(most)
}

impl Made {
    // Writing into a string cannot fail.
    fn text(&self, order: &[usize]) -> String {
        let mut text = format!("eager = {}\n", self.eager);
        if self.header > 0 {
            let _ = writeln!(text, "header = {}", self.header);
        }
        if !self.in_order {
            text += "in-order = false\n";
        }
        if self.by_latency {
            text += "sharing = \"by-latency\"\n";
        }
        if self.connections > 1 {
            let _ = writeln!(text, "connections = {}", self.connections);
        }
        for (at, site) in self.sites.iter().enumerate() {
            let _ = write!(text, "\n[[site]]\nname = \"s{at}\"\n");
            text += &time("latency", Some(site.latency));
            if let Some([out, into]) = site.uplink {
                text += &pair(["uplink", "uplink-out", "uplink-in"], out, into);
            }
            text += &rate("rate", site.switch);
            text += &rate("connection", site.connection);
        }
        for host in order.iter().map(|host| &self.hosts[*host]) {
            let Host { site, number, card, wan, cost } = host;
            let _ = write!(text, "\n[[host]]\nname = \"s{site}n{number}\"\nsite = \"s{site}\"\n");
            text += &pair(["rate", "rate-out", "rate-in"], card.out, card.into);
            if let Some(wan) = wan {
                text += &pair(["wan-rate", "wan-rate-out", "wan-rate-in"], wan.out, wan.into);
            }
            if let Some(Cost { send, receive, per_byte }) = cost {
                text += &time("send", Some(*send));
                text += &time("receive", Some(*receive));
                let _ = writeln!(text, "per-byte = \"{:.5}ns\"", per_byte * 1e9);
            }
        }
        let Wan { latency, rate: each, aggregate, connection, window } = self.wan;
        text += "\n[wan]\n";
        text += &time("latency", Some(latency));
        text += &rate("rate", each);
        text += &rate("aggregate", aggregate);
        text += &rate("connection", connection);
        if let Some(window) = window {
            let _ = writeln!(text, "window = {window}");
        }
        for Between { ends: [a, b], latency, rate: own, connection } in &self.between {
            let _ = write!(text, "\n[[between]]\nsites = [\"s{a}\", \"s{b}\"]\n");
            text += &time("latency", *latency);
            text += &rate("rate", *own);
            text += &rate("connection", *connection);
        }
        text
    }
}

fn rate(key: &str, bits: Option<f64>) -> String {
    bits.map_or(String::new(), |bits| format!("{key} = \"{:.6}Mbit\"\n", bits / 1e6))
}

fn time(key: &str, seconds: Option<f64>) -> String {
    seconds.map_or(String::new(), |seconds| format!("{key} = \"{:.3}us\"\n", seconds * 1e6))
}

/// One key where both directions are alike.
fn pair([both, one, other]: [&str; 3], out: f64, into: f64) -> String {
    match out == into {
        true => rate(both, Some(out)),
        false => rate(one, Some(out)) + &rate(other, Some(into)),
    }
}
