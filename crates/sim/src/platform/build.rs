//! From what is said to what there is: names resolved, resources laid out, every way proved.

use std::collections::BTreeMap;

use super::description::{
    Between, Card, Clock, Description, HostGroup, HostNames, Pressed, RouteGroup, Site,
};
use super::draw::Draws;
use super::error::{Fault, Place, PlatformError};
use super::names;
use super::settings::Settled;
use super::{Host, MOST_HOSTS, MOST_ROUTES, MOST_SITES, Platform, Ports, Way};
use crate::congestion::Congestion;
use crate::network::{HostClock, HostId, Resource, ResourceId};

/// Checks a description and lays it out.
pub(super) fn build(name: &str, said: Description) -> Result<Platform, PlatformError> {
    let whole = Place::new(name, 0);
    let mut builder = Builder::new(name, said.settings.settle()?);
    for site in &said.sites {
        builder.site(site)?;
    }
    builder.sizes(&said, &whole)?;
    for group in &said.hosts {
        builder.hosts(group)?;
    }
    builder.between(&said)?;
    builder.links(&said)?;
    for group in &said.routes {
        builder.route(group)?;
    }
    builder.prove(&whole)?;
    builder.events(&said.events)?;
    for group in &said.background {
        builder.background(group)?;
    }
    Ok(builder.platform)
}

/// The two directions of a link, and what it adds to the latency.
pub(super) struct LinkPorts {
    pub there: ResourceId,
    /// `None` if both directions are one.
    pub back: Option<ResourceId>,
    latency: f64,
}

pub(super) struct Builder {
    pub platform: Platform,
    pub draws: Draws,
    sites: BTreeMap<String, (u32, Place)>,
    /// Uplinks of each site.
    pub uplinks: Vec<Ports>,
    /// What one site has to another, where it has a rate.
    pub between_sites: BTreeMap<(u32, u32), ResourceId>,
    /// The limit of each connection from one site to another, where an event changes it.
    pub limits: BTreeMap<(u32, u32), ResourceId>,
    /// What all messages between sites share.
    pub aggregate: Option<ResourceId>,
    hosts: BTreeMap<String, (HostId, Place)>,
    links: BTreeMap<String, (LinkPorts, Place)>,
    /// The route table that each of the platform's ways comes from.
    way_places: Vec<Place>,
}

/// The names that a pattern stands for.
fn written_out((pattern, place): &HostNames) -> Result<Vec<String>, PlatformError> {
    names::expand(pattern).map_err(|reason| place.refuse(Fault::Name, reason))
}

fn claim<T>(
    names: &mut BTreeMap<String, (T, Place)>,
    what: &str,
    name: &str,
    value: T,
    place: &Place,
) -> Result<(), PlatformError> {
    if let Some((_, first)) = names.get(name) {
        let reason = format!("two {what}s are called `{name}`; the first is at {first}");
        return Err(place.refuse(Fault::Name, reason));
    }
    names.insert(name.to_string(), (value, place.clone()));
    Ok(())
}

impl Builder {
    fn new(name: &str, settled: Settled) -> Builder {
        let draws = Draws::new(settled.seed);
        let platform = Platform {
            name: name.to_string(),
            settled,
            host_names: Vec::new(),
            hosts: Vec::new(),
            site_names: Vec::new(),
            inside: Vec::new(),
            between: Vec::new(),
            routes: BTreeMap::new(),
            ways: Vec::new(),
            resources: Vec::new(),
            changes: Vec::new(),
            background: Vec::new(),
        };
        Builder {
            platform,
            draws,
            sites: BTreeMap::new(),
            uplinks: Vec::new(),
            between_sites: BTreeMap::new(),
            limits: BTreeMap::new(),
            aggregate: None,
            hosts: BTreeMap::new(),
            links: BTreeMap::new(),
            way_places: Vec::new(),
        }
    }

    pub fn resource(&mut self, name: String, rate: f64, shared: bool) -> ResourceId {
        let congestion = Congestion::default();
        self.platform.resources.push(Resource { name, rate, shared, congestion });
        self.platform.resources.len() as ResourceId - 1
    }

    /// A resource where there is a rate.
    fn limited(&mut self, name: String, rate: Option<f64>) -> Option<ResourceId> {
        rate.map(|rate| self.resource(name, rate, true))
    }

