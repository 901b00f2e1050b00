//! The primary and the alternate path of a connection between two machines: the two that share the
//! fewest cables and switches.
//!
//! A machine has one port or several, and each port as many addresses as paths lead to it. A path
//! is an address of either machine: messages are forwarded by the far one, answers by the near one.
//! So it has a way out and a way back, and dies with any part of either.

use laneway_core::Row;
use laneway_core::units::counted;

use crate::error::{Error, ErrorKind};
use crate::files::formats::Identity;
use crate::proof::explain::lost as describe_lost;
use crate::routing::table::Table;
use crate::routing::{Hop, Lost, walk};
use crate::wiring::fabric::Part;
use crate::wiring::{End, Host, Switch, Wiring};

/// One of the addresses of a port: the port's own, and the path bits that are added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The port; a machine with several has several of them in a fabric.
    pub host: Host,
    /// The path bits, added to the first address of the port.
    pub bits: u32,
}

/// A path between two machines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathBetween {
    /// The address at the machine that opens the connection.
    pub near: Address,
    /// The address at the other machine.
    pub far: Address,
    /// The hops of a message from the near end, and of an answer.
    pub out: Vec<Hop>,
    /// The hops of an answer.
    pub back: Vec<Hop>,
}

/// A chosen primary and alternate path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternates {
    /// The shorter of the two paths.
    pub primary: PathBetween,
    /// `None` if no other path has other addresses at both ends.
    pub alternate: Option<PathBetween>,
    /// Cables and switches that both pass, beside the cable and the switch of a machine that has
    /// one port: no path keeps off those.
    pub shared: Vec<Part>,
    /// The number of paths to choose from.
    pub candidates: usize,
}

impl Alternates {
    /// The numbers of cables and of switches that both paths pass.
    pub fn shares(&self) -> (usize, usize) {
        count(&self.shared)
    }
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPath {
    /// A machine without a port.
    NoPort,
    /// A port that both machines are said to have.
    Same(Host),
    /// Nothing arrives, for this reason among others.
    Lost(Lost),
}

impl NoPath {
    /// The reason as text.
    pub fn describe(&self, wiring: &dyn Wiring) -> String {
        match *self {
            NoPath::NoPort => "a machine without a port".to_string(),
            NoPath::Same(host) => format!("{} is a port of both machines", wiring.host_name(host)),
            NoPath::Lost(lost) => format!("no path arrives: {}", describe_lost(wiring, lost)),
        }
    }
}

/// Chooses among all paths of a table between the ports of two machines. The first two of these
/// share the fewest cables, of those the fewest switches; of those they are the shortest, and have
/// the lowest addresses. The shorter one is the primary path.
pub fn alternates(
    wiring: &dyn Wiring,
    table: &Table,
    near: &[Host],
    far: &[Host],
) -> Result<Alternates, NoPath> {
    if near.is_empty() || far.is_empty() {
        return Err(NoPath::NoPort);
    }
    if let Some(same) = near.iter().find(|host| far.contains(host)) {
        return Err(NoPath::Same(*same));
    }
    let candidates = candidates(wiring, table, near, far)?;
    let kept = unavoidable(wiring, &[near, far]);
    let parts: Vec<Vec<Part>> = candidates.iter().map(|path| parts(wiring, path, &kept)).collect();
    let mut best: Option<(Cost, usize, usize)> = None;
    for (second, other) in candidates.iter().enumerate() {
        for (first, one) in candidates[..second].iter().enumerate() {
            if one.near == other.near || one.far == other.far {
                continue;
            }
            let (cables, switches) = count(&common(&parts[first], &parts[second]));
            let cost = Cost { cables, switches, hops: length(one) + length(other) };
            let found = (cost, first, second);
            if best.is_none_or(|best| found < best) {
                best = Some(found);
            }
        }
    }
    let Some((_, first, second)) = best else {
        let count = candidates.len();
        let primary = candidates.into_iter().min_by_key(length);
        let primary = primary.ok_or(NoPath::NoPort)?;
        return Ok(Alternates { primary, alternate: None, shared: Vec::new(), candidates: count });
    };
    let shared = common(&parts[first], &parts[second]);
    let (one, other) = (candidates[first].clone(), candidates[second].clone());
    let (primary, other) = if length(&other) < length(&one) { (other, one) } else { (one, other) };
    Ok(Alternates { primary, alternate: Some(other), shared, candidates: candidates.len() })
}

/// What two paths share, and how long they are; the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    cables: usize,
    switches: usize,
    hops: usize,
}

