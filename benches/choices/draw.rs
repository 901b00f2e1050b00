//! Platforms as users have them, and calls on them, drawn by seed.
//!
//! Hosts are fat and thin, sites have 1 to 40 of them, and what else a platform may have (second
//! cards, uplinks, ways over a third site, costs, several connections) each has a chance of its
//! own. Every tenth seed has more than [`MOST_SMALL`] hosts.

use laneway_core::{Collective, Shape};

use crate::dice::{Dice, prime_from};
use crate::flow::Wires;
use crate::plan::{Between, Card, Cost, Host, Plan, Site, whole_ns};

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
    /// Measuring does not get the sites.
    pub are_sites_found: bool,
    /// Latencies show the sites: otherwise measuring may say that there are none.
    pub can_sites_be_found: bool,
    /// SimGrid can express it.
    pub is_simgrids: bool,
    /// Its eager limit.
    pub eager: u64,
    /// The same without settings and costs.
    pub wires: Wires,
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
        let are_sites_given = dice.is(0.5);
        let counts = made.plan.sites.iter().map(|site| site.count.to_string());
        let counts = counts.collect::<Vec<String>>().join(", ");
        let mut drawn = Drawn::of(&made.plan, &order, calls);
        drawn.what = format!("sites of {counts}; {}", made.what.join(", "));
        drawn.is_simgrids = made.is_simgrids;
        drawn.are_sites_found = !are_sites_given && made.plan.can_sites_be_found();
        drawn
    }

    /// A plan, with the hosts in this order.
    pub fn of(plan: &Plan, order: &[usize], calls: Vec<Call>) -> Drawn {
        Drawn {
            text: plan.text(order),
            what: String::new(),
            sites: order.iter().map(|host| format!("s{}", plan.hosts[*host].site)).collect(),
            are_sites_found: false,
            can_sites_be_found: plan.can_sites_be_found(),
            is_simgrids: false,
            eager: plan.eager,
            wires: plan.wires(order),
            calls,
        }
    }
}

