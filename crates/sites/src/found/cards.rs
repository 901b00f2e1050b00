//! The cards of each host: what it sends and receives, and whether it has a second card for other
//! sites.

use laneway_measure::sites::{End, Found, Kind, NARROWER, Rated};
use laneway_stats::median;

use super::loads::{Load, Loads, Part, Passing};

/// Figures nearer than this part count as the same.
const ALIKE: f64 = 0.05;
/// Flows that have more than this part of their rate beside others are not squeezed by them.
const KEPT: f64 = 0.8;

/// One direction of a host's cards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    /// To or from hosts of its site, or to all where there is one card.
    pub rate: f64,
    /// To or from other sites, where that is another card.
    pub wan: Option<f64>,
    /// Whether the second card was seen to be full.
    pub wan_was_full: bool,
}

/// What both directions of each host have.
pub(super) fn cards(found: &Found, loads: &Loads) -> Vec<[Direction; 2]> {
    let hosts = 0..found.hosts.len();
    let mut all: Vec<[Direction; 2]> = hosts
        .map(|host| [End::From, End::To].map(|end| direction(found, loads, host, end)))
        .collect();
    for (site, end) in (0..found.sites.len()).flat_map(|site| [(site, End::From), (site, End::To)])
    {
        like_first(found, loads, &mut all, site, end);
    }
    for (site, end) in (0..found.sites.len()).flat_map(|site| [(site, 0), (site, 1)]) {
        let members = found.members(site);
        level(&mut all, &members, end, |own| Some(&mut own.rate));
        level(&mut all, &members, end, |own| own.wan.as_mut());
    }
    all
}

/// Hosts whose flows across are too slow to show whose card they pass are like the first of their
/// site, where its card is like theirs.
fn like_first(found: &Found, loads: &Loads, all: &mut [[Direction; 2]], site: usize, end: End) {
    let members = found.members(site);
    let Some((&first, others)) = members.split_first() else { return };
    let Direction { rate, wan: Some(second), .. } = all[first][end as usize] else { return };
    for &host in others {
        let own = &mut all[host][end as usize];
        let is_like = (own.rate - rate).abs() <= ALIKE * rate;
        let far = [first, host].map(|host| loads.most(Part::Wan(host, end)));
        let as_far = (far[0] - far[1]).abs() <= ALIKE * far[0];
        if own.wan.is_none() && is_like && as_far && beside(found, host, end).is_none() {
            own.wan = Some(second);
        }
    }
}

/// What a host has inside and across at once, where that was measured.
fn beside(found: &Found, host: usize, end: End) -> Option<&Rated> {
    let kind = if end == End::From { Kind::OutBeside } else { Kind::IntoBeside };
    let rank = found.hosts[host].rank;
    let own = |rated: &&Rated| rated.flows.first().is_some_and(|flow| end.of_flow(flow) == rank);
    found.rows.iter().filter(|row| row.kind == kind).map(|row| &row.rated).find(own)
}

/// Rates of a site's hosts near the middle one are taken for the same: what they differ by is the
/// measurement's.
fn level(
    all: &mut [[Direction; 2]],
    members: &[usize],
    end: usize,
    rate: impl Fn(&mut Direction) -> Option<&mut f64>,
) {
    let rates: Vec<f64> =
        members.iter().filter_map(|&host| rate(&mut all[host][end]).copied()).collect();
    let Some(middle) = median(&rates) else { return };
    for &host in members {
        if let Some(own) = rate(&mut all[host][end])
            && (*own - middle).abs() <= ALIKE * middle
        {
            *own = middle;
        }
    }
}

