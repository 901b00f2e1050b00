//! The least time of a scatter or gather, by a program of the benchmark's own: maximal flows over
//! cards, switches and ways, at times found by bisection.
//!
//! Nothing here is shared with the bound of `laneway-sites`: the wires come from the generator, a
//! gather is a flow towards the root, and what all sites share together is a cost.

use std::collections::VecDeque;

/// Bytes a second of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    pub out: f64,
    pub into: f64,
}

/// A host's wires.
#[derive(Clone, Debug, PartialEq)]
pub struct WiredHost {
    pub site: usize,
    pub card: Rates,
    /// A card for other sites.
    pub wan: Option<Rates>,
}

/// A site's wires.
#[derive(Clone, Debug, PartialEq)]
pub struct WiredSite {
    pub latency: f64,
    pub switch: Option<f64>,
    pub uplink: Option<Rates>,
}

/// From one site to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    pub from: usize,
    pub to: usize,
    pub latency: f64,
    pub rate: Option<f64>,
}

/// What carries bytes; bytes a second and seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wires {
    /// In the order of ranks.
    pub hosts: Vec<WiredHost>,
    pub sites: Vec<WiredSite>,
    pub ways: Vec<Way>,
    /// What all ways have together.
    pub aggregate: Option<f64>,
}

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Towards {
    /// A scatter.
    Ranks,
    /// A gather.
    Root,
}

/// Whether hosts of a third site may pass bytes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relays {
    AllSites,
    /// Only hosts of the two sites that the bytes come from and go to.
    TwoSites,
}

/// A bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    pub time: f64,
    /// The latency of a gather behind what all sites share is not known exactly: the true bound may
    /// be greater.
    pub is_exact: bool,
}

/// Bisections of a time: to a part of 1e-12.
const BISECTIONS: usize = 40;
/// So small a part of all bytes is carried.
const ROUNDING: f64 = 1e-11;

/// The least time in which `size` bytes for each rank but the root, or of each, get there.
pub fn least(wires: &Wires, towards: Towards, relays: Relays, root: usize, size: f64) -> Least {
    let ways = || wires.ways.iter().filter(|way| relays.allow(wires, towards, root, way));
    let distances = distances(wires, ways(), towards, root);
    let mut levels: Vec<f64> =
        (0..wires.hosts.len()).filter(|h| *h != root).map(|h| distances[h]).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let mut least = Least { time: 0.0, is_exact: true };
    for &level in &levels {
        let far: Vec<bool> = distances.iter().map(|distance| *distance >= level).collect();
        let mut pipes = Pipes::new(wires, ways(), towards, root, &far, size);
        // No sooner than from there.
        least.time = least.time.max(level);
        // A gather waits for no more than the farthest host.
        let most = match towards {
            Towards::Ranks => level,
            Towards::Root => levels.last().copied().unwrap_or(level),
        };
        let Some((time, cut)) = pipes.time(wires.aggregate, least.time - most) else { continue };
        let waiting = match (towards, wires.aggregate) {
            (Towards::Ranks, _) => level,
            (Towards::Root, None) => out_of(wires, ways(), &distances, &cut),
            (Towards::Root, Some(_)) => {
                least.is_exact = false;
                0.0
            }
        };
        least.time = least.time.max(time + waiting);
    }
    least
}

impl Relays {
    fn allow(self, wires: &Wires, towards: Towards, root: usize, way: &Way) -> bool {
        let home = wires.hosts[root].site;
        match (self, towards) {
            (Relays::AllSites, _) => true,
            (Relays::TwoSites, Towards::Ranks) => way.from == home,
            (Relays::TwoSites, Towards::Root) => way.to == home,
        }
    }
}

