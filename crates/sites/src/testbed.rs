//! The cost model's few numbers, read from a platform of two sites.

use laneway_sim::HostId;
use laneway_sim::platform::{Layout, LayoutWay};

use crate::model::{HostRates, TwoSites, WanRate};

/// How a pair's rate depends on how many pairs send at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharing {
    /// Not at all, as the paper assumes where the link is wide enough.
    Constant,
    /// All of them share the link, which may carry less where many press on it.
    Shared,
}

/// Why a platform is not what the model is about.
#[derive(Clone, Debug, PartialEq)]
pub struct NotTwoSites(pub String);

impl TwoSites {
    /// The model of a call on a platform; rank r is on host `hosts[r]`.
    pub fn of(
        layout: &Layout,
        hosts: &[HostId],
        root: u32,
        block: u64,
        sharing: Sharing,
    ) -> Result<TwoSites, NotTwoSites> {
        let sites: Vec<usize> =
            hosts.iter().map(|host| layout.hosts[*host as usize].site).collect();
        let own = sites[root as usize];
        let far_site = sites.iter().copied().find(|site| *site != own);
        let Some(far_site) = far_site else {
            return Err(NotTwoSites("all ranks are at one site".into()));
        };
        if sites.iter().any(|site| ![own, far_site].contains(site)) {
            return Err(NotTwoSites("the cost model is for two sites, and there are more".into()));
        }
        let count = |site: usize| sites.iter().filter(|one| **one == site).count() as u32;
        let way = |from: usize, to: usize| {
            layout.ways.iter().find(|way| (way.from, way.to) == (from, to))
        };
        let (Some(there), Some(back)) = (way(own, far_site), way(far_site, own)) else {
            return Err(NotTwoSites("no link connects the two sites".into()));
        };
        let host = &layout.hosts[hosts[root as usize] as usize];
        let lan = host.card.out.unwrap_or(f64::INFINITY);
        let card = host.wan_card.map_or(host.card.out, |card| card.out).unwrap_or(f64::INFINITY);
        let most = together(layout, there, 1);
        let connection = connection(there, back).min(card).min(most);
        let pairs = count(own).min(count(far_site));
        Ok(TwoSites {
            near: count(own),
            far: count(far_site),
            block: block as f64,
            latency: there.latency,
            lan_latency: layout.sites[own].latency,
            overhead: 0.0,
            lan,
            wan: match sharing {
                Sharing::Constant => WanRate::Constant(connection),
                Sharing::Shared if is_congested(layout, there) => {
                    let each = |pairs: u32| together(layout, there, pairs) / f64::from(pairs);
                    WanRate::Measured((1..=pairs).map(|p| connection.min(each(p))).collect())
                }
                Sharing::Shared => WanRate::Shared { connection, together: most },
            },
            rates: rates(layout, hosts, root, lan),
        })
    }
}

/// The rates of hosts that take less than the root's card sends; empty if all take as much.
fn rates(layout: &Layout, hosts: &[HostId], root: u32, lan: f64) -> HostRates {
    let (mut near, mut far) = (Vec::new(), Vec::new());
    let own = layout.hosts[hosts[root as usize] as usize].site;
    for (_, host) in (0..).zip(hosts).filter(|(rank, _)| *rank != root) {
        let host = &layout.hosts[*host as usize];
        let rate = host.card.into.unwrap_or(f64::INFINITY);
        if host.site == own { near.push(rate) } else { far.push(rate) }
    }
    match near.iter().chain(&far).all(|rate| *rate >= lan) {
        true => HostRates::default(),
        false => HostRates::new(near, far),
    }
}

/// Bytes a second of one connection, by its limit and by its window over the round trip.
fn connection(there: &LayoutWay, back: &LayoutWay) -> f64 {
    let window = there.window.map(|bytes| bytes as f64 / (there.latency + back.latency));
    let rate = there.connection.unwrap_or(f64::INFINITY);
    rate.min(window.unwrap_or(f64::INFINITY))
}

/// The rate that `pairs` pairs share.
fn together(layout: &Layout, way: &LayoutWay, pairs: u32) -> f64 {
    let rate = |pipe: &usize| {
        let pipe = &layout.pipes[*pipe];
        pipe.rate * pipe.congestion.part(pairs as usize)
    };
    way.pipes.iter().map(rate).fold(f64::INFINITY, f64::min)
}

fn is_congested(layout: &Layout, way: &LayoutWay) -> bool {
    way.pipes.iter().any(|pipe| !layout.pipes[*pipe].congestion.is_none())
}
