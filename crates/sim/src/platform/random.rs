//! `random:SEED`: a cluster drawn from a seed, to hold claims against more than chosen examples.
//!
//! Every aspect (hosts, costs, ways, traffic of others) has a sequence of its own, so that what is
//! asked for in one of them leaves the others as they were: `random:7,clocks=right` is `random:7`
//! with other clocks.

use laneway_stats::SplitMix64;

use super::background::BackgroundGroup;
use super::description::{
    Card, Clock, Description, HostGroup, HostNames, Limit, Link, RouteGroup, Site,
};
use super::draw::Spread;
use super::error::{Place, PlatformError};
use super::fields::Fields;
use super::settings::Settings;
use crate::network::{HostCost, Traffic};

const LEAST_HOSTS: u32 = 4;
const MOST_HOSTS: u32 = 32;
const MOST_SITES: usize = 3;

/// Network cards, in bytes a second: those of a platform, and how much slower some hosts' are.
const CARDS: [f64; 5] = [12.5e6, 125e6, 1.25e9, 3.125e9, 12.5e9];
const SLOWER: [f64; 5] = [1.0, 1.0, 0.8, 0.5, 0.2];
/// The eager limits that occur, in bytes.
const EAGER_BYTES: [u64; 6] = [0, 512, 4 << 10, 12 << 10, 64 << 10, 128 << 10];
const HEADER_BYTES: [u64; 3] = [0, 16, 64];

/// Seconds between two hosts of a site, and of two sites; the two of a pair may be farther apart.
const NEAR: [f64; 2] = [1e-6, 100e-6];
const FAR: [f64; 2] = [200e-6, 20e-3];
const FARTHER: f64 = 1.0;
/// How much longer one direction may be than the other.
const LOPSIDED: [f64; 3] = [1.1, 1.5, 3.0];
/// Seconds that a host adds to a message, and by how much a host may be slower.
const COSTS: [f64; 2] = [100e-9, 10e-6];
const SLOWER_HOST: f64 = 3.0;
const COSTS_PER_BYTE: [f64; 2] = [10e-12, 2e-9];

/// Clocks that are wrong: seconds, and seconds a second.
const OFFSET: f64 = 0.5;
const DRIFT: f64 = 50e-6;

/// Traffic of others: its part of the narrowest place on its way, and seconds from one of several
/// messages to the next.
const STEADY_PART: [f64; 2] = [0.1, 0.6];
const BURSTY_PART: [f64; 2] = [0.02, 0.3];
const BURST_EVERY: [f64; 2] = [5e-3, 100e-3];
const MOST_SOURCES: usize = 4;

/// What others send.
#[derive(Clone, Copy, PartialEq)]
enum Others {
    Nothing,
    Steadily,
    InBursts,
}

fn parse_others(text: &str) -> Result<Others, String> {
    match text {
        "none" => Ok(Others::Nothing),
        "steady" => Ok(Others::Steadily),
        "bursty" => Ok(Others::InBursts),
        _ => Err(format!("`{text}`: none, steady or bursty")),
    }
}

fn parse_hosts(text: &str) -> Result<u32, String> {
    let hosts = text.parse().ok().filter(|hosts| (LEAST_HOSTS..=MOST_HOSTS).contains(hosts));
    hosts.ok_or_else(|| format!("`{text}` is not a number from {LEAST_HOSTS} to {MOST_HOSTS}"))
}

/// Draws a platform; the seed is among the fields.
pub(super) fn random(_: &[u32], fields: &mut Fields) -> Result<Description, PlatformError> {
    let seed = fields.seed()?.ok_or_else(|| fields.missing("seed"))?;
    let mut draws = Draws::new(seed, "kind");
    let symmetric = draws.chance(0.6);
    let others =
        draws.one_of(&[Others::Nothing, Others::Nothing, Others::Steadily, Others::InBursts]);
    let clocks_are_right = draws.chance(1.0 / 3.0);
    let hosts = draws.between([f64::from(LEAST_HOSTS), f64::from(MOST_HOSTS)]).round() as u32;
    let eager = draws.one_of(&EAGER_BYTES);
    let header = draws.one_of(&HEADER_BYTES);

    let ways = fields.choice("ways", [("symmetric", true), ("asymmetric", false)])?;
    let clocks = fields.choice("clocks", [("right", true), ("wrong", false)])?;
    let mut cluster = Cluster {
        place: fields.place.clone(),
        symmetric: ways.unwrap_or(symmetric),
        clocks_are_right: clocks.unwrap_or(clocks_are_right),
        hosts: Vec::new(),
        sites: Vec::new(),
    };
    let hosts = fields.read("hosts", parse_hosts)?.unwrap_or(hosts);
    let others = fields.read("background", parse_others)?.unwrap_or(others);
    cluster.draw_sites(&mut Draws::new(seed, "sites"));
    cluster.draw_hosts(hosts, &mut Draws::new(seed, "hosts"));
    cluster.draw_costs(&mut Draws::new(seed, "costs"));
    let routes = cluster.routes(&mut Draws::new(seed, "ways"));
    let background = cluster.background(others, &mut Draws::new(seed, "others"));
    Ok(Description {
        settings: Settings::drawn(seed, eager, header),
        hosts: cluster.host_groups(),
        sites: cluster.site_groups(),
        links: cluster.uplinks(),
        routes,
        background,
        ..Description::default()
    })
}