/// The latency of the shortest way between the root and each host.
fn distances<'a>(
    wires: &Wires,
    ways: impl Iterator<Item = &'a Way>,
    towards: Towards,
    root: usize,
) -> Vec<f64> {
    // As seen from the root.
    let ways: Vec<(usize, usize, f64)> = ways
        .map(|way| match towards {
            Towards::Ranks => (way.from, way.to, way.latency),
            Towards::Root => (way.to, way.from, way.latency),
        })
        .collect();
    let home = wires.hosts[root].site;
    let count = wires.sites.len();
    // To the nearest host that is not the root.
    let mut to_site = vec![f64::INFINITY; count];
    to_site[home] = wires.sites[home].latency;
    for _ in 0..=count {
        for &(near, far, latency) in &ways {
            let before = if near == home { 0.0 } else { to_site[near] };
            to_site[far] = to_site[far].min(before + latency);
        }
    }
    let of = |host: usize| if host == root { 0.0 } else { to_site[wires.hosts[host].site] };
    (0..wires.hosts.len()).map(of).collect()
}

/// The least latency of a message out of a set of hosts, and the least from there to the root.
fn out_of<'a>(
    wires: &Wires,
    ways: impl Iterator<Item = &'a Way>,
    distances: &[f64],
    set: &[bool],
) -> f64 {
    let count = wires.sites.len();
    let (mut inside, mut outside) = (vec![false; count], vec![f64::INFINITY; count]);
    for (host, about) in wires.hosts.iter().enumerate() {
        match set[host] {
            true => inside[about.site] = true,
            false => outside[about.site] = outside[about.site].min(distances[host]),
        }
    }
    let near = (0..count).map(|site| (site, site, wires.sites[site].latency));
    let all = near.chain(ways.map(|way| (way.from, way.to, way.latency)));
    let leaving = all.filter(|(from, to, _)| inside[*from] && outside[*to].is_finite());
    let (message, after) = leaving
        .fold((f64::INFINITY, f64::INFINITY), |least, (_, to, latency)| {
            (least.0.min(latency), least.1.min(outside[to]))
        });
    message + after
}

/// Cards, switches and ways as a network.
struct Pipes {
    flow: Flow,
    /// By arc; infinite where nothing limits it.
    rates: Vec<f64>,
    wanted: f64,
    hosts: usize,
}

