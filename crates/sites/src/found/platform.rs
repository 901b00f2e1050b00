//! A measured network as a platform: what `--platform`, `--sites` and the lab read.

use std::fmt::Write;

use laneway_measure::sites::{Costs, End, Found, Kind, NARROWER, Row};

use super::costs::costs;
use super::limits::{HostLimits, Limits, WayLimits};

/// Rates nearer than this part are written as one.
const ALIKE: f64 = 0.1;

/// And latencies between sites, which say whom a root serves first: measuring must not order sites
/// that are equally far.
const AS_FAR: f64 = 0.03;

/// A latency is at least this part of what was measured, whatever processors take.
const LEAST_LATENCY: f64 = 0.1;

/// Names of a platform have at most so many letters.
const MOST_LETTERS: usize = 64;

/// The text of a platform file with the hosts in the order of their ranks.
pub fn platform_text(found: &Found, limits: &Limits) -> String {
    let mut text = String::from(NOT_MEASURED);
    let _ = writeln!(text, "eager = \"{}\"", found.eager_bytes);
    if let Some(bytes @ 1..) = found.header_bytes {
        let _ = writeln!(text, "header = {bytes}");
    }
    match (go_beside_each_other(found, limits), found.connections) {
        (true, _) => text.push_str("in-order = false\n"),
        (false, Some(count @ 2..)) => {
            let _ = writeln!(text, "connections = {count}");
        }
        _ => {}
    }
    if found.by_latency == Some(true) {
        text.push_str("sharing = \"by-latency\"\n");
    }
    let words: Vec<String> =
        not_looked_for(found, limits).iter().map(|word| format!("\"{word}\"")).collect();
    if !words.is_empty() {
        let _ = writeln!(text, "not-looked-for = [{}]", words.join(", "));
    }
    let two = found.sites.len() == 2;
    for (site, name) in found.sites.iter().enumerate() {
        let latency = microseconds(way_latency(found, site, site));
        let _ = write!(text, "\n[[site]]\nname = \"{}\"\nlatency = \"{latency}\"\n", plain(name));
        if let Some(limit) = limits.inside[site] {
            let _ = writeln!(text, "connection = \"{}\"", rate(limit));
        }
        // Two directions of two sites that differ are the two ways out.
        let apart = two.then(|| one_way(limits, site, 1 - site)).flatten();
        let [out, into] = limits.uplinks[site];
        for (key, value) in [("uplink-out", out.or(apart)), ("uplink-in", into)] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} = \"{}\"", rate(value));
            }
        }
        let way = apart.and_then(|_| limits.way(site, 1 - site));
        if let Some(curve) = way.map(|way| &way.congestion).filter(|curve| !curve.is_none()) {
            let _ = writeln!(text, "congestion = \"{curve}\"");
        }
    }
    let (costs, _) = costs(found);
    for (place, (host, own)) in found.hosts.iter().zip(&limits.hosts).enumerate() {
        let (name, site) = (plain(&host.name), plain(&found.sites[host.site]));
        let _ = write!(text, "\n[[host]]\nname = \"{name}\"\nsite = \"{site}\"\n");
        card(&mut text, ["rate", "rate-out", "rate-in"], [own.out, own.into]);
        let HostLimits { wan_out, wan_into, .. } = *own;
        if wan_out.is_some() || wan_into.is_some() {
            let rates = [wan_out.unwrap_or(own.out), wan_into.unwrap_or(own.into)];
            card(&mut text, ["wan-rate", "wan-rate-out", "wan-rate-in"], rates);
        }
        if let Some(own) = costs.get(place).filter(|own| **own != Costs::default()) {
            cost(&mut text, own);
        }
    }
    if let Some(all) = limits.all {
        let _ = write!(text, "\n[wan]\naggregate = \"{}\"\n", rate(all));
    }
    for (ends, latency) in distances(found) {
        between(&mut text, found, limits, ends, latency);
    }
    text
}