/// Numbers of one aspect of a platform.
struct Draws(SplitMix64);

impl Draws {
    fn new(seed: u64, aspect: &str) -> Draws {
        // Which aspect it is shifts the sequence to a place that no other one is near.
        let shift = aspect.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(257) + u64::from(byte));
        let start = SplitMix64::new(seed).next_u64() ^ SplitMix64::new(shift).next_u64();
        Draws(SplitMix64::new(start))
    }

    fn chance(&mut self, chance: f64) -> bool {
        self.0.uniform() < chance
    }

    /// Evenly on the scale of logarithms.
    fn between(&mut self, [low, high]: [f64; 2]) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.index(all.len())]
    }
}

struct DrawnHost {
    name: String,
    site: usize,
    out: f64,
    into: f64,
    cost: HostCost,
}

struct DrawnSite {
    latency: f64,
    uplink_out: f64,
    uplink_in: f64,
}

/// A platform in the making.
struct Cluster {
    place: Place,
    symmetric: bool,
    clocks_are_right: bool,
    hosts: Vec<DrawnHost>,
    sites: Vec<DrawnSite>,
}

impl Cluster {
    fn draw_sites(&mut self, draws: &mut Draws) {
        for _ in 0..1 + draws.0.index(MOST_SITES) {
            let uplink = draws.one_of(&CARDS);
            let back = draws.one_of(&CARDS);
            self.sites.push(DrawnSite {
                latency: draws.between(NEAR),
                uplink_out: uplink,
                uplink_in: if self.symmetric { uplink } else { back },
            });
        }
    }

    fn draw_hosts(&mut self, hosts: u32, draws: &mut Draws) {
        let card = draws.one_of(&CARDS);
        for number in 0..hosts as usize {
            // Each site has one at least; which host is where need not follow their numbers.
            let drawn = draws.0.index(self.sites.len());
            let site = if number < self.sites.len() { number } else { drawn };
            let out = card * draws.one_of(&SLOWER);
            let other = card * draws.one_of(&SLOWER);
            let into = if self.symmetric { out } else { other };
            let (name, cost) = (format!("n{number}"), HostCost::default());
            self.hosts.push(DrawnHost { name, site, out, into, cost });
        }
    }

    /// Where ways are symmetric, a send costs every host as much more than a receive: there and
    /// back a message then takes the same time, however slow the two hosts are.
    fn draw_costs(&mut self, draws: &mut Draws) {
        let free = draws.chance(0.25);
        let (usual, more) = (draws.between(COSTS), draws.0.uniform());
        let per_byte = draws.between(COSTS_PER_BYTE) * f64::from(u8::from(draws.chance(0.5)));
        for host in &mut self.hosts {
            let slower = 1.0 + SLOWER_HOST * draws.0.uniform();
            let other = 1.0 + SLOWER_HOST * draws.0.uniform();
            let per_recv = usual * slower;
            let per_send = if self.symmetric { per_recv + more * usual } else { usual * other };
            let [per_byte_sent, per_byte_received] = [per_byte * slower; 2];
            let cost = HostCost { per_send, per_recv, per_byte_sent, per_byte_received };
            host.cost = if free { HostCost::default() } else { cost };
        }
    }