fn length(path: &PathBetween) -> usize {
    path.out.len() + path.back.len()
}

/// Every path that arrives in both directions, by near port, far port, near bits and far bits.
fn candidates(
    wiring: &dyn Wiring,
    table: &Table,
    near: &[Host],
    far: &[Host],
) -> Result<Vec<PathBetween>, NoPath> {
    let (mut found, mut lost) = (Vec::new(), None);
    // The ways to a host, by the path to it.
    let mut ways = |from: Host, to: Host| -> Vec<(u32, Vec<Hop>)> {
        let way = |bits: u32| {
            let mut way = Vec::new();
            let walked = walk(wiring, &table.path(bits), from, to, |hop| way.push(hop));
            walked.map_err(|why| lost = Some(why)).ok().map(|()| (bits, way))
        };
        (0..table.paths()).filter_map(way).collect()
    };
    for &here in near {
        for &there in far {
            let (outs, backs) = (ways(here, there), ways(there, here));
            for (near_bits, back) in &backs {
                for (far_bits, out) in &outs {
                    found.push(PathBetween {
                        near: Address { host: here, bits: *near_bits },
                        far: Address { host: there, bits: *far_bits },
                        out: out.clone(),
                        back: back.clone(),
                    });
                }
            }
        }
    }
    match (found.is_empty(), lost) {
        (true, Some(lost)) => Err(NoPath::Lost(lost)),
        _ => Ok(found),
    }
}

/// The cable and the switch of each machine that has one port.
fn unavoidable(wiring: &dyn Wiring, machines: &[&[Host]]) -> Vec<Part> {
    let own = |machine: &&[Host]| match machine {
        [port] => wiring.attached(*port),
        _ => None,
    };
    let own = machines.iter().filter_map(own);
    own.flat_map(|(switch, port)| [Part::Link(switch, port), Part::Switch(switch)]).collect()
}