    /// Says what resources lose when many messages share them; none of them has a rate where there
    /// is none.
    fn press(
        &mut self,
        resources: &[Option<ResourceId>],
        said: Option<&Pressed>,
    ) -> Result<(), PlatformError> {
        let Some((congestion, place)) = said else { return Ok(()) };
        if resources.iter().all(Option::is_none) {
            let reason = "`congestion` is a part of a rate, and there is none here";
            return Err(place.refuse(Fault::Word, reason));
        }
        for resource in resources.iter().flatten() {
            self.platform.resources[*resource as usize].congestion = congestion.clone();
        }
        Ok(())
    }

    fn sizes(&self, said: &Description, whole: &Place) -> Result<(), PlatformError> {
        let refuse = |reason: String| Err(whole.refuse(Fault::Size, reason));
        if said.hosts.is_empty() {
            return refuse("a platform needs at least one host".to_string());
        }
        if said.sites.len() > MOST_SITES as usize {
            let sites = said.sites.len();
            return refuse(format!("{sites} sites; at most {MOST_SITES} are simulated"));
        }
        Ok(())
    }

    fn site(&mut self, site: &Site) -> Result<(), PlatformError> {
        let id = self.platform.site_names.len() as u32;
        claim(&mut self.sites, "site", &site.name, id, &site.place)?;
        let links = self.limited(format!("{}:lan", site.name), site.rate).into_iter().collect();
        let most = site.limit.most(site.latency);
        self.platform.inside.push(Way { links, latency: site.latency, most, limit: site.limit });
        let out = self.limited(format!("{}:uplink-out", site.name), site.uplink_out);
        let into = self.limited(format!("{}:uplink-in", site.name), site.uplink_in);
        self.press(&[out, into], site.congestion.as_ref())?;
        self.uplinks.push(Ports { out, into });
        self.platform.site_names.push(site.name.clone());
        Ok(())
    }

    pub fn site_id(&self, name: &str, place: &Place) -> Result<u32, PlatformError> {
        self.sites.get(name).map(|(id, _)| *id).ok_or_else(|| {
            let known = match self.sites.is_empty() {
                true => "there are none".to_string(),
                false => format!("the sites are {}", self.platform.site_names.join(", ")),
            };
            place.refuse(Fault::Name, format!("unknown site `{name}`; {known}"))
        })
    }

    fn hosts(&mut self, group: &HostGroup) -> Result<(), PlatformError> {
        let site = match &group.site {
            Some((name, place)) => Some(self.site_id(name, place)?),
            None => None,
        };
        if site.is_some() && group.card.is_none() {
            return Err(group.place.refuse(Fault::Word, "a host of a site needs `rate`"));
        }
        if site.is_none() && group.wan_card.is_some() {
            let reason = "`wan-rate` is for other sites, and this host has no site";
            return Err(group.place.refuse(Fault::Word, reason));
        }
        let names = written_out(&group.names)?;
        let hosts = self.platform.hosts.len() + names.len();
        if hosts > MOST_HOSTS as usize {
            let reason = format!("{hosts} hosts; at most {MOST_HOSTS} are simulated");
            return Err(group.place.refuse(Fault::Size, reason));
        }
        for name in &names {
            let id = self.platform.hosts.len() as HostId;
            claim(&mut self.hosts, "host", name, id, &group.place)?;
            let lan = self.card(name, "", group.card);
            let wan = if group.wan_card.is_some() {
                self.card(name, "wan-", group.wan_card)
            } else {
                lan
            };
            let clock = self.clock(group.clock);
            self.platform.hosts.push(Host { site, lan, wan, cost: group.cost, clock });
            self.platform.host_names.push(name.clone());
        }
        Ok(())
    }

    /// The clock of the next host.
    fn clock(&mut self, said: Clock) -> HostClock {
        let [offset, drift] = self.draws.clock();
        HostClock { offset: said.offset.of(offset), drift: said.drift.of(drift) }
    }

    fn card(&mut self, host: &str, kind: &str, card: Option<Card>) -> Ports {
        match card {
            None => Ports::default(),
            Some(Card::Full { out, into }) => Ports {
                out: self.limited(format!("{host}:{kind}out"), Some(out)),
                into: self.limited(format!("{host}:{kind}in"), Some(into)),
            },
            Some(Card::Half(rate)) => {
                let both = self.limited(format!("{host}:{kind}card"), Some(rate));
                Ports { out: both, into: both }
            }
        }
    }

