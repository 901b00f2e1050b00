//! What differs between a plan and what was found: cables that are wrong, missing or extra.

use std::collections::BTreeMap;
use std::fmt;

use laneway_core::Row;
use laneway_core::units::{are, counted};

use crate::error::Error;
use crate::machine::map::Map;
use crate::wiring::{End, Host, Port, Switch, Wiring};

/// A difference; cables as `switch/port to switch/port`, in the names of their own side.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A cable leads elsewhere than planned.
    Wrong {
        /// Where it was planned.
        planned: String,
        /// Where it was found.
        found: String,
    },
    /// A planned cable is not there.
    Missing(String),
    /// A cable is there that was not planned.
    Extra(String),
}

impl Difference {
    /// What it is (`wrong`, `missing` or `extra`), the planned cable and the found one.
    pub fn parts(&self) -> (&'static str, Option<&str>, Option<&str>) {
        match self {
            Difference::Wrong { planned, found } => ("wrong", Some(planned), Some(found)),
            Difference::Missing(planned) => ("missing", Some(planned), None),
            Difference::Extra(found) => ("extra", None, Some(found)),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Wrong { planned, found } => write!(f, "wrong: {found}, planned {planned}"),
            Difference::Missing(planned) => write!(f, "missing: {planned}"),
            Difference::Extra(found) => write!(f, "extra: {found}"),
        }
    }
}

/// Where a cable ends, in the plan's numbers where it has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Switch(Switch, Option<Port>),
    Host(u32),
    /// Any host: without names one is as good as another.
    SomeHost,
    Unplanned(Switch),
    UnplannedHost(u32),
}

/// A cable: its two ends, the smaller first, and how it is written.
struct Cable {
    ends: (Spot, Spot),
    text: String,
}

fn text(wiring: &dyn Wiring, switch: Switch, port: Port) -> String {
    format!("{} to {}", wiring.port_name(switch, port), wiring.end_name(switch, port))
}

/// Every cable once.
fn cables(wiring: &dyn Wiring, spot: impl Fn(End) -> Spot) -> Vec<Cable> {
    let mut all = Vec::new();
    for switch in 0..wiring.switches() {
        for port in 0..wiring.ports(switch) as Port {
            let end = match wiring.end(switch, port) {
                End::Nothing => continue,
                End::Switch(other, its) if (other, its) < (switch, port) => continue,
                end => end,
            };
            let (one, other) = (spot(End::Switch(switch, port)), spot(end));
            let ends = (one.min(other), one.max(other));
            all.push(Cable { ends, text: text(wiring, switch, port) });
        }
    }
    all
}

/// Finds hosts that have no planned name by the first word of theirs, where that is one host's
/// alone: adapters are usually called `node0 mlx5_0`.
pub fn find_by_first_word(plan: &dyn Wiring, found: &dyn Wiring, map: &mut Map) {
    let words = |wiring: &dyn Wiring, hosts: Vec<Host>| {
        let mut by_word: BTreeMap<String, Vec<Host>> = BTreeMap::new();
        for host in hosts {
            let name = wiring.host_name(host);
            let word = name.split_whitespace().next().unwrap_or("");
            by_word.entry(word.to_string()).or_default().push(host);
        }
        by_word
    };
    let mut is_known = vec![false; plan.hosts() as usize];
    map.hosts.iter().flatten().for_each(|&host| is_known[host as usize] = true);
    let unknown = |host: &Host| map.hosts[*host as usize].is_none();
    let planned = words(plan, (0..plan.hosts()).filter(|&at| !is_known[at as usize]).collect());
    for (word, hosts) in words(found, (0..found.hosts()).filter(unknown).collect()) {
        if let ([host], Some(&[to])) = (&hosts[..], planned.get(&word).map(|hosts| &hosts[..])) {
            map.hosts[*host as usize] = Some(to);
        }
    }
}

/// The comparison of a found fabric with its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Every cable that is not where it was planned.
    pub differences: Vec<Difference>,
    /// Whether parts were known by their names; else by their cables.
    pub by_name: bool,
}

/// Compares what was found with a plan: by names where most switches have a planned one, else by
/// what is connected with what.
///
/// ```
/// use laneway_topo::machine::differ::compare;
/// use laneway_topo::{Fabric, Part, topology};
///
/// let plan = topology("mlfm:d=4")?;
/// let mut found = Fabric::of(&*plan);
/// found.fail(Part::Link(0, 4));
/// let compared = compare(&*plan, &found)?;
/// assert_eq!(compared.differences[0].to_string(), "missing: vertex-0-0/5 to edge-0-1/1");
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn compare(plan: &dyn Wiring, found: &dyn Wiring) -> Result<Compared, Error> {
    let mut map = Map::new(found, plan)?;
    if map.by_name {
        find_by_first_word(plan, found, &mut map);
    }
    Ok(Compared { differences: differ(plan, found, &map), by_name: map.by_name })
}

