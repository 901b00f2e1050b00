//! A fitted model as a platform file: what was measured tonight is simulated tomorrow.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::error::ModelError;
use crate::hockney::Lines;
use crate::lmo::{Lmo, pairs};
use crate::model::{Fitted, Model, ModelKind};
use crate::parameter::Parameter;

/// The largest number of letters in a platform's name.
const MOST_LETTERS: usize = 48;

/// A byte that takes less than this is written as taking no time: platforms have no faster rate.
const LEAST_PER_BYTE: f64 = 1e-18;
/// The fastest rate of a platform.
const UNLIMITED: &str = "1000000TB/s";

const BY_SIZE: &str = "a platform has no way that depends on the size of a message";
const COSTS_BY_SIZE: &str = "a platform's hosts have costs that are linear in the size";
const GAPS: &str = "PLogP's gaps are no rates: a platform cannot have them";

impl ModelKind {
    /// Why no platform can be written from any model of this kind; none where one can.
    pub fn platform_objection(self) -> Option<&'static str> {
        match self {
            ModelKind::PLogP => Some(GAPS),
            ModelKind::HockneySegments => Some(BY_SIZE),
            ModelKind::Hockney | ModelKind::HockneyPairs | ModelKind::LogGp | ModelKind::Lmo => {
                None
            }
        }
    }
}

const INTRODUCTION: &str = "\
# Written from a fitted model; hosts are in the order of ranks. Each pair has its latency and what
# one message may have; a host has what it adds to a message and to a byte, and its card where
# several messages were seen to share it. Not in a model: what a switch carries altogether.
";

/// The text of a platform that the simulator, the sites and the lab read. Refuses what does not
/// hold.
pub fn platform_text(fitted: &Fitted) -> Result<String, ModelError> {
    fitted.quality.demand()?;
    let mut text = String::from(INTRODUCTION);
    let _ = writeln!(text, "eager = \"{}\"", fitted.eager_bytes);
    if matches!(&fitted.model, Model::Lmo(lmo) if !lmo.in_order) {
        text.push_str("in-order = false\n");
    }
    let names = names(&fitted.hosts);
    match &fitted.model {
        Model::Lmo(lmo) if !lmo.sizes.is_empty() => {
            return Err(ModelError::Refused { why: BY_SIZE.into() });
        }
        Model::Lmo(lmo) if !lmo.overheads.is_empty() => {
            return Err(ModelError::Refused { why: COSTS_BY_SIZE.into() });
        }
        Model::Lmo(lmo) => lmo_text(&mut text, lmo, &names),
        Model::Hockney(hockney) => {
            if hockney.lines.iter().any(|lines| lines.long.is_some()) {
                return Err(ModelError::Refused { why: BY_SIZE.into() });
            }
            let of = |i: u32, j: u32| {
                let Lines { short, .. } = hockney.lines(i, j);
                [short.startup, short.per_byte]
            };
            // A rank has one message at a time: its card is as fast as its fastest way.
            let fastest = |i: u32| {
                let others = (0..names.len() as u32).filter(|&j| j != i);
                others.map(|j| of(i, j)[1].value).fold(f64::INFINITY, f64::min)
            };
            for (name, i) in names.iter().zip(0..) {
                host_text(&mut text, name, &[], [Some(fastest(i)); 2]);
            }
            for [i, j] in pairs(names.len() as u32) {
                let [latency, per_byte] = of(i, j);
                let ends = [&names[i as usize], &names[j as usize]];
                route_text(&mut text, ends, latency.value, per_byte.value, true);
            }
        }
        Model::LogGp(loggp) => {
            let costs = [("send", loggp.send), ("receive", loggp.receive)];
            let _ = writeln!(text, "# The gap between messages is not in a platform.");
            for name in &names {
                host_text(&mut text, name, &costs, [Some(loggp.per_byte.value); 2]);
            }
            for [i, j] in pairs(names.len() as u32) {
                let ends = [&names[i as usize], &names[j as usize]];
                route_text(&mut text, ends, loggp.latency.value, loggp.per_byte.value, true);
            }
        }
        Model::PLogP(_) => return Err(ModelError::Refused { why: GAPS.into() }),
    }
    Ok(text)
}