fn cost(text: &mut String, own: &Costs) {
    let seconds = |seconds: f64| format!("{:.6}us", seconds * 1e6);
    let (send, receive) = (seconds(own.per_send), seconds(own.per_receive));
    let _ = writeln!(text, "send = \"{send}\"\nreceive = \"{receive}\"");
    let bytes =
        [("per-byte-sent", own.per_byte_sent), ("per-byte-received", own.per_byte_received)];
    for (key, value) in bytes {
        if let Some(value) = value.filter(|value| *value > 0.0) {
            let _ = writeln!(text, "{key} = \"{:.9}us\"", value * 1e6);
        }
    }
}

/// The latency between two sites, or inside one, without what processors and bytes add.
fn way_latency(found: &Found, a: usize, b: usize) -> f64 {
    let (all, _) = costs(found);
    let of =
        |host: &usize| all.get(*host).map_or(0.0, |own| (own.per_send + own.per_receive) / 2.0);
    let middle = |site: usize| {
        let own: Vec<f64> = found.members(site).iter().map(of).collect();
        laneway_stats::median(&own).unwrap_or(0.0)
    };
    let latency = found.wire_latency(a, b);
    (latency - middle(a) - middle(b)).max(LEAST_LATENCY * latency)
}

/// The latency between any two sites; of those that are alike, their mean.
fn distances(found: &Found) -> Vec<([usize; 2], f64)> {
    let sites = found.sites.len();
    let ends = (0..sites).flat_map(|a| (a + 1..sites).map(move |b| [a, b]));
    let mut all: Vec<([usize; 2], f64)> =
        ends.map(|[a, b]| ([a, b], way_latency(found, a, b))).collect();
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut rest = &mut all[..];
    while let Some(&(_, nearest)) = rest.first() {
        let count = rest.partition_point(|(_, latency)| *latency <= (1.0 + AS_FAR) * nearest);
        let (alike, others) = rest.split_at_mut(count.max(1));
        let mean = alike.iter().map(|(_, latency)| latency).sum::<f64>() / alike.len() as f64;
        alike.iter_mut().for_each(|(_, latency)| *latency = mean);
        rest = others;
    }
    all.sort_by_key(|(ends, _)| *ends);
    all
}

const NOT_MEASURED: &str = "\
# Measured by `laneway sites measure`; hosts are in the order of ranks. A latency is half a round
# trip without what processors and bytes add. Not measured: what a switch carries altogether,
# receive buffers, whether the two directions of a way share it, and what `not-looked-for` names.
";

/// What no measurement tells here, and choices may depend on.
pub fn not_looked_for(found: &Found, limits: &Limits) -> Vec<&'static str> {
    let is_limited = limits.ways.iter().any(|way| way.connection.is_some());
    let connections = is_limited && found.connections.is_none() && found.pairs_repeat != Some(true);
    let sites = 0..found.sites.len();
    let mut uplinks = sites.flat_map(|site| [(site, End::From), (site, End::To)]);
    let uplinks = uplinks.any(|(site, end)| {
        let limit = limits.uplinks[site][end as usize];
        limit.is_some() && !keeps_rate(found, site, end)
    });
    let all = [
        ("congestion", found.sites.len() > 2 && uplinks),
        ("connections", connections),
        ("costs", !costs(found).1),
        ("sharing", found.by_latency.is_none()),
    ];
    all.into_iter().filter(|(_, is_open)| *is_open).map(|(word, _)| word).collect()
}

/// Whether an uplink was seen to have as much with several times the connections.
fn keeps_rate(found: &Found, site: usize, end: End) -> bool {
    let kind = if end == End::From { Kind::Out } else { Kind::Into };
    let own = found.rows.iter().filter(|row| row.kind == kind);
    let own: Vec<&Row> = own.filter(|row| [row.from, row.to] == end.meeting(site)).collect();
    let [few, .., many] = own[..] else { return false };
    many.rated.flows.len() >= 2 * few.rated.flows.len()
        && many.rated.sum_between()[1] >= NARROWER * few.rated.sum_between()[0]
}

/// Whether messages of one pair of hosts have more together than one of them, as if each had a
/// connection of its own.
fn go_beside_each_other(found: &Found, limits: &Limits) -> bool {
    let more = || {
        limits.ways.iter().any(|way| {
            let pairs = found.members(way.from).len() * found.members(way.to).len();
            let mut rows = found.way(Kind::Many, way.from, way.to);
            rows.any(|row| row.sum_between()[0] > way.one * pairs as f64 / NARROWER)
        })
    };
    found.pairs_repeat.unwrap_or_else(more)
}