impl Compared {
    /// A row for each difference.
    pub fn rows(&self) -> Vec<Row> {
        let row = |difference: &Difference| {
            let (kind, planned, found) = difference.parts();
            Row::new().with("kind", kind).with("planned", planned).with("found", found)
        };
        self.differences.iter().map(row).collect()
    }

    /// The number of differences of each kind.
    pub fn summary(&self) -> Row {
        let count = |kind: &str| {
            let all = self.differences.iter();
            all.filter(|difference| difference.parts().0 == kind).count() as u64
        };
        Row::new()
            .with("wrong", count("wrong"))
            .with("missing", count("missing"))
            .with("extra", count("extra"))
            .with("compared_by", if self.by_name { "name" } else { "structure" })
    }

    /// The comparison as text.
    pub fn sentence(&self) -> String {
        let kinds = ["wrong", "missing", "extra"].map(|kind| {
            let all = self.differences.iter();
            (all.filter(|difference| difference.parts().0 == kind).count() as u64, kind)
        });
        let by = if self.by_name { "name" } else { "structure" };
        if self.differences.is_empty() {
            return format!("Every cable is where it was planned, compared by {by}.");
        }
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = kinds
            .map(|(count, kind)| format!("{} {} {kind}", counted(count, "cable"), are(count)))
            .collect();
        format!("{}, compared by {by}.", parts.join(", "))
    }
}

/// All differences, in the plan's order and then the found fabric's.
pub fn differ(plan: &dyn Wiring, found: &dyn Wiring, map: &Map) -> Vec<Difference> {
    let by_name = map.by_name;
    let planned = cables(plan, |end| match end {
        End::Switch(switch, port) => Spot::Switch(switch, by_name.then_some(port)),
        End::Host(host) if by_name => Spot::Host(host),
        _ => Spot::SomeHost,
    });
    let found = cables(found, |end| match end {
        End::Switch(switch, port) => match map.switches[switch as usize] {
            Some(planned) => Spot::Switch(planned, by_name.then_some(port)),
            None => Spot::Unplanned(switch),
        },
        End::Host(host) if by_name => {
            map.hosts[host as usize].map_or(Spot::UnplannedHost(host), Spot::Host)
        }
        _ => Spot::SomeHost,
    });
    let mut there: BTreeMap<(Spot, Spot), Vec<&Cable>> = BTreeMap::new();
    for cable in found.iter().rev() {
        there.entry(cable.ends).or_default().push(cable);
    }
    let is_missing = |cable: &&Cable| there.get_mut(&cable.ends).and_then(Vec::pop).is_none();
    let missing: Vec<&Cable> = planned.iter().filter(is_missing).collect();
    let extra: Vec<&Cable> = there.into_values().flatten().collect();
    pair(missing, &extra)
}

/// A missing cable and an extra one with a common end are one that is wrong.
fn pair(missing: Vec<&Cable>, extra: &[&Cable]) -> Vec<Difference> {
    // The extra cables at each end, the first of them last.
    let mut at: BTreeMap<Spot, Vec<usize>> = BTreeMap::new();
    for (index, cable) in extra.iter().enumerate().rev() {
        for end in [cable.ends.0, cable.ends.1] {
            at.entry(end).or_default().push(index);
        }
    }
    let mut is_paired = vec![false; extra.len()];
    let mut all = Vec::new();
    for cable in missing {
        let mut first = |end: Spot| {
            let here = at.get_mut(&end).filter(|_| end != Spot::SomeHost)?;
            while here.pop_if(|index| is_paired[*index]).is_some() {}
            here.last().copied()
        };
        let (one, other) = (first(cable.ends.0), first(cable.ends.1));
        all.push(match one.into_iter().chain(other).min() {
            Some(index) => {
                is_paired[index] = true;
                let found = extra[index].text.clone();
                Difference::Wrong { planned: cable.text.clone(), found }
            }
            None => Difference::Missing(cable.text.clone()),
        });
    }
    let rest = extra.iter().zip(is_paired).filter(|(_, is_paired)| !is_paired);
    all.extend(rest.map(|(cable, _)| Difference::Extra(cable.text.clone())));
    all
}