/// A platform being drawn.
#[derive(Default)]
struct Made {
    /// Bits a second of a usual card.
    rate: f64,
    plan: Plan,
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
        made.plan.sites = counts.iter().map(site).collect();
        made.plan.sites.iter_mut().for_each(|site| site.latency = whole_ns(dice.log(1e-6, 2e-4)));
        made
    }

    /// Cards that are alike, or fat and thin ones, or each its own.
    fn draw_cards(&mut self, dice: &mut Dice) {
        let rate = self.rate;
        let kind =
            dice.one_of(&["alike", "alike", "by site", "a fat host", "a thin host", "mixed"]);
        let factor = dice.log(3.0, 20.0);
        let heads_everywhere = dice.is(0.3);
        let chosen = dice.index(self.plan.sites.len());
        let [in_site, at_end] = [dice.is(0.5), dice.is(0.5)];
        let apart = dice.is(0.25).then(|| dice.log(1.5, 10.0));
        for at in 0..self.plan.sites.len() {
            let of_site = dice.one_of(&[0.1, 0.3, 1.0, 1.0, 2.0]);
            let count = self.plan.sites[at].count;
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
                self.plan.hosts.push(Host { site: at, number, card, wan: None, cost: None });
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
        let (site, differ) = (dice.index(self.plan.sites.len()), dice.is(0.3));
        for host in &mut self.plan.hosts {
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
        self.plan.wan.latency = whole_ns(dice.log(2e-4, 3e-2));
        self.plan.wan.rate = dice.is(0.6).then_some(rate * share);
        self.plan.wan.aggregate = dice.is(0.12).then(|| rate * dice.log(0.3, 20.0));
        if dice.is(0.45) {
            self.plan.wan.connection = Some(rate / dice.log(1.0, 32.0));
            self.what.push("limited connections".into());
        } else if dice.is(0.15) {
            let bytes = rate / 8.0 * 2.0 * self.plan.wan.latency / dice.log(1.0, 16.0);
            self.plan.wan.window = Some((bytes as u64).clamp(4096, 64 << 20));
            self.what.push("windows".into());
        }
        if dice.is(0.4) {
            let [all, alike] = [dice.is(0.7), dice.is(0.6)];
            let usual = dice.log(0.1, 20.0);
            for site in &mut self.plan.sites {
                if !all && dice.is(0.5) {
                    continue;
                }
                let out = rate * if alike { usual } else { dice.log(0.05, 20.0) };
                let into = if dice.is(0.7) { out } else { out * dice.log(0.2, 5.0) };
                site.uplink = Some([out, into]);
            }
            self.what.push("uplinks".into());
        }
        let count = self.plan.sites.len();
        if dice.is(0.4) {
            self.draw_pairs(dice);
        }
        if count >= 3 && dice.is(0.3) {
            self.draw_shortcut(dice);
        }
    }

    /// Pairs of sites with latencies, rates and connections of their own.
    fn draw_pairs(&mut self, dice: &mut Dice) {
        let (rate, count) = (self.rate, self.plan.sites.len());
        let is_any = dice.is(0.3);
        for ends in (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])) {
            if dice.is(0.5) {
                let latency = self.plan.wan.latency * dice.log(0.1, 10.0);
                let latency = Some(whole_ns(latency.clamp(1e-4, 0.1)));
                let own = dice.is(0.4).then(|| rate * dice.log(0.05, 10.0));
                let connection = dice.is(0.2).then(|| rate / dice.log(1.0, 32.0));
                self.plan.set_between(Between { ends, latency, rate: own, connection });
            }
        }
        if !is_any {
            // A third site is seldom much nearer than the direct way.
            self.plan.shorten_detours(1.3);
        }
        self.what.push(if is_any { "any latencies" } else { "skewed latencies" }.into());
    }

    /// Two sites with a slow way, and two fast ones over a third.
    fn draw_shortcut(&mut self, dice: &mut Dice) {
        let mut three: Vec<usize> = (0..self.plan.sites.len()).collect();
        dice.shuffle(&mut three);
        let [a, b, c] = [three[0], three[1], three[2]];
        let slow = self.rate * dice.log(0.005, 0.1);
        let latency = |dice: &mut Dice, times: f64| {
            Some(whole_ns((times * dice.log(2e-4, 1e-2)).clamp(1e-4, 0.1)))
        };
        let far = latency(dice, 6.0);
        let none = Between::default();
        self.plan.set_between(Between {
            ends: [a, b],
            latency: far,
            rate: Some(slow),
            ..none.clone()
        });
        for ends in [[a, c], [c, b]] {
            let fast = Some(slow * dice.log(10.0, 200.0));
            let latency = latency(dice, 1.0);
            self.plan.set_between(Between { ends, latency, rate: fast, ..none.clone() });
        }
        for site in [a, b, c] {
            self.plan.sites[site].uplink = None;
        }
        self.what.push("a way over a third site".into());
    }

    /// Costs, settings, and what few platforms have.
    fn draw_rest(&mut self, dice: &mut Dice) {
        self.is_simgrids = dice.is(0.35);
        self.plan.header = dice.one_of(&[0, 0, 0, 0, 40, 1500]);
        self.plan.is_unordered = dice.is(0.15);
        self.plan.by_latency = dice.is(0.2);
        self.plan.connections = if dice.is(0.2) { dice.whole(2, 16) } else { 1 };
        self.plan.eager = dice.one_of(&[0, 1, 1000, 4 << 10, 64 << 10, 64 << 10, 1 << 20, 1 << 30]);
        if self.is_simgrids {
            // What SimGrid is, and what it stops at: eager messages beside others.
            self.plan.header = 16;
            (self.plan.is_unordered, self.plan.by_latency, self.plan.connections) = (true, true, 1);
            self.plan.eager = dice.one_of(&[0, 1 << 30]);
            return;
        }
        if self.plan.is_unordered {
            self.plan.connections = 1;
            self.what.push("messages of a pair beside each other".into());
        }
        if self.plan.by_latency {
            self.what.push("shares by latency".into());
        }
        if self.plan.connections > 1 {
            self.what.push("several connections".into());
        }
        if dice.is(0.2) {
            let usual = [dice.log(2e-7, 1e-5), dice.log(2e-7, 1e-5), dice.log(2e-11, 1e-9)];
            let differ = dice.is(0.6);
            for host in &mut self.plan.hosts {
                let mut times = || if differ { dice.log(0.4, 2.5) } else { 1.0 };
                let [send, receive, per_byte] = usual.map(|usual| usual * times());
                host.cost = Some(Cost { send, receive, per_byte });
            }
            self.what.push("costs".into());
        }
        if dice.is(0.06) {
            let at = dice.index(self.plan.sites.len());
            let hosts = self.plan.sites[at].count as f64;
            self.plan.sites[at].switch = Some(self.rate * dice.log(0.5, hosts.max(1.0)));
            self.what.push("a slow switch".into());
        }
        if dice.is(0.04) {
            let at = dice.index(self.plan.sites.len());
            self.plan.sites[at].connection = Some(self.rate / dice.log(1.0, 8.0));
            self.what.push("limited connections in a site".into());
        }
    }

    /// The hosts in the order of the file, which is that of ranks.
    fn order(&mut self, dice: &mut Dice) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.plan.hosts.len()).collect();
        let placed = dice.one_of(&["by site", "round robin", "round robin", "at random"]);
        match placed {
            "round robin" => order.sort_by_key(|host| self.plan.hosts[*host].number),
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
        let smallest = (0..self.plan.sites.len()).min_by_key(|at| self.plan.sites[*at].count);
        let there = |host: &usize| Some(self.plan.hosts[*host].site) == smallest;
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
