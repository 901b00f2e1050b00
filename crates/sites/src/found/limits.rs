//! Which limit a measured rate shows: a host's card, one connection, or what all of them share.
//!
//! Each rate is held against what the limits known so far would allow. What falls short of that
//! shows a limit of its own.

use laneway_core::Rank;
use laneway_measure::p2p::Estimate;
use laneway_measure::sites::{Found, Kind, NARROWER, Rated};
use laneway_sim::Congestion;

/// Figures nearer than this part count as the same.
const ALIKE: f64 = 0.05;
/// Flows that have more than this part of their rate beside others are not squeezed by them.
const KEPT: f64 = 0.8;

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
    /// What all ways out of a site share, and all ways in.
    pub uplinks: Vec<[Option<f64>; 2]>,
}

impl Limits {
    /// What limits the way from one site to another.
    pub fn way(&self, from: usize, to: usize) -> Option<&WayLimits> {
        self.ways.iter().find(|way| (way.from, way.to) == (from, to))
    }
}

/// Which way a host's bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    From,
    To,
}

/// The limits that measured rates show.
pub fn limits(found: &Found) -> Limits {
    let sites = found.sites.len();
    let mut limits = Limits { hosts: cards(found), ways: Vec::new(), uplinks: Vec::new() };
    for site in 0..sites {
        wan_cards(found, &mut limits, site);
    }
    let apart = (0..sites).flat_map(|a| (0..sites).map(move |b| (a, b))).filter(|(a, b)| a != b);
    limits.ways = apart.filter_map(|(from, to)| way(found, &limits, from, to)).collect();
    limits.uplinks = (0..sites)
        .map(|site| {
            [(Kind::Out, Some(site), None), (Kind::Into, None, Some(site))]
                .map(|(kind, from, to)| uplink(found, &limits, kind, [from, to]))
        })
        .collect();
    limits
}

/// What each host has inside its site. Hosts near the middle one of their site have its rate: what
/// they differ by is the measurement's.
fn cards(found: &Found) -> Vec<HostLimits> {
    let mut hosts =
        vec![HostLimits { out: 0.0, into: 0.0, wan_out: None, wan_into: None }; found.hosts.len()];
    for site in 0..found.sites.len() {
        let members = found.members(site);
        // A host that is alone has what it is seen to have to other sites.
        let alone = |host: usize| {
            let own = found.hosts[host].rank;
            let far = found.rows.iter().filter(|row| row.kind != Kind::Inside);
            let both =
                |rated: &Rated| through(rated, own, End::From).max(through(rated, own, End::To));
            far.map(|row| both(&row.rated)).fold(0.0, f64::max)
        };
        let middle = found.lan(site);
        let rate = |card: Option<Estimate>, host: usize| match (card, middle) {
            (Some(card), Some(middle)) if is_like(&card, middle) => middle,
            (Some(card), _) => card.value,
            (None, _) => alone(host),
        };
        for &host in &members {
            let [out, into] = found.card(host).map(|card| rate(card, host));
            hosts[host] = HostLimits { out, into, ..hosts[host] };
        }
    }
    hosts
}

/// Whether a card may have the rate that is usual in its site.
fn is_like(card: &Estimate, middle: f64) -> bool {
    let near = (card.value - middle).abs() <= ALIKE * middle;
    near || card.interval.is_some_and(|interval| interval.low <= middle && middle <= interval.high)
}

/// What the flows of one rank have.
fn through(rated: &Rated, rank: Rank, end: End) -> f64 {
    let of = rated.flows.iter().zip(&rated.rates).filter(|(flow, _)| match end {
        End::From => flow.from == rank,
        End::To => flow.to == rank,
    });
    of.map(|(_, rate)| rate).sum()
}

/// What one pair has, from site to site.
fn one(found: &Found, from: usize, to: usize) -> Option<f64> {
    found.way(Kind::Pairs, from, to).next().map(|rated| rated.each.value)
}

/// The cards for other sites of a site's hosts, which are taken to have the same.
fn wan_cards(found: &Found, limits: &mut Limits, site: usize) {
    let members = found.members(site);
    let HostLimits { out, into, .. } = limits.hosts[members[0]];
    let [wan_out, wan_into] =
        [(out, true), (into, false)].map(|(card, out)| wan_card(found, site, card, out));
    for host in members {
        limits.hosts[host].wan_out = wan_out;
        limits.hosts[host].wan_into = wan_into;
    }
}

/// Several connections of one host that have less than they should show a card for other sites; so
/// do those that have more than the card inside, alone or beside flows inside.
fn wan_card(found: &Found, site: usize, card: f64, out: bool) -> Option<f64> {
    let others = (0..found.sites.len()).filter(|other| *other != site);
    // Where several hosts have no more than this one, it is not its card that limits it.
    let own = |rated: &Rated, alone: f64, most: f64| {
        let [low, high] = rated.sum_between();
        let is_own = high < NARROWER * alone.min(card).min(most) || low > card / NARROWER;
        is_own.then(|| rated.sum())
    };
    let to_one_site = |other: usize| {
        let (from, to, kind) =
            if out { (site, other, Kind::FromOne) } else { (other, site, Kind::ToOne) };
        let rated = found.way(kind, from, to).next()?;
        let count = rated.flows.len();
        let most = found.fullest(from, to).map_or(f64::INFINITY, Rated::sum);
        // As many connections of several hosts may have less than fewer of them.
        let most = most * congestion(found, from, to).0.part(count);
        own(rated, one(found, from, to)? * count as f64, most)
    };
    let to_all = || {
        let ways = found.ways_of_first(site, out).into_iter().map(Rated::sum).sum();
        let (kind, ends) =
            if out { (Kind::Out, [Some(site), None]) } else { (Kind::Into, [None, Some(site)]) };
        let most = found.meeting(kind, ends).map_or(f64::INFINITY, Rated::sum);
        own(found.first_to_all(site, out)?, ways, most)
    };
    let seen = others.filter_map(to_one_site).chain(to_all()).reduce(f64::max);
    seen.or_else(|| has_another(found, site, card, out).then_some(card))
}