    /// The ways between sites: what the two say, else what `[wan]` says, else none.
    fn between(&mut self, said: &Description) -> Result<(), PlatformError> {
        let mut pairs: BTreeMap<(u32, u32), &Between> = BTreeMap::new();
        for between in &said.between {
            let [(a, at_a), (b, at_b)] = &between.sites;
            let (a, b) = (self.site_id(a, at_a)?, self.site_id(b, at_b)?);
            if a == b {
                let reason = "both are the same site; links inside a site belong into [[site]]";
                return Err(between.place.refuse(Fault::Name, reason));
            }
            if let Some(first) = pairs.insert((a.min(b), a.max(b)), between) {
                let reason = format!("these two sites have a [[between]] at {} too", first.place);
                return Err(between.place.refuse(Fault::Name, reason));
            }
        }
        let aggregate = said.wan.as_ref().and_then(|wan| wan.aggregate);
        self.aggregate = self.limited("wan:all".to_string(), aggregate);
        let sites = self.platform.site_names.len() as u32;
        for (a, b) in (0..sites).flat_map(|a| (0..sites).map(move |b| (a, b))) {
            let pair = pairs.get(&(a.min(b), a.max(b))).copied();
            let way = if a == b || (pair.is_none() && said.wan.is_none()) {
                None
            } else {
                Some(self.far_way(said, a, b, pair)?)
            };
            self.platform.between.push(way);
        }
        Ok(())
    }

    fn far_way(
        &mut self,
        said: &Description,
        a: u32,
        b: u32,
        pair: Option<&Between>,
    ) -> Result<Way, PlatformError> {
        let wan = said.wan.as_ref();
        let from = &self.platform.site_names[a as usize];
        let rate = pair.and_then(|pair| pair.rate_from(from)).or(wan.and_then(|wan| wan.rate));
        let latency = pair.and_then(|pair| pair.latency).or(wan.and_then(|wan| wan.latency));
        let latency = latency.unwrap_or(0.0);
        let limit = pair.map(|pair| pair.limit).unwrap_or_default();
        let limit = limit.or(wan.map(|wan| wan.limit).unwrap_or_default());
        let names = &self.platform.site_names;
        let name = format!("{}:to:{}", names[a as usize], names[b as usize]);
        let own = self.limited(name, rate);
        let congestion = pair.and_then(|pair| pair.congestion.as_ref());
        let congestion = congestion.or(wan.and_then(|wan| wan.congestion.as_ref()));
        self.press(&[own], congestion)?;
        self.between_sites.extend(own.map(|own| ((a, b), own)));
        let (up, down) = (self.uplinks[a as usize].out, self.uplinks[b as usize].into);
        let links = [up, own, self.aggregate, down].into_iter().flatten().collect();
        Ok(Way { links, latency, most: limit.most(latency), limit })
    }

    fn links(&mut self, said: &Description) -> Result<(), PlatformError> {
        for link in &said.links {
            let there = self.resource(link.name.clone(), link.rate, link.shared);
            let back = link
                .duplex
                .then(|| self.resource(format!("{}:back", link.name), link.rate, link.shared));
            if let (false, Some((_, place))) = (link.shared, &link.congestion) {
                let reason = "`congestion` is of a rate that messages share";
                return Err(place.refuse(Fault::Value, reason));
            }
            self.press(&[Some(there), back], link.congestion.as_ref())?;
            let ports = LinkPorts { there, back, latency: link.latency };
            claim(&mut self.links, "link", &link.name, ports, &link.place)?;
        }
        Ok(())
    }

    /// A link by its name, and whether `:back` asks for its other direction.
    pub fn link(&self, word: &str, place: &Place) -> Result<(&LinkPorts, bool), PlatformError> {
        let (name, backwards) = match word.strip_suffix(":back") {
            Some(name) => (name, true),
            None => (word, false),
        };
        let Some((link, _)) = self.links.get(name) else {
            return Err(place.refuse(Fault::Name, format!("unknown link `{name}`")));
        };
        if backwards && link.back.is_none() {
            let reason = format!("`{name}` has no way back of its own: duplex is half");
            return Err(place.refuse(Fault::Name, reason));
        }
        Ok((link, backwards))
    }

    /// The way of a route, there and back.
    fn ways(&self, group: &RouteGroup) -> Result<[Way; 2], PlatformError> {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut latency = group.latency;
        for (word, place) in &group.links {
            let (link, backwards) = self.link(word, place)?;
            let (mut one, mut other) = (link.there, link.back.unwrap_or(link.there));
            if backwards {
                (one, other) = (other, one);
            }
            if there.contains(&one) {
                let reason = format!("the route passes `{word}` twice");
                return Err(place.refuse(Fault::Way, reason));
            }
            there.push(one);
            back.push(other);
            latency += link.latency;
        }
        back.reverse();
        let most = group.limit.most(latency);
        let limit = group.limit;
        Ok([there, back].map(|links| Way { links, latency, most, limit }))
    }