fn lmo_text(text: &mut String, lmo: &Lmo, names: &[String]) {
    for (name, host) in names.iter().zip(&lmo.hosts) {
        let costs = [
            ("send", host.send),
            ("receive", host.receive),
            ("per-byte-sent", host.per_byte_sent),
            ("per-byte-received", host.per_byte_received),
        ];
        let cards = [host.card_out, host.card_in].map(|card| card.map(|card| card.value));
        host_text(text, name, &costs, cards);
    }
    for [i, j] in pairs(names.len() as u32) {
        let (pair, ends) = (lmo.pair(i, j), [&names[i as usize], &names[j as usize]]);
        let (latency, there, back) = (pair.latency.value, pair.there.value, pair.back.value);
        let shares = [pair.all_there, pair.all_back].map(|all| all.map(|all| all.value));
        if there == back && shares == [None; 2] {
            route_text(text, ends, latency, there, true);
            continue;
        }
        let ways =
            [(ends, there, shares[0], [i, j]), ([ends[1], ends[0]], back, shares[1], [j, i])];
        for (ends, per_byte, share, [from, to]) in ways {
            let Some(share) = share.and_then(rate) else {
                route_text(text, ends, latency, per_byte, false);
                continue;
            };
            // A link of its own, which its messages share.
            let link = format!("way-{from}-{to}");
            let _ = write!(text, "\n[[link]]\nname = \"{link}\"\nrate = \"{share}\"\n");
            way_text(text, ends, &link, latency, per_byte);
            text.push_str("both-ways = false\n");
        }
    }
}

fn host_text(text: &mut String, name: &str, costs: &[(&str, Parameter)], cards: [Option<f64>; 2]) {
    let _ = write!(text, "\n[[host]]\nname = \"{name}\"\n");
    for (key, cost) in costs {
        let _ = writeln!(text, "{key} = \"{}ns\"", cost.value * 1e9);
    }
    // A card has both rates or none: the direction that met no limit has the fastest rate there is.
    if cards.into_iter().any(|card| card.and_then(rate).is_some()) {
        for (key, card) in ["rate-out", "rate-in"].into_iter().zip(cards) {
            let rate = card.and_then(rate).unwrap_or_else(|| UNLIMITED.into());
            let _ = writeln!(text, "{key} = \"{rate}\"");
        }
    }
}

fn route_text(
    text: &mut String,
    [from, to]: [&String; 2],
    latency: f64,
    per_byte: f64,
    both_ways: bool,
) {
    if !text.contains("name = \"way\"") {
        // A way needs a link; this one limits nothing.
        text.push_str("\n[[link]]\nname = \"way\"\nrate = \"");
        text.push_str(UNLIMITED);
        text.push_str("\"\nshared = false\n");
    }
    way_text(text, [from, to], "way", latency, per_byte);
    if !both_ways {
        text.push_str("both-ways = false\n");
    }
}

fn way_text(text: &mut String, [from, to]: [&String; 2], link: &str, latency: f64, per_byte: f64) {
    let _ = write!(text, "\n[[route]]\nfrom = \"{from}\"\nto = \"{to}\"\nlinks = [\"{link}\"]\n");
    let _ = writeln!(text, "latency = \"{}ns\"", latency * 1e9);
    if let Some(rate) = rate(per_byte) {
        let _ = writeln!(text, "connection = \"{rate}\"");
    }
}

fn rate(per_byte: f64) -> Option<String> {
    (per_byte > LEAST_PER_BYTE).then(|| format!("{}B/s", 1.0 / per_byte))
}

/// A different name for each rank, as platforms take them.
fn names(hosts: &[String]) -> Vec<String> {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    };
    let mut taken = BTreeSet::new();
    let name = |(rank, host): (usize, &String)| {
        let plain: String = host.chars().take(MOST_LETTERS).map(letter).collect();
        let name = if plain.is_empty() { format!("host{rank}") } else { plain };
        // Several ranks of one host are hosts of their own here.
        let name = if taken.contains(&name) { format!("{name}-{rank}") } else { name };
        taken.insert(name.clone());
        name
    };
    hosts.iter().enumerate().map(name).collect()
}