impl Pipes {
    fn new<'a>(
        wires: &Wires,
        ways: impl Iterator<Item = &'a Way>,
        towards: Towards,
        root: usize,
        far: &[bool],
        size: f64,
    ) -> Pipes {
        let hosts = wires.hosts.len();
        // Of a site: inside before and behind the switch, the way out and in, beyond the uplink.
        let [before, behind, exit, entry, out, into] =
            [0, 1, 2, 3, 4, 5].map(|kind| move |site: usize| hosts + 6 * site + kind);
        let first_port = hosts + 6 * wires.sites.len();
        let [source, sink] = [first_port + 2 * hosts, first_port + 2 * hosts + 1];
        let flow = Flow::new(sink + 1, source, sink);
        let mut pipes = Pipes { flow, rates: Vec::new(), wanted: 0.0, hosts };
        let free = f64::INFINITY;
        for (host, WiredHost { site, card, wan }) in wires.hosts.iter().enumerate() {
            let (leaving, entering) = (first_port + 2 * host, first_port + 2 * host + 1);
            pipes.arc(host, leaving, card.out, 0);
            pipes.arc(entering, host, card.into, 0);
            pipes.arc(leaving, before(*site), free, 0);
            pipes.arc(behind(*site), entering, free, 0);
            match wan {
                None => {
                    pipes.arc(leaving, exit(*site), free, 0);
                    pipes.arc(entry(*site), entering, free, 0);
                }
                Some(wan) => {
                    pipes.arc(host, exit(*site), wan.out, 0);
                    pipes.arc(entry(*site), host, wan.into, 0);
                }
            }
        }
        for (at, site) in wires.sites.iter().enumerate() {
            let uplink = site.uplink.unwrap_or(Rates { out: free, into: free });
            pipes.arc(before(at), behind(at), site.switch.unwrap_or(free), 0);
            pipes.arc(exit(at), out(at), uplink.out, 0);
            pipes.arc(into(at), entry(at), uplink.into, 0);
        }
        for way in ways {
            pipes.arc(out(way.from), into(way.to), way.rate.unwrap_or(free), 1);
        }
        for (host, far) in far.iter().enumerate() {
            let bytes = if *far && host != root { size } else { 0.0 };
            pipes.wanted += bytes;
            let is_end = host == root || !far;
            let (from, to) = match (towards, is_end) {
                (Towards::Ranks, true) | (Towards::Root, false) => (source, host),
                (Towards::Ranks, false) | (Towards::Root, true) => (host, sink),
            };
            // Bytes, not bytes a second.
            pipes.rates.push(if is_end { free } else { -bytes });
            pipes.flow.arc(from, to, 0);
        }
        pipes
    }

    fn arc(&mut self, from: usize, to: usize, rate: f64, cost: u32) {
        self.rates.push(rate);
        self.flow.arc(from, to, cost);
    }

    /// Whether all bytes are carried in a time.
    fn carries(&mut self, time: f64, aggregate: Option<f64>) -> bool {
        let wanted = self.wanted;
        let capacity = |rate: &f64| match *rate {
            rate if rate == f64::INFINITY => 2.0 * wanted,
            rate if rate < 0.0 => -rate,
            rate => rate * time,
        };
        let capacities: Vec<f64> = self.rates.iter().map(capacity).collect();
        let most = aggregate.map_or(f64::INFINITY, |rate| rate * time);
        let carried = self.flow.fill(&capacities, ROUNDING * wanted, most);
        carried >= (1.0 - ROUNDING) * wanted
    }

    /// The least time that carries all, and the hosts that are cut off just before it; `None` if
    /// it is no more than `known`.
    fn time(&mut self, aggregate: Option<f64>, known: f64) -> Option<(f64, Vec<bool>)> {
        if self.wanted == 0.0 || self.carries(known.max(0.0), aggregate) {
            return None;
        }
        let mut low = known.max(0.0);
        let mut high = low.max(1e-9);
        while !self.carries(high, aggregate) {
            (low, high) = (high, 4.0 * high);
            if high > 1e12 {
                return None;
            }
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            match self.carries(middle, aggregate) {
                true => high = middle,
                false => low = middle,
            }
        }
        self.carries((1.0 - 1e-8) * high, aggregate);
        let ends = self.flow.reaching_sink(10.0 * ROUNDING * self.wanted);
        Some((high, (0..self.hosts).map(|host| !ends[host]).collect()))
    }
}

/// A maximal flow of the least cost: shortest ways first.
struct Flow {
    source: usize,
    sink: usize,
    /// By node: arcs from it; arc 2k + 1 is the way back of arc 2k.
    leaving: Vec<Vec<usize>>,
    to: Vec<usize>,
    cost: Vec<i64>,
    left: Vec<f64>,
}

impl Flow {
    fn new(nodes: usize, source: usize, sink: usize) -> Flow {
        let leaving = vec![Vec::new(); nodes];
        Flow { source, sink, leaving, to: Vec::new(), cost: Vec::new(), left: Vec::new() }
    }

    fn arc(&mut self, from: usize, to: usize, cost: u32) {
        for (from, to, cost) in [(from, to, i64::from(cost)), (to, from, -i64::from(cost))] {
            self.leaving[from].push(self.to.len());
            self.to.push(to);
            self.cost.push(cost);
        }
    }

    /// The flow with these capacities whose cost is at most so much; less than `least` counts as
    /// nothing.
    fn fill(&mut self, capacities: &[f64], least: f64, most_cost: f64) -> f64 {
        self.left = capacities.iter().flat_map(|capacity| [*capacity, 0.0]).collect();
        let (mut carried, mut cost) = (0.0, 0.0);
        loop {
            let costs = self.costs(least);
            let Some(each) = costs[self.sink] else { return carried };
            let room = if each > 0 { (most_cost - cost) / each as f64 } else { f64::INFINITY };
            if room <= least {
                return carried;
            }
            let more = self.fill_admissible(&costs, least, room);
            if more <= least {
                return carried;
            }
            carried += more;
            cost += more * each as f64;
        }
    }

