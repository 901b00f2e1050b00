//! Which limit a measured rate shows: a host's card, one connection, or what all of them share.
//!
//! Each rate is held against what the limits known so far would allow. What falls short of that
//! shows a limit of its own.

use laneway_measure::sites::{End, Found, Kind, NARROWER, Rated};
use laneway_sim::Congestion;

use super::cards::cards;
use super::loads::{Loads, Part};
use super::shared::Shared;

/// Bytes a second of one host.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HostLimits {
    /// What it sends.
    pub out: f64,
    /// What it receives.
    pub into: f64,
    /// To and from other sites, where that is not what the card has inside.
    pub wan_out: Option<f64>,
    /// The same for what comes from other sites.
    pub wan_into: Option<f64>,
}

/// From one site to another, in bytes a second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WayLimits {
    /// The site that sends.
    pub from: usize,
    /// The site that receives.
    pub to: usize,
    /// What one pair of hosts has.
    pub one: f64,
    /// What limits one connection, where that is not a card or what all share.
    pub connection: Option<f64>,
    /// What all share; `None` if nothing that was measured is limited by it.
    pub capacity: Option<f64>,
    /// The most that was seen.
    pub most: f64,
    /// The fewest pairs that get less than one pair alone.
    pub shared_from: Option<u32>,
    /// What it loses when many connections share it, beyond doubt.
    pub congestion: Congestion,
}

/// What limits hosts, ways between sites, and uplinks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// As in what was found.
    pub hosts: Vec<HostLimits>,
    /// From site to site, without those from a site to itself.
    pub ways: Vec<WayLimits>,
    /// What limits one connection inside a site, where that is not a card.
    pub inside: Vec<Option<f64>>,
    /// What all ways out of a site share, and all ways in.
    pub uplinks: Vec<[Option<f64>; 2]>,
    /// What all ways between sites share.
    pub all: Option<f64>,
}

impl Limits {
    /// What limits the way from one site to another.
    pub fn way(&self, from: usize, to: usize) -> Option<&WayLimits> {
        self.ways.iter().find(|way| (way.from, way.to) == (from, to))
    }
}

/// The limits that measured rates show.
pub fn limits(found: &Found) -> Limits {
    let sites = found.sites.len();
    let apart: Vec<(usize, usize)> =
        (0..sites).flat_map(|a| (0..sites).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    let mut loads = Loads::of(found);
    for &(from, to) in &apart {
        if let (curve, Some(peak)) = congestion(found, from, to) {
            loads.press(Part::Way(from, to), curve, peak);
        }
    }
    let cards = cards(found, &loads);
    let shared = Shared::of(found, &loads, &cards);
    let hosts = cards.iter().map(|[out, into]| HostLimits {
        out: out.rate,
        into: into.rate,
        wan_out: out.wan,
        wan_into: into.wan,
    });
    let uplink =
        |site: usize| [End::From, End::To].map(|end| shared.rate(&loads, Part::Uplink(site, end)));
    let inside =
        |site: usize| loads.limits_inside(site).then(|| loads.most(Part::Connection(site, site)));
    Limits {
        hosts: hosts.collect(),
        ways: apart.iter().filter_map(|&ends| way(found, &loads, &shared, ends)).collect(),
        inside: (0..sites).map(inside).collect(),
        uplinks: (0..sites).map(uplink).collect(),
        all: shared.rate(&loads, Part::All),
    }
}

/// What one pair has, from site to site.
fn one(found: &Found, from: usize, to: usize) -> Option<f64> {
    found.way(Kind::Pairs, from, to).next().map(|rated| rated.each.value)
}

fn way(
    found: &Found,
    loads: &Loads,
    shared: &Shared,
    (from, to): (usize, usize),
) -> Option<WayLimits> {
    let one = one(found, from, to)?;
    let most = found.fullest(from, to).map_or(one, Rated::sum);
    let (congestion, peak) = congestion(found, from, to);
    let falls_short = |row: &&Rated| row.sum_between()[1] < NARROWER * found.expected(&row.flows);
    let first_shared = found.way(Kind::Pairs, from, to).find(falls_short);
    let capacity = peak.or(shared.rate(loads, Part::Way(from, to)));
    Some(WayLimits {
        from,
        to,
        one,
        connection: shared.rate(loads, Part::Connection(from, to)),
        capacity,
        most,
        shared_from: first_shared.map(|row| row.flows.len() as u32),
        congestion,
    })
}

/// What a way loses with more connections than those that have the most together, and that most.
/// More pairs have more cards and more connections, so that only the way itself can make them have
/// less; it counts where intervals leave no doubt.
fn congestion(found: &Found, from: usize, to: usize) -> (Congestion, Option<f64>) {
    let mut rows: Vec<&Rated> =
        [Kind::Pairs, Kind::Many].into_iter().flat_map(|kind| found.way(kind, from, to)).collect();
    rows.sort_by_key(|row| row.flows.len());
    let place = (0..rows.len()).rev().max_by(|&a, &b| rows[a].sum().total_cmp(&rows[b].sum()));
    let Some(place) = place else { return Default::default() };
    let (peak, beyond) = (rows[place], &rows[place + 1..]);
    let falls = |row: &&Rated| row.sum_between()[1] < NARROWER * peak.sum_between()[0];
    if !beyond.iter().any(falls) {
        return Default::default();
    }
    let mut points: Vec<(u32, f64)> = Vec::new();
    if peak.flows.len() > 1 {
        points.push((peak.flows.len() as u32, 1.0));
    }
    for row in beyond {
        let (flows, before) = (row.flows.len() as u32, points.last().copied().unwrap_or((1, 1.0)));
        if flows > before.0 {
            points.push((flows, (row.sum() / peak.sum()).min(before.1)));
        }
    }
    match Congestion::new(points) {
        Ok(curve) => (curve, Some(peak.sum())),
        Err(_) => Default::default(),
    }
}
