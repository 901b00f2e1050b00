//! Measured rates in the multi-lane paper's cost model: how many lanes, by which hosts, to which
//! site first. paper: multilane 4.3.

use laneway_measure::sites::{Found, Kind, Rated};

use crate::model::{Choice, Form, HostRates, ModelError, TwoSites, WanRate};

/// Latencies that differ by less than this factor are alike.
const ALIKE: f64 = 1.1;
/// A host with less than this part of the usual rate is a slow one.
const SLOWER: f64 = 0.8;

/// The number of lanes for one size of block, by each form of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// As the paper prints its formula.
    pub printed: Choice,
    /// With what the formula forgets.
    pub corrected: Choice,
    /// The figures that went into it.
    pub model: TwoSites,
}

/// The lanes for a root at one site and blocks of `block` bytes for the hosts of another.
pub fn lanes(found: &Found, near: usize, far: usize, block: u64) -> Result<Lanes, ModelError> {
    let model = TwoSites {
        near: found.members(near).len() as u32,
        far: found.members(far).len() as u32,
        block: block as f64,
        latency: found.latency(near, far),
        lan_latency: found.latency(near, near),
        overhead: 0.0,
        lan: found.lan(near).unwrap_or(f64::INFINITY),
        wan: WanRate::Measured(each(found, near, far)),
        rates: HostRates::default(),
    };
    let printed = model.best(Form::Printed)?;
    let corrected = model.best(Form::Corrected)?;
    Ok(Lanes { printed, corrected, model })
}

/// The rate of each of 1, 2, 3, … pairs; between two numbers that were measured, what all have
/// together is on a line.
fn each(found: &Found, from: usize, to: usize) -> Vec<f64> {
    let known: Vec<(f64, f64)> = found
        .way(Kind::Pairs, from, to)
        .map(|rated| (rated.flows.len() as f64, rated.sum()))
        .collect();
    let most = known.last().map_or(0, |(count, _)| *count as u32);
    let together = |count: f64| {
        let above = known.iter().position(|(one, _)| *one >= count).unwrap_or(0);
        let ((low, start), (high, end)) = (known[above.saturating_sub(1)], known[above]);
        let part = if high > low { (count - low) / (high - low) } else { 1.0 };
        start + part * (end - start)
    };
    (1..=most).map(|count| together(f64::from(count)) / f64::from(count)).collect()
}

/// The hosts of a site, as places among all hosts, in the order in which they should help to send
/// to another: by rank, and those that are clearly slower than most after all others.
pub fn helpers(found: &Found, site: usize, to: usize) -> Vec<usize> {
    let last: Option<&Rated> = found.way(Kind::Pairs, site, to).last();
    let far = |host: usize| {
        let own = found.hosts[host].rank;
        let rated = last?;
        let flow = rated.flows.iter().position(|flow| flow.from == own)?;
        Some(rated.rates[flow] / rated.each.value)
    };
    let near = |host: usize| Some(found.card(host)[0]?.value / found.lan(site)?);
    // Of what is usual here, inside the site or to the other one.
    let part = |host: usize| far(host).unwrap_or(1.0).min(near(host).unwrap_or(1.0)).min(SLOWER);
    let mut hosts = found.members(site);
    hosts.sort_by(|&a, &b| part(b).total_cmp(&part(a)));
    hosts
}

/// The other sites in the order in which a root at this one should serve them: the farthest first,
/// and of equally far ones that with the least rate.
pub fn order(found: &Found, site: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..found.sites.len()).filter(|other| *other != site).collect();
    let rate = |other: usize| found.fullest(site, other).map_or(0.0, Rated::sum);
    let far = |other: usize| (found.latency(site, other).max(1e-9).ln() / ALIKE.ln()).round();
    others.sort_by(|&a, &b| far(b).total_cmp(&far(a)).then(rate(a).total_cmp(&rate(b))));
    others
}