/// The cables and switches of a path, in order and each once, without those.
fn parts(wiring: &dyn Wiring, path: &PathBetween, without: &[Part]) -> Vec<Part> {
    let own = [path.near.host, path.far.host].into_iter().filter_map(|host| wiring.attached(host));
    let mut parts: Vec<Part> = own.map(|(switch, port)| Part::Link(switch, port)).collect();
    for hop in path.out.iter().chain(&path.back) {
        parts.push(Part::Switch(hop.switch));
        parts.push(cable(wiring, *hop));
    }
    parts.retain(|part| !without.contains(part));
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// A cable, by the lower of its two ports.
fn cable(wiring: &dyn Wiring, Hop { switch, port }: Hop) -> Part {
    match wiring.end(switch, port) {
        End::Switch(other, its) if (other, its) < (switch, port) => Part::Link(other, its),
        _ => Part::Link(switch, port),
    }
}

/// What two ordered lists have in common.
fn common(one: &[Part], other: &[Part]) -> Vec<Part> {
    one.iter().filter(|part| other.binary_search(part).is_ok()).copied().collect()
}

fn count(parts: &[Part]) -> (usize, usize) {
    let cables = parts.iter().filter(|part| matches!(part, Part::Link(..))).count();
    (cables, parts.len() - cables)
}

/// The switches of a way, in its order.
pub fn switches(way: &[Hop]) -> impl Iterator<Item = Switch> {
    way.iter().map(|hop| hop.switch)
}

/// The ports of a machine from a comma-separated list: those that are named, or for the name of an
/// adapter all its ports `NAME/1`, `NAME/2`, ….
pub fn ports(wiring: &dyn Wiring, list: &str) -> Result<Vec<Host>, Error> {
    let hosts = || 0..wiring.hosts();
    let mut ports = Vec::new();
    for name in list.split(',') {
        let is_of = |host: &Host| {
            let port = wiring.host_name(*host);
            let port = port.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
            port.is_some_and(|port| port.parse::<u8>().is_ok())
        };
        let exact = hosts().find(|&host| wiring.host_name(host) == name);
        let found: Vec<Host> = match exact {
            Some(host) => vec![host],
            None => hosts().filter(is_of).collect(),
        };
        let known = |host: &Host| ports.contains(host);
        let cause = match found.first() {
            None => format!("the fabric has no host `{name}`"),
            Some(_) if found.iter().any(known) => format!("{name} is named twice"),
            Some(_) => {
                ports.extend(found);
                continue;
            }
        };
        let last = wiring.hosts().saturating_sub(1);
        let hint = format!("{} {}", wiring.host_name(0), wiring.host_name(last));
        let what = format!("unknown machine `{list}`");
        return Err(Error::new(ErrorKind::Machines, what, cause).with_hint(hint));
    }
    Ok(ports)
}

impl Alternates {
    /// A row for each path: its addresses, and the switches on its ways.
    pub fn rows(&self, wiring: &dyn Wiring, identity: &Identity) -> Vec<Row> {
        let lid = |address: &Address| {
            let own = identity.hosts.get(address.host as usize).map_or(0, |id| u32::from(id.lid));
            (own > 0).then_some(own + address.bits)
        };
        let way = |hops: &[Hop]| -> String {
            let names: Vec<String> =
                switches(hops).map(|switch| wiring.switch_name(switch)).collect();
            names.join(" ")
        };
        let row = |name: &str, path: &PathBetween| {
            Row::new()
                .with("path", name)
                .with("from", wiring.host_name(path.near.host))
                .with("from_path_bits", path.near.bits)
                .with("from_lid", lid(&path.near))
                .with("to", wiring.host_name(path.far.host))
                .with("to_path_bits", path.far.bits)
                .with("to_lid", lid(&path.far))
                .with("out", way(&path.out))
                .with("back", way(&path.back))
        };
        let alternate = self.alternate.iter().map(|path| row("alternate", path));
        std::iter::once(row("primary", &self.primary)).chain(alternate).collect()
    }

    /// The shared parts of both paths, as a row.
    pub fn summary(&self, wiring: &dyn Wiring) -> Row {
        let (cables, switches) = self.shares();
        let names = self.shared_names(wiring);
        let known = self.alternate.is_some();
        Row::new()
            .with("candidates", self.candidates as u64)
            .with("shared_cables", known.then_some(cables as u64))
            .with("shared_switches", known.then_some(switches as u64))
            .with("shared", (!names.is_empty()).then(|| names.join(" ")))
    }

    /// The shared parts of both paths, as text.
    pub fn sentence(&self, wiring: &dyn Wiring) -> String {
        let (cables, switches) = self.shares();
        let candidates = counted(self.candidates as u64, "candidate");
        if self.alternate.is_none() {
            return format!("No alternate path among {candidates}.");
        }
        if self.shared.is_empty() {
            return format!("Two paths that share no cable and no switch, of {candidates}.");
        }
        let (cables, switches) =
            (counted(cables as u64, "cable"), counted(switches as u64, "switch"));
        let names = self.shared_names(wiring).join(" ");
        format!(
            "Two paths that share {cables} and {switches}, the fewest of {candidates}: {names}."
        )
    }

    fn shared_names(&self, wiring: &dyn Wiring) -> Vec<String> {
        let name = |part: &Part| match *part {
            Part::Link(switch, port) => wiring.port_name(switch, port),
            Part::Switch(switch) => wiring.switch_name(switch),
            Part::Host(host) => wiring.host_name(host),
        };
        self.shared.iter().map(name).collect()
    }
}