fn direction(found: &Found, loads: &Loads, host: usize, end: End) -> Direction {
    let [lan, wan, both] =
        [Part::Lan, Part::Wan, Part::Card].map(|part| loads.most(part(host, end)));
    let one = Direction { rate: both, wan: None, wan_was_full: false };
    let ends = |flow: &Passing| end.of([flow.from, flow.to]) == host;
    // Rows in which some flow of this host is not limited by what one card for all would be.
    let unexplained = |is_local: bool, explained: &dyn Fn(&Load, &Passing) -> bool| {
        loads.rows.iter().any(|row| {
            let own = row.flows.iter().filter(|flow| ends(flow) && flow.is_local() == is_local);
            let part = if is_local { Part::Lan(host, end) } else { Part::Wan(host, end) };
            own.into_iter().any(|flow| loads.may_be_full(row, flow, part) && !explained(row, flow))
        })
    };
    let inside = Part::Connection(found.hosts[host].site, found.hosts[host].site);
    let is_limited = loads.limits_inside(found.hosts[host].site);
    let by_cards = |row: &Load, flow: &Passing| {
        let cards = [Part::Card(flow.from, End::From), Part::Card(flow.to, End::To)];
        let inside = (is_limited && flow.is_local()).then_some(inside);
        cards.into_iter().chain(inside).any(|part| loads.may_be_full(row, flow, part))
    };
    let is_all_full = loads.is_all_full(found);
    let by_others = |row: &Load, flow: &Passing| {
        let [a, b] = flow.sites;
        let far = Part::Wan(end.other().of([flow.from, flow.to]), end.other());
        let shared = [Part::Connection(a, b), Part::Way(a, b), far];
        let uplinks = [Part::Uplink(a, End::From), Part::Uplink(b, End::To)];
        let all = is_all_full.then_some(Part::All);
        shared.into_iter().chain(uplinks).chain(all).any(|part| loads.may_be_full(row, flow, part))
    };
    // Some flow inside is limited by this host's card, and not by its partner's.
    let is_shown = unexplained(true, &|row, flow| {
        let other = end.other();
        loads.may_be_full(row, flow, Part::Card(other.of([flow.from, flow.to]), other))
            || is_limited && loads.may_be_full(row, flow, inside)
    });
    let lan_is_less = lan > 0.0 && lan < NARROWER * both && unexplained(true, &by_cards);
    let wan_was_full = unexplained(false, &|row, flow| by_others(row, flow));
    let wan_is_less = wan > 0.0
        && wan < NARROWER * both
        && unexplained(false, &|row, flow| by_cards(row, flow) || by_others(row, flow));
    let other =
        wan > 0.0 && (lan_is_less || wan_is_less || is_shown && is_beside(found, host, end));
    match other {
        false if both <= lan.max(wan) / NARROWER => Direction { rate: lan.max(wan), ..one },
        false => one,
        true => {
            let wan_was_full = wan_was_full && (wan_is_less || wan > lan / NARROWER);
            let assumed = if wan_was_full { wan } else { wan.max(lan) };
            Direction { rate: lan, wan: Some(assumed), wan_was_full }
        }
    }
}

/// Whether flows across have a card of their own beside those inside. Flows that would be squeezed
/// on one card, and are not, have. Else: with two cards, half of what crosses comes on top of the
/// flows inside; with one, nothing: a quarter decides.
fn is_beside(found: &Found, host: usize, end: End) -> bool {
    let rated = beside(found, host, end);
    let Some((rated, across)) = rated.zip(found.across(host, end)) else { return false };
    let near = found.hosts[host].site;
    let site = |rank| found.hosts.iter().find(|host| host.rank == rank).map(|host| host.site);
    let far = rated.flows.iter().zip(&rated.rates);
    let far = far.filter(|(flow, _)| site(end.other().of_flow(flow)) != Some(near));
    let far: Vec<f64> = far.map(|(_, rate)| *rate).collect();
    let across = across.first(far.len());
    let card = found.card_rates(host)[end as usize];
    match found.is_squeezed(&across, card, near) {
        true => far.iter().sum::<f64>() > KEPT * across.sum(),
        false => {
            // The time of the last answer has latency in it; the rates of flows have not.
            let together = &rated.together;
            let low = together.interval.map_or(1.0, |i| i.low / together.value);
            low * rated.steady() > card + across.least() / 4.0
        }
    }
}
