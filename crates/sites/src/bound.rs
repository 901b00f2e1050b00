//! What no scatter and no gather can beat on a platform, whatever the algorithm, and what limits
//! it.
//!
//! A scatter has one source and distinct sinks, so that its bytes are one flow: for every set of
//! hosts without the root, the bytes for them must pass the cards and pipes that lead into it, and
//! none passes before the latency of the shortest way there. The bound is the largest such time
//! over all sets, found by maximal flows; every host may relay. What one connection can have does
//! not count, as two hosts may have several connections. Ranks on one host share its cards, and
//! what stays on a host takes no time.
//!
//! A gather is the same with all directions reversed, but for the latency. In a simulation a
//! message waits for its latency before its bytes move, so that a host can fill its card with
//! what it sends to a near relay while it waits for a far one. A set's bytes leave it after the
//! least latency of any message out of it, and the least from there to the root still follows;
//! this may be less than the latency of the shortest way from the set to the root.

use std::fmt;

use laneway_sim::HostId;
use laneway_sim::platform::{CardRates, Layout, LayoutWay};

use crate::network::{Cut, Direction, LeastTime, Network, Place};

/// The least time of a collective.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// Seconds: the sum of the next two.
    pub time: f64,
    /// Seconds that the bytes take where they are limited.
    pub transfer: f64,
    /// Seconds before the first of these bytes, or after the last.
    pub latency: f64,
    /// What limits it: `the root's card`, `the link site0-site1`.
    pub limit: String,
    /// Seconds where no host of a third site passes bytes on; as `time` where that gains nothing,
    /// and infinite where only third sites connect the root with a rank.
    pub direct: f64,
    /// What limits that.
    pub direct_limit: String,
}

impl Bound {
    /// Whether relays at third sites lower the bound by more than rounding.
    pub fn third_sites_help(&self) -> bool {
        self.direct > self.time * (1.0 + 1e-9)
    }
}

/// Why there is no bound; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoundError {
    /// Ranks have a block and a host each.
    Ranks { blocks: usize, hosts: usize },
    /// A root that is not a rank.
    Root { root: u32, ranks: usize },
    /// A rank on a host that the platform does not have.
    Host { rank: usize, host: HostId, hosts: usize },
    /// A card or pipe with a rate that is not above 0, or a latency that is below 0.
    Number { what: String, value: f64 },
    /// A host, site or pipe that is spoken of and missing.
    Layout(String),
    /// A host without a way to it.
    Unreachable { host: String },
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundError::Ranks { blocks, hosts } => {
                write!(f, "{blocks} blocks and {hosts} hosts: each rank has one of both")
            }
            BoundError::Root { root, ranks } => {
                write!(f, "the root is {root}, and there are {ranks} ranks")
            }
            BoundError::Host { rank, host, hosts } => {
                write!(f, "rank {rank} is on host {host}, and there are {hosts} hosts")
            }
            BoundError::Number { what, value } => write!(f, "{what} cannot be {value}"),
            BoundError::Layout(what) => f.write_str(what),
            BoundError::Unreachable { host } => {
                write!(f, "no link connects the root and {host}")
            }
        }
    }
}

impl std::error::Error for BoundError {}

/// The least time in which the root's blocks reach their ranks; rank r is on host `hosts[r]`.
pub fn scatter(
    layout: &Layout,
    hosts: &[HostId],
    root: u32,
    blocks: &[u64],
) -> Result<Bound, BoundError> {
    bound(layout, hosts, root, blocks, Direction::FromRoot)
}

/// The least time in which the ranks' blocks reach the root.
pub fn gather(
    layout: &Layout,
    hosts: &[HostId],
    root: u32,
    blocks: &[u64],
) -> Result<Bound, BoundError> {
    bound(layout, hosts, root, blocks, Direction::ToRoot)
}

fn bound(
    layout: &Layout,
    hosts: &[HostId],
    root: u32,
    blocks: &[u64],
    direction: Direction,
) -> Result<Bound, BoundError> {
    check(layout)?;
    let (root, bytes) = wanted(layout, hosts, root, blocks)?;
    let found = least(layout, root, &bytes, direction)?;
    let mut bound = Bound {
        time: found.time,
        transfer: found.transfer,
        latency: found.latency,
        direct: found.time,
        direct_limit: found.limit.clone(),
        limit: found.limit,
    };
    if layout.sites.len() > 2 {
        match least(&without_third_sites(layout, root, direction), root, &bytes, direction) {
            Ok(direct) if direct.time > bound.time => {
                (bound.direct, bound.direct_limit) = (direct.time, direct.limit);
            }
            Ok(_) => {}
            Err(error) => {
                (bound.direct, bound.direct_limit) = (f64::INFINITY, error.to_string());
            }
        }
    }
    Ok(bound)
}

/// The layout with the ways alone that begin at the root's site, or end there.
fn without_third_sites(layout: &Layout, root: usize, direction: Direction) -> Layout {
    let home = layout.hosts[root].site;
    let is_direct = |way: &&LayoutWay| match direction {
        Direction::FromRoot => way.from == home,
        Direction::ToRoot => way.to == home,
    };
    let ways = layout.ways.iter().filter(is_direct).cloned().collect();
    Layout { ways, ..layout.clone() }
}