    /// A way for each two hosts and each direction.
    fn routes(&self, draws: &mut Draws) -> Vec<RouteGroup> {
        let sites = self.sites.len();
        let far: Vec<f64> = (0..sites * sites).map(|_| draws.between(FAR)).collect();
        let lopsided = draws.one_of(&LOPSIDED);
        let limit = self.hosts.iter().map(|host| host.out).fold(f64::INFINITY, f64::min);
        let limit = draws.chance(0.5).then_some(limit * draws.between([0.1, 1.0]));
        let mut routes = Vec::new();
        for (b, to) in self.hosts.iter().enumerate() {
            for from in &self.hosts[..b] {
                let (low, high) = (from.site.min(to.site), from.site.max(to.site));
                let is_far = low != high;
                let usual = if is_far { far[low * sites + high] } else { self.sites[low].latency };
                let latency = usual * (1.0 + FARTHER * draws.0.uniform());
                let back = latency * draws.between([1.0 / lopsided, lopsided]);
                let limit = Limit { rate: limit.filter(|_| is_far), window: None };
                routes.push(self.route(from, to, latency, limit));
                let back = if self.symmetric { latency } else { back };
                routes.push(self.route(to, from, back, limit));
            }
        }
        routes
    }

    fn route(&self, from: &DrawnHost, to: &DrawnHost, latency: f64, limit: Limit) -> RouteGroup {
        let links = match from.site == to.site {
            true => Vec::new(),
            false => {
                vec![self.at(uplink_name(from.site, "out")), self.at(uplink_name(to.site, "in"))]
            }
        };
        let (from, to) = (self.at(from.name.clone()), self.at(to.name.clone()));
        RouteGroup { place: self.place.clone(), from, to, links, latency, both_ways: false, limit }
    }

    /// A name, which stands where the seed does.
    fn at(&self, name: String) -> HostNames {
        (name, self.place.clone())
    }

    fn uplinks(&self) -> Vec<Link> {
        let link = |name: String, rate: f64| Link {
            place: self.place.clone(),
            name,
            rate,
            latency: 0.0,
            shared: true,
            duplex: false,
            congestion: None,
        };
        let sites = self.sites.iter().enumerate();
        sites
            .flat_map(|(number, site)| {
                let out = link(uplink_name(number, "out"), site.uplink_out);
                [out, link(uplink_name(number, "in"), site.uplink_in)]
            })
            .collect()
    }

    fn background(&self, others: Others, draws: &mut Draws) -> Vec<BackgroundGroup> {
        if others == Others::Nothing {
            return Vec::new();
        }
        let sources = 1 + draws.0.index(MOST_SOURCES.min(self.hosts.len() / 2));
        (0..sources).map(|_| self.source(others, draws)).collect()
    }

    fn source(&self, others: Others, draws: &mut Draws) -> BackgroundGroup {
        let from = draws.0.index(self.hosts.len());
        let other = draws.0.index(self.hosts.len() - 1);
        let to = if other < from { other } else { other + 1 };
        let (from, to) = (&self.hosts[from], &self.hosts[to]);
        let mut narrowest = from.out.min(to.into);
        if from.site != to.site {
            let (up, down) = (&self.sites[from.site], &self.sites[to.site]);
            narrowest = narrowest.min(up.uplink_out).min(down.uplink_in);
        }
        let traffic = match others {
            Others::InBursts => {
                let every = draws.between(BURST_EVERY);
                let bytes = (narrowest * every * draws.between(BURSTY_PART)).max(1.0) as u64;
                // Its own seed is given where the platform is built.
                let seed = draws.chance(0.7).then_some(0);
                Traffic::Messages { bytes, every, seed }
            }
            _ => Traffic::Steady { rate: narrowest * draws.between(STEADY_PART) },
        };
        let (from, to) = (self.at(from.name.clone()), self.at(to.name.clone()));
        BackgroundGroup::always(&self.place, from, to, traffic)
    }

    fn host_groups(&self) -> Vec<HostGroup> {
        let spread = |most: f64| match self.clocks_are_right {
            true => Spread::Same(0.0),
            false => Spread::Within(most),
        };
        let group = |host: &DrawnHost| HostGroup {
            place: self.place.clone(),
            names: self.at(host.name.clone()),
            site: Some(self.at(site_name(host.site))),
            card: Some(Card::Full { out: host.out, into: host.into }),
            wan_card: None,
            cost: host.cost,
            clock: Clock { offset: spread(OFFSET), drift: spread(DRIFT) },
        };
        self.hosts.iter().map(group).collect()
    }

    /// Every two hosts have a route of their own; what a site says is for those who ask for sites.
    fn site_groups(&self) -> Vec<Site> {
        let sites = self.sites.iter().enumerate();
        sites
            .map(|(number, site)| Site {
                place: self.place.clone(),
                name: site_name(number),
                latency: site.latency,
                rate: None,
                limit: Limit::default(),
                uplink_out: None,
                uplink_in: None,
                congestion: None,
            })
            .collect()
    }
}

fn site_name(number: usize) -> String {
    format!("site{number}")
}

fn uplink_name(site: usize, direction: &str) -> String {
    format!("site{site}-{direction}")
}
