//! Simulated clusters as people describe them: a TOML file, or a generator with its values.
//!
//! A [`Platform`] is named in one way everywhere, by [`Platform::read`]. What is said is gathered
//! first (`description.rs`, from `file.rs` or `generate.rs`), then checked and laid out as
//! resources and ways (`build.rs`); `simgrid.rs` writes the same platform for SimGrid.

mod background;
mod build;
mod description;
mod draw;
mod error;
mod event;
mod fields;
mod file;
mod generate;
mod layout;
mod names;
mod placement;
mod quantity;
mod random;
mod settings;
mod simgrid;

use std::collections::BTreeMap;
use std::path::Path;

pub use error::{Fault, Place, PlatformError, similar_file};
pub use generate::{GENERATORS, Generator};
pub use layout::{CardRates, Layout, LayoutHost, LayoutPipe, LayoutSite, LayoutWay};
pub use quantity::{parse_rate, parse_time};
pub use simgrid::SimgridExport;

use crate::congestion::Congestion;
use crate::network::{
    Background, Change, Fairness, HostClock, HostCost, HostId, Network, Overflow, Resource,
    ResourceId, Route,
};
use description::Limit;
use settings::Settled;

/// More hosts than this are refused.
pub const MOST_HOSTS: u32 = 100_000;
/// More sites than this are refused: each pair of them may have a link.
pub const MOST_SITES: u32 = 256;
/// More explicit pairs of hosts than this are refused.
pub const MOST_ROUTES: usize = 1_000_000;
/// More changes of rates over time than this are refused.
pub const MOST_CHANGES: usize = 1_000_000;
/// More pairs of hosts with background traffic than this are refused.
pub const MOST_SOURCES: usize = 100_000;

/// Sums of the same numbers in another order differ by so small a part.
const ROUNDING: f64 = 1e-12;

/// A checked platform: every host has a way to every other, and every way a limit.
#[derive(Clone, Debug)]
pub struct Platform {
    name: String,
    settled: Settled,
    host_names: Vec<String>,
    hosts: Vec<Host>,
    site_names: Vec<String>,
    /// Inside each site.
    inside: Vec<Way>,
    /// From site to site, row by row; `None` if only explicit routes lead.
    between: Vec<Option<Way>>,
    /// Explicit pairs, as indices of `ways`.
    routes: BTreeMap<(HostId, HostId), usize>,
    ways: Vec<Way>,
    resources: Vec<Resource>,
    /// The earliest first.
    changes: Vec<Change>,
    background: Vec<Background>,
}

#[derive(Clone, Debug)]
struct Host {
    site: Option<u32>,
    lan: Ports,
    wan: Ports,
    cost: HostCost,
    clock: HostClock,
}

/// The two directions of a network card; the same twice where it is half duplex.
#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    out: Option<ResourceId>,
    into: Option<ResourceId>,
}

/// What lies between the cards of two hosts.
#[derive(Clone, Debug)]
struct Way {
    links: Vec<ResourceId>,
    latency: f64,
    most: f64,
    /// What `most` was made of.
    limit: Limit,
}

impl Platform {
    /// Reads a platform by its name: a file (`racks.toml` or `file:racks.toml`), or a generator
    /// (`two-sites:8x8`).
    pub fn read(spec: &str) -> Result<Platform, PlatformError> {
        if let Some(file) = spec.strip_prefix("file:") {
            return build::build(file, file::read(file)?);
        }
        let said = match generate::find(spec) {
            Some((generator, words)) => generate::describe(generator, words, &Place::new(spec, 0))?,
            _ if spec.ends_with(".toml") || Path::new(spec).exists() => file::read(spec)?,
            _ => return Err(generate::unknown(spec)),
        };
        build::build(spec, said)
    }

    /// Parses the text of a file; `name` stands in its errors.
    pub fn parse(name: &str, text: &str) -> Result<Platform, PlatformError> {
        build::build(name, file::parse(name, text)?)
    }

    /// The name that it was read by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of hosts.
    pub fn hosts(&self) -> u32 {
        // At most MOST_HOSTS.
        self.hosts.len() as u32
    }

    /// The name of a host; empty if there is no such host.
    pub fn host_name(&self, host: HostId) -> String {
        self.host_names.get(host as usize).cloned().unwrap_or_default()
    }

    /// The names of the hosts; a [`HostId`] is an index of them.
    pub fn host_names(&self) -> &[String] {
        &self.host_names
    }

    /// The names of the sites; empty where the hosts are in none.
    pub fn site_names(&self) -> &[String] {
        &self.site_names
    }

    /// The site of a host, as an index of the site names; `None` if it is in no site.
    pub fn site_of(&self, host: HostId) -> Option<u32> {
        self.hosts.get(host as usize)?.site
    }