/// The largest time of all sets of hosts.
struct Found {
    time: f64,
    transfer: f64,
    latency: f64,
    limit: String,
}

fn least(
    layout: &Layout,
    root: usize,
    bytes: &[f64],
    direction: Direction,
) -> Result<Found, BoundError> {
    let distances = Distances::new(layout, root, direction);
    let mut network = Network::new(layout, root, direction);
    let limit_of_none = "nothing: no byte leaves a host".to_string();
    let mut best = Found { time: 0.0, transfer: 0.0, latency: 0.0, limit: limit_of_none };
    for latency in distances.levels(bytes) {
        // Only sets of hosts that are at least so far away: all nearer ones are as the root.
        let near: Vec<bool> =
            (0..bytes.len()).map(|host| distances.to_host(host) < latency).collect();
        let mut found = network.least_time(bytes, &near).map_err(|unreachable| {
            let lost = unreachable.behind.iter().zip(bytes);
            let lost = lost.zip(&layout.hosts).find(|((is, bytes), _)| **is && **bytes > 0.0);
            let host = lost.map(|(_, host)| host.name.clone()).unwrap_or_default();
            BoundError::Unreachable { host }
        })?;
        let mut waiting = match direction {
            Direction::FromRoot => latency,
            Direction::ToRoot if found.cuts.is_empty() => latency,
            Direction::ToRoot => distances.out_of(&found.cuts),
        };
        // Some bytes come from so far, whatever they hide behind.
        if found.time + waiting < latency {
            (found, waiting) = (LeastTime::default(), latency);
        }
        let time = found.time + waiting;
        if time > best.time {
            let limit = limit(layout, root, &found);
            best = Found { time, transfer: found.time, latency: waiting, limit };
        }
    }
    Ok(best)
}

/// The root's host, and the bytes for each host but that.
fn wanted(
    layout: &Layout,
    hosts: &[HostId],
    root: u32,
    blocks: &[u64],
) -> Result<(usize, Vec<f64>), BoundError> {
    if hosts.len() != blocks.len() {
        return Err(BoundError::Ranks { blocks: blocks.len(), hosts: hosts.len() });
    }
    let there = layout.hosts.len();
    if let Some(rank) = hosts.iter().position(|host| *host as usize >= there) {
        return Err(BoundError::Host { rank, host: hosts[rank], hosts: there });
    }
    let Some(&at) = hosts.get(root as usize) else {
        return Err(BoundError::Root { root, ranks: hosts.len() });
    };
    let mut bytes = vec![0.0; there];
    for (host, block) in hosts.iter().zip(blocks).filter(|(host, _)| **host != at) {
        bytes[*host as usize] += *block as f64;
    }
    Ok((at as usize, bytes))
}

/// A layout can be made by hand; nothing here may divide by 0 or run out of a list.
fn check(layout: &Layout) -> Result<(), BoundError> {
    let sites = layout.sites.len();
    let number = |what: String, value: f64, good: bool| match good {
        true => Ok(()),
        false => Err(BoundError::Number { what, value }),
    };
    for host in &layout.hosts {
        if host.site >= sites {
            return Err(BoundError::Layout(format!("host {} has no site", host.name)));
        }
        for CardRates { out, into } in [Some(host.card), host.wan_card].into_iter().flatten() {
            for rate in [out, into].into_iter().flatten() {
                number(format!("the rate of a card of {}", host.name), rate, rate > 0.0)?;
            }
        }
    }
    for site in &layout.sites {
        let good = site.latency >= 0.0 && site.latency.is_finite();
        number(format!("the latency of {}", site.name), site.latency, good)?;
    }
    for way in &layout.ways {
        let known = |pipe: &usize| *pipe < layout.pipes.len();
        if way.from.max(way.to) >= sites || !way.pipes.iter().all(known) {
            let what = format!("the way from site {} to site {}", way.from, way.to);
            return Err(BoundError::Layout(format!("{what}: no such site, or no such pipe")));
        }
        let good = way.latency >= 0.0 && way.latency.is_finite();
        number("the latency between two sites".to_string(), way.latency, good)?;
    }
    for pipe in &layout.pipes {
        number(format!("the rate of {}", pipe.name), pipe.rate, pipe.rate > 0.0)?;
    }
    Ok(())
}

/// The latency of the shortest way between the root and each site, over relays.
struct Distances<'a> {
    layout: &'a Layout,
    root: usize,
    direction: Direction,
    /// To a host of the site that is not the root; infinite where no way leads.
    to_site: Vec<f64>,
}