    fn route(&mut self, group: &RouteGroup) -> Result<(), PlatformError> {
        let ways = self.ways(group)?;
        let first_way = self.platform.ways.len();
        let directions = if group.both_ways { 2 } else { 1 };
        self.platform.ways.extend(ways.into_iter().take(directions));
        self.way_places.resize(self.platform.ways.len(), group.place.clone());
        let from = self.host_ids(&group.from)?;
        let to = self.host_ids(&group.to)?;
        let limited = self.platform.ways[first_way].most.is_finite() || !group.links.is_empty();
        for (&a, &b) in from.iter().flat_map(|a| to.iter().map(move |b| (a, b))) {
            if a == b && from.len() * to.len() > 1 {
                continue;
            }
            if a == b {
                let reason = "a route from a host to itself";
                return Err(group.place.refuse(Fault::Way, reason));
            }
            let hosts = &self.platform.hosts;
            let cards = hosts[a as usize].lan.out.or(hosts[b as usize].lan.into);
            if !limited && cards.is_none() {
                let reason = "no link and no network card limits the rate of this route";
                return Err(group.place.refuse(Fault::Way, reason));
            }
            let back = (directions == 2).then_some(((b, a), first_way + 1));
            for (pair, way) in [((a, b), first_way)].into_iter().chain(back) {
                self.pair(pair, way, first_way, &group.place)?;
            }
        }
        Ok(())
    }

    /// Gives a pair of hosts its way. A group that meets a pair twice keeps the first.
    fn pair(
        &mut self,
        pair: (HostId, HostId),
        way: usize,
        first_way: usize,
        place: &Place,
    ) -> Result<(), PlatformError> {
        if self.platform.routes.len() >= MOST_ROUTES {
            let reason = format!("more than {MOST_ROUTES} pairs of hosts have routes of their own");
            return Err(place.refuse(Fault::Size, reason));
        }
        let kept = *self.platform.routes.entry(pair).or_insert(way);
        if kept < first_way {
            let names = &self.platform.host_names;
            let (a, b) = (&names[pair.0 as usize], &names[pair.1 as usize]);
            let first = &self.way_places[kept];
            let reason = format!("a second route from {a} to {b}; the first is at {first}");
            return Err(place.refuse(Fault::Name, reason));
        }
        Ok(())
    }

    pub fn host_ids(&self, names: &HostNames) -> Result<Vec<HostId>, PlatformError> {
        let place = &names.1;
        let find = |name: &String| match self.hosts.get(name) {
            Some((id, _)) => Ok(*id),
            None => Err(place.refuse(Fault::Name, format!("unknown host `{name}`"))),
        };
        written_out(names)?.iter().map(find).collect()
    }

    /// Proves that every host reaches every other. Pairs that a formula serves are not counted out
    /// one by one: only those that need a route of their own are, and there are at most as many
    /// of them as routes before one is found missing.
    fn prove(&self, whole: &Place) -> Result<(), PlatformError> {
        let platform = &self.platform;
        let hosts = platform.hosts.len() as HostId;
        let sites = platform.site_names.len();
        let mut members: Vec<Vec<HostId>> = vec![Vec::new(); sites];
        let mut outside = Vec::new();
        for (id, host) in (0..).zip(&platform.hosts) {
            match host.site {
                Some(site) => members[site as usize].push(id),
                None => outside.push(id),
            }
        }
        let alone = outside
            .iter()
            .flat_map(|&a| (0..hosts).filter(move |b| *b != a).flat_map(move |b| [(a, b), (b, a)]));
        let apart = (0..sites)
            .flat_map(|a| (0..sites).map(move |b| (a, b)))
            .filter(|(a, b)| a != b && platform.between[a * sites + b].is_none())
            .flat_map(|(a, b)| {
                let far = &members[b];
                members[a].iter().flat_map(move |&a| far.iter().map(move |&b| (a, b)))
            });
        let Some((a, b)) = alone.chain(apart).find(|pair| !platform.routes.contains_key(pair))
        else {
            return Ok(());
        };
        let (from, to) = (&platform.host_names[a as usize], &platform.host_names[b as usize]);
        let place = self.hosts.get(from).map_or(whole, |(_, place)| place);
        let reason = format!(
            "no path from {from} to {to}: put both into one site, or give [wan], [[between]] or \
             [[route]]"
        );
        Err(place.refuse(Fault::Way, reason))
    }
}