/// Rates of the two directions, or one key for both.
fn card(text: &mut String, [both, out, into]: [&str; 3], rates: [f64; 2]) {
    let _ = match same(rates[0], rates[1]) {
        true => writeln!(text, "{both} = \"{}\"", rate((rates[0] + rates[1]) / 2.0)),
        false => {
            let (sent, received) = (rate(rates[0]), rate(rates[1]));
            writeln!(text, "{out} = \"{sent}\"\n{into} = \"{received}\"")
        }
    };
}

/// What one direction of two sites has, where the other has something else.
fn one_way(limits: &Limits, from: usize, to: usize) -> Option<f64> {
    let (there, back) = (limits.way(from, to)?, limits.way(to, from)?);
    match (there.capacity, back.capacity) {
        (Some(there), Some(back)) if same(there, back) => None,
        (there, _) => there,
    }
}

fn between(text: &mut String, found: &Found, limits: &Limits, ends: [usize; 2], latency: f64) {
    let ([a, b], latency) = (ends, microseconds(latency));
    let names = [a, b].map(|site| plain(&found.sites[site]));
    let [one, other] = &names;
    let _ =
        write!(text, "\n[[between]]\nsites = [\"{one}\", \"{other}\"]\nlatency = \"{latency}\"\n");
    let (Some(there), Some(back)) = (limits.way(a, b), limits.way(b, a)) else { return };
    let direction = |way: &WayLimits| {
        format!("{} to {}", names[usize::from(way.from != a)], names[usize::from(way.to != a)])
    };
    let mut both = |key: &str, rates: [Option<f64>; 2]| {
        let smaller = match rates {
            [Some(there), Some(back)] if same(there, back) => Some((there + back) / 2.0),
            [there, back] => there.into_iter().chain(back).reduce(f64::min),
        };
        let Some(smaller) = smaller else { return };
        if let [Some(one), Some(other)] = rates
            && !same(one, other)
        {
            let (there, back) = (direction(there), direction(back));
            let (one, other) = (rate(one), rate(other));
            let _ = writeln!(text, "# {key} {there}: {one}; {back}: {other}; the format has one");
        }
        let _ = writeln!(text, "{key} = \"{}\"", rate(smaller));
    };
    both("connection", [there.connection, back.connection]);
    let own = |way: &WayLimits| {
        // What a site's uplink limits tells nothing of what is behind it.
        let uplinks = [limits.uplinks[way.from][0], limits.uplinks[way.to][1]];
        let hidden = uplinks
            .into_iter()
            .flatten()
            .any(|uplink| way.capacity.is_some_and(|capacity| capacity >= (1.0 - ALIKE) * uplink));
        way.capacity.filter(|_| !hidden)
    };
    let is_asymmetric = found.sites.len() == 2
        && (one_way(limits, a, b).is_some() || one_way(limits, b, a).is_some());
    if !is_asymmetric {
        both("rate", [own(there), own(back)]);
        if own(there).or(own(back)).is_some() {
            congestion(text, [there, back]);
        }
    }
}

/// What both directions lose when many connections share them: that of the one that loses more.
fn congestion(text: &mut String, ways: [&WayLimits; 2]) {
    let least = |way: &WayLimits| way.congestion.part(usize::MAX);
    let [there, back] = ways;
    let more = if least(back) < least(there) { back } else { there };
    if more.congestion.is_none() {
        return;
    }
    let less = if more == back { there } else { back };
    if !same(least(more), least(less)) {
        let _ = writeln!(text, "# congestion of one direction only; the format has one");
    }
    let _ = writeln!(text, "congestion = \"{}\"", more.congestion);
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= ALIKE * one.min(other)
}

fn rate(bytes_per_second: f64) -> String {
    format!("{:.6}MB/s", bytes_per_second / 1e6)
}

fn microseconds(seconds: f64) -> String {
    format!("{:.3}us", seconds * 1e6)
}

/// A name as platforms take it.
fn plain(name: &str) -> String {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    };
    let plain: String = name.chars().take(MOST_LETTERS).map(letter).collect();
    if plain.is_empty() { "unnamed".into() } else { plain }
}