/// Flows that would be squeezed by those inside on one card, and are not, have another. Else: with
/// two cards, half of what crosses comes on top of the flows inside; with one, nothing: a quarter
/// decides. What nothing showed the limit of is taken to be like the card inside.
fn has_another(found: &Found, site: usize, card: f64, out: bool) -> bool {
    let (kind, ends) = match out {
        true => (Kind::OutBeside, [Some(site), None]),
        false => (Kind::IntoBeside, [None, Some(site)]),
    };
    let (beside, across) = (found.meeting(kind, ends), found.across(site, out));
    let Some((rated, across)) = beside.zip(across) else { return false };
    match found.is_squeezed(across, card, site) {
        true => {
            rated.rates.iter().rev().take(across.flows.len()).sum::<f64>() > KEPT * across.sum()
        }
        false => {
            let low = rated.together.interval.map_or(rated.together.value, |i| i.low);
            low > card + across.least() / 4.0
        }
    }
}

/// What flows would have if cards and their own connections were all that limits them.
fn expected(found: &Found, limits: &Limits, rated: &Rated, one: impl Fn(Rank, Rank) -> f64) -> f64 {
    let card = |rank: Rank, end: End| {
        let host = found.hosts.iter().position(|host| host.rank == rank);
        host.map_or(f64::INFINITY, |host| limits.hosts[host].wan(end))
    };
    let side = |end: End| -> f64 {
        let ranks =
            rated.flows.iter().map(|flow| if end == End::From { flow.from } else { flow.to });
        let mut ranks: Vec<Rank> = ranks.collect();
        ranks.sort_unstable();
        ranks.dedup();
        let own = |rank: Rank| {
            let flows = rated.flows.iter().filter(|flow| match end {
                End::From => flow.from == rank,
                End::To => flow.to == rank,
            });
            flows.map(|flow| one(flow.from, flow.to)).sum::<f64>().min(card(rank, end))
        };
        ranks.into_iter().map(own).sum()
    };
    side(End::From).min(side(End::To))
}

impl HostLimits {
    fn wan(&self, end: End) -> f64 {
        match end {
            End::From => self.wan_out.unwrap_or(self.out),
            End::To => self.wan_into.unwrap_or(self.into),
        }
    }
}

fn way(found: &Found, limits: &Limits, from: usize, to: usize) -> Option<WayLimits> {
    let one = one(found, from, to)?;
    let alone = |_: Rank, _: Rank| one;
    let falls_short =
        |rated: &Rated| rated.sum_between()[1] < NARROWER * expected(found, limits, rated, alone);
    let rows = || {
        let kinds = [Kind::Pairs, Kind::FromOne, Kind::ToOne, Kind::Many];
        kinds.into_iter().flat_map(|kind| found.way(kind, from, to))
    };
    let most = found.fullest(from, to).map_or(one, Rated::sum);
    let limited: Vec<f64> = rows().filter(|row| falls_short(row)).map(Rated::sum).collect();
    let (congestion, peak) = congestion(found, from, to);
    let capacity = peak.or(limited.into_iter().reduce(f64::max));
    let shared = found.way(Kind::Pairs, from, to).find(|row| falls_short(row));
    let first = |site: usize| &limits.hosts[found.members(site)[0]];
    let others = first(from).wan(End::From).min(first(to).wan(End::To));
    let others = others.min(capacity.unwrap_or(f64::INFINITY));
    Some(WayLimits {
        from,
        to,
        one,
        connection: (one < NARROWER * others).then_some(one),
        capacity,
        most,
        shared_from: shared.map(|row| row.flows.len() as u32),
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

/// What all ways of a site have together, where it is less than what each has alone.
fn uplink(found: &Found, limits: &Limits, kind: Kind, ends: [Option<usize>; 2]) -> Option<f64> {
    let rated = found.meeting(kind, ends)?;
    let site = |rank: Rank| found.hosts.iter().find(|host| host.rank == rank).map(|host| host.site);
    let alone = |from: Rank, to: Rank| {
        let way = site(from).zip(site(to)).and_then(|(from, to)| limits.way(from, to));
        way.map_or(f64::INFINITY, |way| way.one)
    };
    let cards = expected(found, limits, rated, alone);
    let ways = limits.ways.iter().filter(|way| match ends {
        [Some(site), _] => way.from == site,
        [_, to] => Some(way.to) == to,
    });
    let each: f64 = ways.map(|way| way.most).sum();
    (rated.sum_between()[1] < NARROWER * cards.min(each)).then(|| rated.sum())
}
