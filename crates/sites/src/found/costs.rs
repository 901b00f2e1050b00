//! What processors add to messages, where it matters: as measured, and the costs of a byte from two
//! messages at once where no message leaves before it is asked for.

use laneway_measure::sites::{Costs, Found, Kind};
use laneway_stats::median;

/// Costs of processors below this part of a latency, or of the time of a byte, are left out.
const MATTERS: f64 = 0.02;
/// One message alone is explained if its time is so near to what follows from two.
const EXPLAINED: f64 = 0.05;
/// A later end by less than this part shows no cost of a byte.
const NOTHING: f64 = 0.01;
/// Two messages share a card if one takes less than this many times as long as the other.
const SHARED: f64 = 2.0;

/// The costs of each host, nothing where they do not matter; and whether those of a byte are known.
pub(super) fn costs(found: &Found) -> (Vec<Costs>, bool) {
    let mut all = found.costs.clone();
    let mut known = !all.is_empty() && all.iter().all(|own| own.per_byte_sent.is_some());
    if !all.is_empty()
        && !known
        && let Some([sent, received]) = costs_of_bytes(found)
    {
        known = true;
        for own in &mut all {
            (own.per_byte_sent, own.per_byte_received) = (Some(sent), Some(received));
        }
    }
    let sites = 0..found.sites.len();
    let inside = sites.map(|site| found.latency(site, site)).filter(|latency| *latency > 0.0);
    let across = (1..found.sites.len()).map(|site| found.latency(0, site));
    let least = inside.chain(across).fold(f64::INFINITY, f64::min);
    let fastest = (0..found.hosts.len()).flat_map(|host| found.card(host));
    let fastest = fastest.flatten().map(|card| card.value).fold(0.0, f64::max);
    let matters = |own: &Costs| {
        let bytes = own.per_byte_sent.unwrap_or(0.0) + own.per_byte_received.unwrap_or(0.0);
        own.per_send + own.per_receive > MATTERS * least || bytes * fastest > MATTERS
    };
    if !all.iter().any(matters) {
        all.fill(Costs::default());
    }
    (all, known)
}

/// Two messages that begin at one host and share its card: the processor prepares one after the
/// other, and the second is over later by what its bytes cost. Two that arrive at one host are
/// answered when both are taken in: they take longer by the receiver's cost. One message alone has
/// both costs, which tests the result.
fn costs_of_bytes(found: &Found) -> Option<[f64; 2]> {
    let (mut apart, mut leaving, mut arriving, mut alone) = (vec![], vec![], vec![], vec![]);
    for row in found.rows.iter().filter(|row| row.from.is_some() && row.from == row.to) {
        let times: Vec<f64> = row.rated.rates.iter().map(|rate| 1.0 / rate).collect();
        match (row.kind, &times[..]) {
            (Kind::Inside, [time]) => alone.push(*time),
            (Kind::FromOne, [one, other]) if one.max(*other) < SHARED * one.min(*other) => {
                apart.push((one - other).abs());
                leaving.push(one.max(*other));
            }
            (Kind::ToOne, [one, other]) if one.max(*other) < SHARED * one.min(*other) => {
                arriving.push(one.max(*other));
            }
            _ => {}
        }
    }
    // Where nothing is added, some two are over at once, whatever other partners have.
    let mut parts: Vec<f64> = apart.iter().zip(&leaving).map(|(more, all)| more / all).collect();
    parts.sort_by(f64::total_cmp);
    if parts.get(parts.len() / 4).is_some_and(|part| *part < NOTHING) {
        return Some([0.0; 2]);
    }
    let (sent, leaving) = (median(&apart)?, median(&leaving)?);
    let received = (median(&arriving)? - leaving).max(0.0);
    let expected = (leaving - sent - received) / 2.0 + sent + received;
    ((expected / median(&alone)? - 1.0).abs() < EXPLAINED).then_some([sent, received])
}
