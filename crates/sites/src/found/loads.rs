//! What each measured row asks of the parts of a network: cards, connections, ways and uplinks.
//!
//! A part has at least what was seen to pass it in any row. Of the parts on the way of a flow, one
//! is full; a part that passed more in another row is not the one.

use std::collections::BTreeMap;

use laneway_core::Rank;
use laneway_measure::sites::{Costs, End, Flow, Found, Kind, NARROWER, Rated, Row, steady};
use laneway_sim::Congestion;

use super::costs::costs;

/// Flows arrive at once that have this part of each other's rate.
const AT_ONCE: f64 = 0.95;
/// Of the time of a message, processors have at most so much: else a cost was not measured well.
const MOST_COST: f64 = 0.9;

/// Something that limits flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// What a host has inside its site.
    Lan(usize, End),
    /// What it has to other sites.
    Wan(usize, End),
    /// What it has altogether.
    Card(usize, End),
    /// One connection from a site to another, or inside one.
    Connection(usize, usize),
    /// All from a site to another.
    Way(usize, usize),
    /// All from a site, or to it.
    Uplink(usize, End),
    /// All between sites.
    All,
}

/// A flow of a row by the hosts at its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub from: usize,
    pub to: usize,
    /// Of each, its site.
    pub sites: [usize; 2],
    pub rate: f64,
}

impl Passing {
    pub fn is_local(&self) -> bool {
        self.sites[0] == self.sites[1]
    }

    fn parts(&self) -> Vec<Part> {
        let Passing { from, to, sites: [a, b], .. } = *self;
        let cards = [Part::Card(from, End::From), Part::Card(to, End::To)];
        let own = match self.is_local() {
            true => vec![Part::Lan(from, End::From), Part::Lan(to, End::To)],
            false => vec![
                Part::Wan(from, End::From),
                Part::Wan(to, End::To),
                Part::Way(a, b),
                Part::Uplink(a, End::From),
                Part::Uplink(b, End::To),
                Part::All,
            ],
        };
        cards.into_iter().chain(own).collect()
    }
}

/// What the flows of one row ask of parts.
pub(super) struct Load {
    pub flows: Vec<Passing>,
    sums: BTreeMap<Part, f64>,
    /// The rates of the flows that pass each part, where they may be under way at different times:
    /// the sum is what they would have if all were to the end.
    apart: BTreeMap<Part, Vec<f64>>,
    counts: BTreeMap<Part, usize>,
    /// The ends of the interval, as parts of the value.
    low: f64,
    high: f64,
}

/// What a part passed in the row in which it passed the most.
#[derive(Clone, Copy, Default)]
struct Most {
    value: f64,
    /// At the lower end of the interval.
    low: f64,
}

/// All rows, and the most that each part passed in any of them.
pub(super) struct Loads {
    pub rows: Vec<Load>,
    most: BTreeMap<Part, Most>,
    /// Of congested parts, the curve and the rate of which it gives parts.
    curves: BTreeMap<Part, (Congestion, f64)>,
}

impl Loads {
    pub fn of(found: &Found) -> Loads {
        let hosts: BTreeMap<Rank, usize> =
            found.hosts.iter().enumerate().map(|(place, host)| (host.rank, place)).collect();
        let (costs, _) = costs(found);
        let rows: Vec<Load> =
            found.rows.iter().map(|row| load(found, &costs, &hosts, row)).collect();
        let mut most = BTreeMap::new();
        let mut more = |part: Part, value: f64, low: f64| {
            let most: &mut Most = most.entry(part).or_default();
            *most = Most { value: most.value.max(value), low: most.low.max(value * low) };
        };
        for row in &rows {
            for (part, sum) in &row.sums {
                let steady = row.apart.get(part).map(|rates| steady(rates));
                more(*part, steady.unwrap_or(*sum), row.low);
            }
            for flow in &row.flows {
                let [a, b] = flow.sites;
                more(Part::Connection(a, b), flow.rate, row.low);
            }
        }
        Loads { rows, most, curves: BTreeMap::new() }
    }

    /// Says that a part has less than `rate` where many flows share it.
    pub fn press(&mut self, part: Part, curve: Congestion, rate: f64) {
        self.curves.insert(part, (curve, rate));
    }

    /// The most that a part passed.
    pub fn most(&self, part: Part) -> f64 {
        self.most.get(&part).map_or(0.0, |most| most.value)
    }

    /// Whether connections inside a site are limited: some flow has less than both hosts have there
    /// together with other flows.
    pub fn limits_inside(&self, site: usize) -> bool {
        let part = Part::Connection(site, site);
        self.rows.iter().any(|row| {
            let own = row.flows.iter().filter(|flow| flow.sites == [site; 2]);
            own.into_iter().any(|flow| {
                let ends = [Part::Lan(flow.from, End::From), Part::Lan(flow.to, End::To)];
                let is_full = |part: Part| self.may_be_full(row, flow, part);
                is_full(part) && !ends.into_iter().any(is_full)
            })
        })
    }