    /// The least cost of a way from the source to each node.
    fn costs(&self, least: f64) -> Vec<Option<i64>> {
        let mut costs = vec![None; self.leaving.len()];
        costs[self.source] = Some(0);
        let mut waiting = VecDeque::from([self.source]);
        while let Some(node) = waiting.pop_front() {
            let Some(own) = costs[node] else { continue };
            for &arc in self.leaving[node].iter().filter(|arc| self.left[**arc] > least) {
                let (to, cost) = (self.to[arc], own + self.cost[arc]);
                if costs[to].is_none_or(|known| cost < known) {
                    costs[to] = Some(cost);
                    waiting.push_back(to);
                }
            }
        }
        costs
    }

    /// As much as ways of the least cost carry, by Dinic's layers.
    fn fill_admissible(&mut self, costs: &[Option<i64>], least: f64, room: f64) -> f64 {
        let mut carried = 0.0;
        loop {
            let layers = self.layers(costs, least);
            if layers[self.sink] == usize::MAX || room - carried <= least {
                return carried;
            }
            let mut tried = vec![0; self.leaving.len()];
            loop {
                let most = room - carried;
                let more = self.push(self.source, most, costs, &layers, &mut tried, least);
                if more <= least {
                    break;
                }
                carried += more;
            }
        }
    }

    fn is_admissible(&self, from: usize, arc: usize, costs: &[Option<i64>], least: f64) -> bool {
        let ends = (costs[from], costs[self.to[arc]]);
        self.left[arc] > least
            && matches!(ends, (Some(one), Some(other)) if one + self.cost[arc] == other)
    }

    fn layers(&self, costs: &[Option<i64>], least: f64) -> Vec<usize> {
        let mut layers = vec![usize::MAX; self.leaving.len()];
        layers[self.source] = 0;
        let mut waiting = VecDeque::from([self.source]);
        while let Some(node) = waiting.pop_front() {
            for &arc in &self.leaving[node] {
                let to = self.to[arc];
                if layers[to] == usize::MAX && self.is_admissible(node, arc, costs, least) {
                    layers[to] = layers[node] + 1;
                    waiting.push_back(to);
                }
            }
        }
        layers
    }

    fn push(
        &mut self,
        node: usize,
        most: f64,
        costs: &[Option<i64>],
        layers: &[usize],
        tried: &mut [usize],
        least: f64,
    ) -> f64 {
        if node == self.sink {
            return most;
        }
        while let Some(&arc) = self.leaving[node].get(tried[node]) {
            let to = self.to[arc];
            if layers[to] == layers[node] + 1 && self.is_admissible(node, arc, costs, least) {
                let most = most.min(self.left[arc]);
                let more = self.push(to, most, costs, layers, tried, least);
                if more > least {
                    self.left[arc] -= more;
                    self.left[arc ^ 1] += more;
                    return more;
                }
            }
            tried[node] += 1;
        }
        0.0
    }

    /// The nodes from which more could still reach the sink.
    fn reaching_sink(&self, least: f64) -> Vec<bool> {
        let mut reaching = vec![false; self.leaving.len()];
        reaching[self.sink] = true;
        let mut waiting = VecDeque::from([self.sink]);
        while let Some(node) = waiting.pop_front() {
            for &arc in &self.leaving[node] {
                // The arc into the node is the other one of its pair.
                let from = self.to[arc];
                if !reaching[from] && self.left[arc ^ 1] > least {
                    reaching[from] = true;
                    waiting.push_back(from);
                }
            }
        }
        reaching
    }
}
