//! What has changed in a watched fabric, cable by cable, in words.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use laneway_core::units::counted;

use crate::machine::recognise::Recognised;
use crate::wiring::fabric::Fabric;
use crate::wiring::{End, Port, Switch, Wiring};

/// Changes of one kind that a line names; all are counted.
const NAMED: usize = 4;

/// One end of a cable: a port, or a host, and what it belongs to.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    of: String,
}

/// A cable by the names of its two ends. The order of the ends is only for the reader.
#[derive(Clone, Debug)]
pub(super) struct Cable {
    near: Place,
    far: Place,
    /// Tells cables apart whose ports are not known, so that all are counted.
    number: usize,
}

impl Cable {
    fn key(&self) -> (&str, &str, usize) {
        let (one, other) = (self.near.name.as_str(), self.far.name.as_str());
        (one.min(other), one.max(other), self.number)
    }

    fn name(&self) -> String {
        format!("{} – {}", self.near.name, self.far.name)
    }

    fn parts(&self) -> [&str; 2] {
        [&self.near.of, &self.far.of]
    }
}

impl PartialEq for Cable {
    fn eq(&self, other: &Cable) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Cable {}

impl PartialOrd for Cable {
    fn partial_cmp(&self, other: &Cable) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cable {
    fn cmp(&self, other: &Cable) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Whether a switch has a host; its end of a cable is written first.
fn has_host(wiring: &dyn Wiring, switch: Switch) -> bool {
    (0..wiring.ports(switch) as Port).any(|port| matches!(wiring.end(switch, port), End::Host(_)))
}

/// Every cable once.
pub(super) fn cables(wiring: &dyn Wiring) -> BTreeSet<Cable> {
    let mut all = BTreeSet::new();
    let place = |switch: Switch, port: Port| Place {
        name: wiring.port_name(switch, port),
        of: wiring.switch_name(switch),
    };
    for switch in 0..wiring.switches() {
        for port in 0..wiring.ports(switch) as Port {
            let far = match wiring.end(switch, port) {
                End::Nothing => continue,
                // It is written at its other end.
                End::Switch(other, _) if has_host(wiring, other) && !has_host(wiring, switch) => {
                    continue;
                }
                End::Switch(other, its) => place(other, its),
                End::Host(host) => {
                    let name = wiring.host_name(host);
                    Place { name: name.clone(), of: name }
                }
            };
            all.insert(Cable { near: place(switch, port), far, number: 0 });
        }
    }
    all
}

/// The cables of the plan that a fabric follows and that it does not have, in the fabric's own
/// names. Where parts are known by their cables alone, nothing says which port a cable is missing
/// at, nor which host a switch lacks.
pub(super) fn missing(recognised: &Recognised, found: &Fabric) -> BTreeSet<Cable> {
    let (plan, map) = (&*recognised.plan, &recognised.map);
    let there = map.left(found, plan);
    let own: BTreeMap<Switch, String> = (0..)
        .zip(&map.switches)
        .filter_map(|(at, planned)| planned.map(|planned| (planned, found.switch_name(at))))
        .collect();
    let name =
        |switch: Switch| own.get(&switch).cloned().unwrap_or_else(|| plan.switch_name(switch));
    let place = |switch: Switch, port: Port| {
        let of = name(switch);
        let port = u32::from(port) + 1;
        Place { name: if map.by_name { format!("{of}/{port}") } else { of.clone() }, of }
    };
    let mut all = BTreeSet::new();
    for switch in 0..plan.switches() {
        for port in 0..plan.ports(switch) as Port {
            let far = match plan.end(switch, port) {
                _ if there.end(switch, port) != End::Nothing => continue,
                End::Nothing => continue,
                End::Switch(other, its) if (other, its) < (switch, port) => continue,
                End::Switch(other, its) => place(other, its),
                End::Host(host) => {
                    let known = map.by_name.then(|| plan.host_name(host));
                    let name = known.unwrap_or_else(|| "a host".to_string());
                    Place { name: name.clone(), of: name }
                }
            };
            let number = if map.by_name { 0 } else { all.len() };
            all.insert(Cable { near: place(switch, port), far, number });
        }
    }
    all
}

/// What is different from the fabric before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub lost: Vec<String>,
    pub restored: Vec<String>,
    pub new: Vec<String>,
}

impl Changes {
    /// From cables that were `gone` and those that were there `before` to those that are `gone_now`
    /// and those that are there `now`. Without a fabric before, everything that is gone is lost.
    pub(super) fn between(
        gone: &BTreeSet<Cable>,
        before: Option<&BTreeSet<Cable>>,
        gone_now: &BTreeSet<Cable>,
        now: &BTreeSet<Cable>,
    ) -> Changes {
        let lost: Vec<&Cable> = gone_now.difference(gone).collect();
        let fresh: Vec<&Cable> =
            before.map(|before| now.difference(before).collect()).unwrap_or_default();
        let (back, new): (Vec<&Cable>, Vec<&Cable>) =
            fresh.into_iter().partition(|cable| gone.contains(cable));
        let (whole, there) = (counts(now.union(gone_now)), counts(now));
        Changes {
            lost: in_words(&lost, &whole),
            restored: in_words(&back, &there),
            new: in_words(&new, &there),
        }
    }

    /// In one line: `lost A – B; restored C – D`.
    pub(super) fn line(&self) -> Option<String> {
        let kinds = [("lost", &self.lost), ("restored", &self.restored), ("new", &self.new)];
        let kinds =
            kinds.into_iter().filter(|(_, parts)| !parts.is_empty()).map(|(kind, parts)| {
                let more = match parts.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{kind} {}{more}", parts[..parts.len().min(NAMED)].join(", "))
            });
        let kinds: Vec<String> = kinds.collect();
        (!kinds.is_empty()).then(|| kinds.join("; "))
    }
}

/// How many cables each part has.
fn counts<'c>(cables: impl IntoIterator<Item = &'c Cable>) -> BTreeMap<&'c str, usize> {
    let mut counts = BTreeMap::new();
    for end in cables.into_iter().flat_map(Cable::parts) {
        *counts.entry(end).or_default() += 1;
    }
    counts
}

/// Cables by name; several that are all cables of one part stand as that part.
fn in_words(cables: &[&Cable], all: &BTreeMap<&str, usize>) -> Vec<String> {
    let own = counts(cables.iter().copied());
    let is_whole = |end: &str| own[end] > 1 && all.get(end) == Some(&own[end]);
    let mut words = Vec::new();
    let mut parts: BTreeSet<&str> = BTreeSet::new();
    for cable in cables {
        match cable.parts().into_iter().find(|end| is_whole(end)) {
            Some(part) if parts.insert(part) => {
                words.push(format!("{part} with its {}", counted(own[part] as u64, "cable")));
            }
            Some(_) => {}
            None => words.push(cable.name()),
        }
    }
    words
}
