//! What processors add to messages, where it matters: as measured, and the costs of a byte from two
//! messages at once where no message leaves before it is asked for.

use laneway_measure::sites::{Costs, End, Found, Kind};
use laneway_stats::median;

/// Costs of processors below this part of a latency, or of the time of a byte, are left out.
const MATTERS: f64 = 0.02;
/// One message alone is explained if its time is so near to what follows from two.
const EXPLAINED: f64 = 0.05;
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
/// other, and the second is over later by what its bytes cost. So it is with two that arrive at one
/// host. One message alone has both costs, which tests the result.
fn costs_of_bytes(found: &Found) -> Option<[f64; 2]> {
    let mut seen = [Vec::new(), Vec::new()];
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for row in found.rows.iter().filter(|row| row.from.is_some() && row.from == row.to) {
        let rates = &row.rated.rates;
        let end = match row.kind {
            Kind::Inside => {
                times[2].push(1.0 / row.rated.each.value);
                continue;
            }
            Kind::FromOne => End::From,
            _ => End::To,
        };
        let [one, other] = rates[..] else { continue };
        let (slow, fast) = (1.0 / one.min(other), 1.0 / one.max(other));
        if fast > 0.0 && slow < SHARED * fast {
            seen[end as usize].push(slow - fast);
            times[end as usize].push(fast);
        }
    }
    let [sent, received] = [median(&seen[0])?, median(&seen[1])?];
    // The first of two that leave has the receiver's cost, the first of two that arrive has both.
    let (leaving, alone) = (median(&times[0])?, median(&times[2])?);
    let expected = (leaving - received) / 2.0 + sent + received;
    ((expected / alone - 1.0).abs() < EXPLAINED).then_some([sent, received])
}
