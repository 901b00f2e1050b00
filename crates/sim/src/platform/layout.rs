//! A platform as its builder with real parts sees it: hosts with cards, sites, and what
//! lies between the sites. Lists also what no real parts are there for.

use super::description::Limit;
use super::{Platform, Ports};
use crate::congestion::Congestion;
use crate::network::{HostCost, Network, Resource, ResourceId};

/// The two directions of a network card, in bytes a second; none without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CardRates {
    /// What the host sends.
    pub out: Option<f64>,
    /// What the host receives.
    pub into: Option<f64>,
}

/// A host with its cards.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutHost {
    /// As the platform calls it.
    pub name: String,
    /// An index of the sites.
    pub site: usize,
    /// Its number in the site, from 0.
    pub number: usize,
    /// Its card, for other sites as well where there is no second one.
    pub card: CardRates,
    /// A second card for other sites, if it has one.
    pub wan_card: Option<CardRates>,
}

/// A site, whose hosts are behind one switch.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutSite {
    /// As the platform calls it.
    pub name: String,
    /// Seconds between two of its hosts.
    pub latency: f64,
}

/// From one site to another.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutWay {
    /// An index of the sites.
    pub from: usize,
    /// An index of the sites, another one.
    pub to: usize,
    /// Seconds, one way.
    pub latency: f64,
    /// The most bytes a second of one connection; none without a limit.
    pub connection: Option<f64>,
    /// The most bytes of one connection under way; none without a limit.
    pub window: Option<u64>,
    /// What it shares with others, as indices of the pipes.
    pub pipes: Vec<usize>,
}

/// Something between sites that carries bytes at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutPipe {
    /// As the platform calls the resource.
    pub name: String,
    /// Bytes a second.
    pub rate: f64,
    /// What it loses when many connections share it.
    pub congestion: Congestion,
}

/// The parts of a platform of sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// In the order of the platform's host names.
    pub hosts: Vec<LayoutHost>,
    /// In the order of the platform's site names.
    pub sites: Vec<LayoutSite>,
    /// At most one from each site to each other, each direction for itself.
    pub ways: Vec<LayoutWay>,
    /// What the ways pass, each once.
    pub pipes: Vec<LayoutPipe>,
}

impl Platform {
    /// The layout of a platform of sites; an error names what does not fit into one.
    pub fn layout(&self) -> Result<Layout, String> {
        self.refuse_what_has_no_layout()?;
        self.parts(&|id| self.resources[id as usize].rate)
    }

    /// The layout with every rate at its highest, without what only delays messages: costs and
    /// clocks of hosts, traffic of others, switches and limits inside sites, losses. A lower bound
    /// for it is one for the platform.
    pub fn widest_layout(&self) -> Result<Layout, String> {
        if !self.routes.is_empty() {
            return Err("[[route]]: a way of its own between two hosts".to_string());
        }
        self.parts(&|id| {
            let later = self.changes.iter().filter(|change| change.resource == id);
            later.map(|change| change.rate).fold(self.resources[id as usize].rate, f64::max)
        })
    }

    fn parts(&self, rate: &dyn Fn(ResourceId) -> f64) -> Result<Layout, String> {
        let mut pipes: Vec<(ResourceId, LayoutPipe)> = Vec::new();
        let mut pipe = |id: &ResourceId| {
            if let Some(known) = pipes.iter().position(|(known, _)| known == id) {
                return known;
            }
            let resource = &self.resources[*id as usize];
            let Resource { name, congestion, .. } = resource.clone();
            pipes.push((*id, LayoutPipe { name, rate: rate(*id), congestion }));
            pipes.len() - 1
        };
        let sites = self.site_names.len();
        let ways = self.between.iter().enumerate().filter_map(|(at, way)| {
            let way = way.as_ref()?;
            let shared = way.links.iter().filter(|id| self.resources[**id as usize].shared);
            let pipes = shared.map(&mut pipe).collect();
            let Limit { rate: connection, window } = way.limit;
            let (from, to, latency) = (at / sites, at % sites, way.latency);
            Some(LayoutWay { from, to, latency, connection, window, pipes })
        });
        let ways = ways.collect();
        let mut counts = vec![0; sites];
        let hosts = self.host_names.iter().zip(&self.hosts).map(|(name, host)| {
            let site = host.site.ok_or_else(|| format!("host {name} is in no site"))? as usize;
            let rates =
                |ports: Ports| CardRates { out: ports.out.map(rate), into: ports.into.map(rate) };
            let card = rates(host.lan);
            let second = host.wan.out != host.lan.out || host.wan.into != host.lan.into;
            let wan_card = second.then(|| rates(host.wan));
            let number = counts[site];
            counts[site] += 1;
            Ok(LayoutHost { name: name.clone(), site, number, card, wan_card })
        });
        let hosts = hosts.collect::<Result<Vec<_>, String>>()?;
        let sites = self.site_names.iter().zip(&self.inside);
        let sites = sites
            .map(|(name, inside)| LayoutSite { name: name.clone(), latency: inside.latency })
            .collect();
        let pipes = pipes.into_iter().map(|(_, pipe)| pipe).collect();
        Ok(Layout { hosts, sites, ways, pipes })
    }