impl<'a> Distances<'a> {
    fn new(layout: &'a Layout, root: usize, direction: Direction) -> Distances<'a> {
        let mut distances = Distances { layout, root, direction, to_site: Vec::new() };
        let home = layout.hosts[root].site;
        let mut to_site = vec![f64::INFINITY; layout.sites.len()];
        to_site[home] = layout.sites[home].latency;
        let mut from_root = vec![f64::INFINITY; layout.sites.len()];
        from_root[home] = 0.0;
        distances.shorten(&from_root, &mut to_site);
        loop {
            let before = to_site.clone();
            distances.shorten(&before, &mut to_site);
            if before == to_site {
                break;
            }
        }
        distances.to_site = to_site;
        distances
    }

    /// One way more.
    fn shorten(&self, from: &[f64], to: &mut [f64]) {
        for way in &self.layout.ways {
            let (near, far) = self.ends(way.from, way.to);
            to[far] = to[far].min(from[near] + way.latency);
        }
    }

    /// The end of a way towards the root, and the other one.
    fn ends(&self, from: usize, to: usize) -> (usize, usize) {
        match self.direction {
            Direction::FromRoot => (from, to),
            Direction::ToRoot => (to, from),
        }
    }

    fn to_host(&self, host: usize) -> f64 {
        if host == self.root { 0.0 } else { self.to_site[self.layout.hosts[host].site] }
    }

    /// The latency of each host as far away as the farthest of the wanted bytes or nearer, the
    /// least first. Also those that want nothing: a set may have to pass them.
    fn levels(&self, bytes: &[f64]) -> Vec<f64> {
        let hosts = |wanted: f64| {
            let hosts = (0..bytes.len()).filter(move |host| bytes[*host] >= wanted);
            hosts.filter(|host| *host != self.root).map(|host| self.to_host(host))
        };
        let farthest = hosts(f64::MIN_POSITIVE).fold(-1.0, f64::max);
        let mut levels: Vec<f64> = hosts(0.0).filter(|level| *level <= farthest).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        // What is infinitely far is found to be unreachable among the nearest.
        if levels.len() > 1 {
            levels.retain(|level| level.is_finite());
        }
        levels
    }

    /// The latency that bytes of a gather have at least after they begin to leave these sets: the
    /// least of a message out of one, and the least from where it goes to the root.
    fn out_of(&self, cuts: &[Cut]) -> f64 {
        let (mut message, mut after) = (f64::INFINITY, f64::INFINITY);
        let sites = self.layout.sites.len();
        for cut in cuts {
            let mut inside = vec![false; sites];
            // The least from a host of the site that is not in the set.
            let mut outside = vec![f64::INFINITY; sites];
            for (host, about) in self.layout.hosts.iter().enumerate() {
                match cut.behind[host] {
                    true => inside[about.site] = true,
                    false => {
                        outside[about.site] = outside[about.site].min(self.to_host(host));
                    }
                }
            }
            let near =
                self.layout.sites.iter().enumerate().map(|(at, site)| (at, at, site.latency));
            let far = self.layout.ways.iter().map(|way| (way.from, way.to, way.latency));
            for (from, to, latency) in near.chain(far) {
                if inside[from] && outside[to].is_finite() {
                    message = message.min(latency);
                    after = after.min(outside[to]);
                }
            }
        }
        message + after
    }
}

/// What is full, in words.
fn limit(layout: &Layout, root: usize, found: &LeastTime) -> String {
    let mut places: Vec<Place> = found.cuts.iter().flat_map(|cut| cut.places.clone()).collect();
    places.extend(found.pipes.iter().map(|pipe| Place::Pipe(*pipe)));
    places.sort_unstable();
    places.dedup();
    let mut words = Vec::new();
    for (kind, wan) in [("card", false), ("card for other sites", true)] {
        let hosts = places.iter().filter_map(|place| match place {
            Place::Card { host } if !wan => Some(*host),
            Place::WanCard { host } if wan => Some(*host),
            _ => None,
        });
        words.extend(cards(layout, root, kind, &hosts.collect::<Vec<_>>()));
    }
    words.extend(places.iter().filter_map(|place| match place {
        Place::Pipe(pipe) => Some(link(&layout.pipes[*pipe].name)),
        _ => None,
    }));
    match words.split_last() {
        None => "latency alone".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// The cards of one kind: the root's, then by site.
fn cards(layout: &Layout, root: usize, kind: &str, hosts: &[usize]) -> Vec<String> {
    let mut words = Vec::new();
    if hosts.contains(&root) {
        words.push(format!("the root's {kind}"));
    }
    for (number, site) in layout.sites.iter().enumerate() {
        let here = |host: &&usize| **host != root && layout.hosts[**host].site == number;
        let here: Vec<&usize> = hosts.iter().filter(here).collect();
        let plural = kind.replacen("card", "cards", 1);
        match here[..] {
            [] => {}
            [host] => words.push(format!("the {kind} of {}", layout.hosts[*host].name)),
            _ => words.push(format!("the {plural} of {} hosts of {}", here.len(), site.name)),
        }
    }
    words
}

/// A pipe as `platform/build.rs` of the simulator names it.
fn link(name: &str) -> String {
    if let Some((from, to)) = name.split_once(":to:") {
        return format!("the link {from}-{to}");
    }
    for (ending, what) in [(":uplink-out", "the uplink of"), (":uplink-in", "the downlink of")] {
        if let Some(site) = name.strip_suffix(ending) {
            return format!("{what} {site}");
        }
    }
    match name {
        "wan:all" => "what all sites share".to_string(),
        _ => format!("the link {name}"),
    }
}