    /// The same where every message waits for its receive.
    pub fn without_eager(&self) -> Platform {
        let settled = Settled { eager_bytes: 0, ..self.settled.clone() };
        Platform { settled, ..self.clone() }
    }

    /// What a measured platform says that it was not looked for; what is chosen on it may depend on
    /// that.
    pub fn not_looked_for(&self) -> &[String] {
        &self.settled.not_looked_for
    }

    /// The same with a likely value of something that was not looked for: four connections of a
    /// pair, shares by latency, a byte that costs both processors a fifth of its time on the middle
    /// card, or uplinks that lose a third of their rate from 8 to 32 connections. None where the
    /// platform has such a thing already, or is no word for it.
    pub fn supposing(&self, word: &str) -> Option<Platform> {
        let mut other = self.clone();
        match word {
            "connections" if self.settled.connections == 1 && self.settled.in_order => {
                other.settled.connections = 4;
            }
            "sharing" if self.settled.fairness == Fairness::Equal => {
                other.settled.fairness = Fairness::ByLatency;
            }
            "costs" => {
                let cards = self.hosts.iter().filter_map(|host| host.lan.out);
                let mut rates: Vec<f64> =
                    cards.map(|card| self.resources[card as usize].rate).collect();
                rates.sort_by(f64::total_cmp);
                let cost = 0.2 / rates.get(rates.len() / 2)?;
                for host in &mut other.hosts {
                    host.cost.per_byte_sent += cost;
                    host.cost.per_byte_received += cost;
                }
            }
            "congestion" => {
                let curve = Congestion::new(vec![(8, 1.0), (32, 0.7)]).ok()?;
                let uplinks = other.resources.iter_mut();
                for uplink in uplinks.filter(|resource| resource.name.contains(":uplink-")) {
                    uplink.congestion = curve.clone();
                }
            }
            _ => return None,
        }
        Some(other)
    }

    /// Whether a message between any two hosts takes as long there as back: the latency, the
    /// narrowest place on the way, and what the two hosts add. Looks at every pair.
    pub fn is_symmetric(&self) -> bool {
        let alike = |a: f64, b: f64| a == b || (a - b).abs() <= ROUNDING * a.abs().max(b.abs());
        let one_way = |from: HostId, to: HostId| {
            let mut route = Route::default();
            self.route(from, to, &mut route);
            let rates = route.resources.iter().map(|id| self.resources[*id as usize].rate);
            let narrowest = rates.fold(route.most, f64::min);
            [route.latency, narrowest, self.cost(from).per_send + self.cost(to).per_recv]
        };
        let hosts = self.hosts();
        (1..hosts).all(|b| {
            (0..b).all(|a| {
                let ways = one_way(a, b).into_iter().zip(one_way(b, a));
                ways.into_iter().all(|(there, back)| alike(there, back))
            })
        })
    }

    /// What lies between two hosts, and whether the cards for other sites carry it.
    fn way(&self, from: HostId, to: HostId) -> Option<(&Way, bool)> {
        if !self.routes.is_empty()
            && let Some(index) = self.routes.get(&(from, to))
        {
            return Some((&self.ways[*index], false));
        }
        let (a, b) = (self.site_of(from)? as usize, self.site_of(to)? as usize);
        match a == b {
            true => Some((&self.inside[a], false)),
            false => self.between[a * self.site_names.len() + b].as_ref().map(|way| (way, true)),
        }
    }
}

impl Network for Platform {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn host_name(&self, host: HostId) -> String {
        Platform::host_name(self, host)
    }

    fn hosts(&self) -> u32 {
        Platform::hosts(self)
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.resources.clear();
        // `build` proved that there is a way between any two hosts; no other host is asked for.
        let Some((way, far)) = self.way(from, to) else { return };
        let ports = |host: HostId| {
            let host = &self.hosts[host as usize];
            if far { host.wan } else { host.lan }
        };
        route.resources.extend(ports(from).out);
        route.resources.extend_from_slice(&way.links);
        route.resources.extend(ports(to).into);
        route.latency = way.latency;
        route.most = way.most;
    }

    fn cost(&self, host: HostId) -> HostCost {
        self.hosts.get(host as usize).map_or(HostCost::default(), |host| host.cost)
    }

    fn eager_bytes(&self) -> u64 {
        self.settled.eager_bytes
    }

    fn header_bytes(&self) -> u64 {
        self.settled.header_bytes
    }

    fn in_order(&self) -> bool {
        self.settled.in_order
    }

    fn connections(&self) -> u32 {
        self.settled.connections
    }

    fn fairness(&self) -> Fairness {
        self.settled.fairness
    }

    fn overflow(&self) -> Option<Overflow> {
        self.settled.overflow
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn background(&self) -> &[Background] {
        &self.background
    }

    fn clock(&self, host: HostId) -> HostClock {
        self.hosts.get(host as usize).map_or(HostClock::default(), |host| host.clock)
    }
}