    /// Whether all ways share something: of the flows of all ways at once, at least half are
    /// limited by nothing else.
    pub fn is_all_full(&self, found: &Found) -> bool {
        let two = found.sites.len() == 2;
        let own = |flow: &Passing| {
            let mut parts = flow.parts();
            parts.push(Part::Connection(flow.sites[0], flow.sites[1]));
            // Between two sites the uplinks are the way.
            parts.retain(|part| *part != Part::All && !(two && matches!(part, Part::Uplink(..))));
            parts
        };
        let all = found.rows.iter().zip(&self.rows).filter(|(row, _)| row.kind == Kind::All);
        all.into_iter().any(|(_, row)| {
            let is_open = |flow: &&Passing| {
                let is_full = |part: &Part| self.may_be_full(row, flow, *part);
                is_full(&Part::All) && !own(flow).iter().any(is_full)
            };
            let open = row.flows.iter().filter(is_open).count();
            open > 0 && 2 * open >= row.flows.len()
        })
    }

    /// Whether a part on the way of a flow of a row may be full there: no other row passed more.
    pub fn may_be_full(&self, row: &Load, flow: &Passing, part: Part) -> bool {
        let sum = match part {
            Part::Connection(..) => flow.rate,
            _ => row.sums.get(&part).copied().unwrap_or(0.0),
        };
        let flows = row.counts.get(&part).copied().unwrap_or(1);
        let most = self.most.get(&part).map_or(0.0, |most| most.low);
        let pressed = match self.curves.get(&part) {
            Some((curve, rate)) => curve.part(flows) * rate.min(most),
            None => most,
        };
        sum * row.high >= NARROWER * pressed
    }
}

fn load(found: &Found, costs: &[Costs], hosts: &BTreeMap<Rank, usize>, row: &Row) -> Load {
    let Rated { flows, each, .. } = &row.rated;
    let part = |end: f64| if each.value > 0.0 { end / each.value } else { 1.0 };
    let (low, high) = each.interval.map_or((1.0, 1.0), |i| (part(i.low), part(i.high)));
    let counts = BTreeMap::new();
    let is_apart = found.may_be_unequal(row);
    let mut load =
        Load { flows: vec![], sums: BTreeMap::new(), apart: BTreeMap::new(), counts, low, high };
    let place = |flow: &Flow| hosts.get(&flow.from).copied().zip(hosts.get(&flow.to).copied());
    // Beside each other flows have different lengths: only their sum is known.
    let beside = match row.kind {
        Kind::OutBeside => Some(End::From),
        Kind::IntoBeside => Some(End::To),
        _ => None,
    };
    if let Some(end) = beside {
        if let Some(ends) = flows.first().and_then(place) {
            let host = end.of([ends.0, ends.1]);
            load.sums.insert(Part::Card(host, end), row.rated.steady());
            (load.low, load.high) = together(&row.rated);
        }
        return load;
    }
    for (number, flow) in flows.iter().enumerate() {
        let Some((from, to)) = place(flow) else { continue };
        let sites = [from, to].map(|host| found.hosts[host].site);
        let rate = without_costs(costs, &row.rated, number, [from, to]);
        let passing = Passing { from, to, sites, rate };
        for part in passing.parts() {
            *load.sums.entry(part).or_default() += rate;
            *load.counts.entry(part).or_default() += 1;
            if is_apart {
                load.apart.entry(part).or_default().push(rate);
            }
        }
        load.flows.push(passing);
    }
    load
}

/// What a flow has on the network, without what processors add: the sender prepares its messages
/// one after the other, and the receiver takes in all that arrive by then before it answers.
fn without_costs(costs: &[Costs], rated: &Rated, flow: usize, [from, to]: [usize; 2]) -> f64 {
    let rate = rated.rates[flow];
    let (Some(sent), Some(received)) = (costs.get(from), costs.get(to)) else { return rate };
    let faster = |end: End, than: f64| {
        let rank = end.of_flow(&rated.flows[flow]);
        let own = rated.flows.iter().zip(&rated.rates).filter(|(one, _)| end.of_flow(one) == rank);
        own.filter(|(_, other)| **other > than).count() as f64
    };
    let all = faster(End::From, 0.0);
    let part = if all > 1.0 { faster(End::From, rate) / (all - 1.0) } else { 1.0 };
    let arrived = faster(End::To, AT_ONCE * rate);
    let cost = part * sent.per_byte_sent.unwrap_or(0.0)
        + arrived * received.per_byte_received.unwrap_or(0.0);
    if cost * rate < MOST_COST { rate / (1.0 - cost * rate) } else { rate }
}

/// The ends of the interval of what all have together, as parts of the value.
fn together(rated: &Rated) -> (f64, f64) {
    let value = rated.together.value;
    rated
        .together
        .interval
        .filter(|_| value > 0.0)
        .map_or((1.0, 1.0), |interval| (interval.low / value, interval.high / value))
}