    fn refuse_what_has_no_layout(&self) -> Result<(), String> {
        if !self.routes.is_empty() {
            return Err("[[route]]: a way of its own between two hosts".to_string());
        }
        if !self.background.is_empty() {
            return Err("[[background]]: traffic of others".to_string());
        }
        for (name, host) in self.host_names.iter().zip(&self.hosts) {
            let half = |ports: Ports| ports.out.is_some() && ports.out == ports.into;
            if half(host.lan) || half(host.wan) {
                return Err(format!("duplex = \"half\" of host {name}"));
            }
            if host.cost != HostCost::default() {
                return Err(format!("send, receive and per-byte of host {name}"));
            }
            if host.clock != Default::default() {
                return Err(format!("the clock of host {name}"));
            }
        }
        for (name, inside) in self.site_names.iter().zip(&self.inside) {
            if !inside.links.is_empty() {
                return Err(format!("rate of site {name}: what its switch carries altogether"));
            }
            if inside.most.is_finite() {
                return Err(format!("connection or window inside site {name}"));
            }
        }
        if self.overflow().is_some() {
            return Err("receive-buffer".to_string());
        }
        if !self.changes.is_empty() {
            return Err("[[event]]: a lab has a timetable of its own".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(spec: &str) -> Layout {
        Platform::read(spec).expect(spec).layout().expect(spec)
    }

    #[test]
    fn two_sites_have_cards_ways_and_pipes() {
        let spec = "two-sites:2x3,latency=5ms,connection=25Mbit,wan=100Mbit,rate=1Gbit";
        let found = layout(spec);
        assert_eq!((found.hosts.len(), found.sites.len()), (5, 2));
        assert_eq!(found.hosts[4].site, 1);
        assert_eq!(found.hosts[0].card, CardRates { out: Some(125e6), into: Some(125e6) });
        assert_eq!(found.hosts[0].wan_card, None);
        let way = &found.ways[0];
        assert_eq!((way.from, way.to, found.ways.len()), (0, 1, 2));
        assert_eq!((way.latency, way.connection), (5e-3, Some(25e6 / 8.0)));
        let names: Vec<f64> = way.pipes.iter().map(|id| found.pipes[*id].rate).collect();
        assert_eq!(names, [100e6 / 8.0]);
        assert_eq!(found.hosts[4].number, 2);
    }

    #[test]
    fn windows_second_cards_and_uplinks_are_listed() {
        let spec = "sites:2,2,window=156K,wan-rate=100Mbit,uplink=50Mbit,aggregate=80Mbit";
        let found = layout(spec);
        assert_eq!(found.ways[0].window, Some(156 << 10));
        let wan = CardRates { out: Some(12.5e6), into: Some(12.5e6) };
        assert_eq!(found.hosts[3].wan_card, Some(wan));
        assert!(found.ways[0].pipes.len() >= 3);
    }

    #[test]
    fn the_widest_layout_has_the_highest_rates_of_events() {
        let text = "include = [\"two-sites:2x2,wan=100Mbit,send=5us,lan=1Gbit\"]\n\
                    [[event]]\nat = \"1s\"\nsites = [\"site0\", \"site1\"]\nrate = \"400Mbit\"\n\
                    [[event]]\nat = \"1s\"\nsites = [\"site0\", \"site1\"]\n\
                    connection = \"1Mbit\"\n";
        let platform = Platform::parse("events", text).expect("a platform");
        assert!(platform.layout().is_err());
        let found = platform.widest_layout().expect("a layout");
        let rates: Vec<f64> = found.pipes.iter().map(|pipe| pipe.rate).collect();
        assert_eq!(rates, [50e6, 50e6]);
        assert!(Platform::read("random:7").expect("it").widest_layout().is_err());
    }

    #[test]
    fn what_cannot_be_built_is_named() {
        for (spec, word) in [
            ("cluster:4,send=5us", "send, receive and per-byte"),
            ("cluster:4,duplex=half", "half"),
            ("cluster:4,clock-offset=+-1ms", "clock"),
            ("cluster:4,lan=1Gbit", "switch carries"),
            ("cluster:4,connection=1Mbit", "inside site"),
            ("random:7,background=bursty", "[[route]]"),
        ] {
            let refused = Platform::read(spec).expect(spec).layout();
            assert!(refused.as_ref().is_err_and(|why| why.contains(word)), "{spec}: {refused:?}");
        }
    }
}
