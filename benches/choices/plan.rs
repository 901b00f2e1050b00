//! What a platform of sites is made of: its file, and its wires for the benchmark's own program.

use std::fmt::Write;

use crate::flow::{Rates, Way, WiredHost, WiredSite, Wires};

/// Bits a second of both directions of a card.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    pub out: f64,
    pub into: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub send: f64,
    pub receive: f64,
    pub per_byte: f64,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub site: usize,
    pub number: usize,
    pub card: Card,
    pub wan: Option<Card>,
    pub cost: Option<Cost>,
}

#[derive(Clone, Debug, Default)]
pub struct Site {
    pub count: usize,
    pub latency: f64,
    pub uplink: Option<[f64; 2]>,
    pub switch: Option<f64>,
    pub connection: Option<f64>,
}

/// What two sites have of their own.
#[derive(Clone, Debug, Default)]
pub struct Between {
    pub ends: [usize; 2],
    pub latency: Option<f64>,
    pub rate: Option<f64>,
    pub connection: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub struct Wan {
    pub latency: f64,
    pub rate: Option<f64>,
    pub aggregate: Option<f64>,
    pub connection: Option<f64>,
    pub window: Option<u64>,
}

/// A platform of sites.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub sites: Vec<Site>,
    /// Site by site.
    pub hosts: Vec<Host>,
    pub wan: Wan,
    pub between: Vec<Between>,
    pub eager: u64,
    pub header: u64,
    /// Messages of a pair of hosts beside each other.
    pub is_unordered: bool,
    pub by_latency: bool,
    /// Of a pair of hosts, where there are more than one.
    pub connections: u64,
}

impl Plan {
    /// Replaces what the two sites have.
    pub fn set_between(&mut self, mut new: Between) {
        new.ends.sort_unstable();
        self.between.retain(|between| between.ends != new.ends);
        self.between.push(new);
    }

    /// Whether the hosts of every site are three times nearer to each other than to all others, as
    /// measuring needs to find sites.
    pub fn can_sites_be_found(&self) -> bool {
        let count = self.sites.len();
        let ends =
            |at: usize| (0..count).filter(move |other| *other != at).map(move |other| [at, other]);
        let nearest =
            |at: usize| ends(at).map(|[a, b]| self.latency(a, b)).fold(f64::INFINITY, f64::min);
        self.sites
            .iter()
            .enumerate()
            .all(|(at, site)| site.count > 1 && site.latency <= nearest(at) / 3.0)
    }

    /// Makes no way longer than this many times the shortest one over a third site.
    pub fn shorten_detours(&mut self, times: f64) {
        let count = self.sites.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
        for [a, b] in (0..count).flat_map(|_| pairs.clone()) {
            let most = whole_ns(times * self.over_third(a, b));
            if self.latency(a, b) > most {
                let own = self.own(a, b).cloned();
                let own = own.unwrap_or(Between { ends: [a, b], ..Between::default() });
                self.set_between(Between { latency: Some(most), ..own });
            }
        }
    }

    /// The least latency between two sites by way of another one.
    fn over_third(&self, a: usize, b: usize) -> f64 {
        let third = (0..self.sites.len()).filter(|third| ![a, b].contains(third));
        let latency = third.map(|third| self.latency(a, third) + self.latency(third, b));
        latency.fold(f64::INFINITY, f64::min)
    }

    fn own(&self, a: usize, b: usize) -> Option<&Between> {
        let ends = [a.min(b), a.max(b)];
        self.between.iter().find(|between| between.ends == ends)
    }

    fn latency(&self, a: usize, b: usize) -> f64 {
        self.own(a, b).and_then(|own| own.latency).unwrap_or(self.wan.latency)
    }
}

impl Plan {
    // Writing into a string cannot fail.
    /// The file, with the hosts in this order.
    pub fn text(&self, order: &[usize]) -> String {
        let mut text = format!("eager = {}\n", self.eager);
        if self.header > 0 {
            let _ = writeln!(text, "header = {}", self.header);
        }
        if self.is_unordered {
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

impl Plan {
    /// What the independent program reads.
    pub fn wires(&self, order: &[usize]) -> Wires {
        let rates = |card: Card| Rates { out: card.out / 8.0, into: card.into / 8.0 };
        let host = |host: &usize| {
            let Host { site, card, wan, .. } = &self.hosts[*host];
            WiredHost { site: *site, card: rates(*card), wan: wan.map(rates) }
        };
        let site = |site: &Site| WiredSite {
            latency: site.latency,
            switch: site.switch.map(|rate| rate / 8.0),
            uplink: site.uplink.map(|[out, into]| rates(Card { out, into })),
        };
        let count = self.sites.len();
        let ends = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        let way = |(from, to): (usize, usize)| {
            let latency = self.latency(from, to);
            let rate = self.own(from, to).and_then(|own| own.rate).or(self.wan.rate);
            Way { from, to, latency, rate: rate.map(|rate| rate / 8.0) }
        };
        Wires {
            hosts: order.iter().map(host).collect(),
            sites: self.sites.iter().map(site).collect(),
            ways: ends.filter(|(from, to)| from != to).map(way).collect(),
            aggregate: self.wan.aggregate.map(|rate| rate / 8.0),
        }
    }
}

/// As the file says it.
pub fn whole_ns(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
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
