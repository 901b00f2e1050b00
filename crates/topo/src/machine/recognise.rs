//! Which topology a discovered fabric is, whatever its names, GUIDs and order of ports.

use std::cell::OnceCell;

use laneway_core::units::counted_grouped;
use laneway_core::{Observer, Row};

use crate::cost::Parts;
use crate::machine::differ::{Difference, differ};
use crate::machine::map::fewest::{Counts, Squares};
use crate::machine::map::structure::{self, Shape};
use crate::machine::map::{self, Map};
use crate::routing::reroute::reroute_observed;
use crate::routing::table::Table;
use crate::topologies::{KINDS, Topology};
use crate::wiring::fabric::Fabric;
use crate::wiring::{End, MOST_PORTS, Port, Wiring};

/// One cable in this number may be wrong or missing.
const ONE_IN: usize = 10;

/// Switches of a fabric that are recognised at most: all pairs of them may be looked at.
const MOST_SWITCHES: u32 = 4096;

/// A plan that a fabric follows.
#[non_exhaustive]
pub struct Recognised {
    /// The topology.
    pub plan: Box<dyn Topology>,
    /// Which part is which in it.
    pub map: Map,
    /// Cables that are not where the topology has them.
    pub differences: Vec<Difference>,
}

/// The topology that a fabric is, or nearly is; `None` if it is like none of them.
pub fn recognise(found: &Fabric) -> Option<Recognised> {
    if found.switches() > MOST_SWITCHES {
        return None;
    }
    let mut plans: Vec<(u32, Box<dyn Topology>)> = Vec::new();
    for kind in KINDS {
        for d in (kind.least..=MOST_PORTS / 2).filter(|d| d % 2 == 0 || !kind.only_even) {
            let plan = (kind.build)(d);
            let apart =
                plan.hosts().abs_diff(found.hosts()) + plan.switches().abs_diff(found.switches());
            if plan.switches() > map::MOST_SWITCHES {
                break;
            }
            if apart as usize <= (found.hosts() + found.switches()) as usize / ONE_IN {
                plans.push((apart, plan));
            }
        }
    }
    let known = Known::of(found);
    let cables = known.counts.total();
    plans.sort_by_key(|(apart, _)| *apart);
    let mut best: Option<Recognised> = None;
    for (_, plan) in plans {
        let Some(map) = known.map(&*plan, cables / ONE_IN) else { continue };
        let differences = differ(&*plan, found, &map);
        if differences.len() * ONE_IN > cables {
            continue;
        }
        if best.as_ref().is_none_or(|best| differences.len() < best.differences.len()) {
            let done = differences.is_empty();
            best = Some(Recognised { plan, map, differences });
            if done {
                break;
            }
        }
    }
    best
}

/// What is known of a fabric, for all plans.
struct Known<'a> {
    found: &'a Fabric,
    shape: Shape,
    counts: Counts,
    squares: OnceCell<Squares>,
}

impl Known<'_> {
    fn of(found: &Fabric) -> Known<'_> {
        let shape = Shape::of(found);
        let counts = Counts::of(&shape);
        Known { found, shape, counts, squares: OnceCell::new() }
    }

    /// How the fabric lies on a plan; `None` if it has more differences than these for certain.
    fn map(&self, plan: &dyn Topology, most: usize) -> Option<Map> {
        if let Some(map) = Map::by_names(self.found, plan) {
            return Some(map);
        }
        let shape = Shape::of(plan);
        if self.counts.fewest(&Counts::of(&shape)) > most {
            return None;
        }
        let squares = self.squares.get_or_init(|| Squares::of(&self.shape));
        if !squares.can_be(&Squares::of(&shape), most) {
            return None;
        }
        Some(Map::of_switches(self.found, plan, structure::lay(&self.shape, &shape)))
    }
}

/// A found fabric in one row: its parts, and the topology that it is.
pub fn row(file: &str, found: &Fabric, recognised: Option<&Recognised>) -> Row {
    Row::new()
        .with("file", file)
        .with("topology", recognised.map(|known| known.plan.spec()))
        .with("switches", found.switches())
        .with("hosts", found.hosts())
        .with("cables", Parts::of(found).all_cables())
        .with("differences", recognised.map(|known| known.differences.len() as u64))
}

/// What [`row`] says, in words.
pub fn answer(file: &str, found: &Fabric, recognised: Option<&Recognised>) -> String {
    let parts = format!(
        "{}, {} and {}",
        counted_grouped(found.switches(), "switch"),
        counted_grouped(found.hosts(), "host"),
        counted_grouped(Parts::of(found).all_cables(), "cable"),
    );
    match recognised {
        None => format!("{file} is none of the known topologies: {parts}."),
        Some(known) if known.differences.is_empty() => {
            format!("{file} is {}: {parts}, all as planned.", known.plan.spec())
        }
        Some(known) => {
            let differences = counted_grouped(known.differences.len() as u64, "difference");
            format!("{file} is {} with {differences}: {parts}.", known.plan.spec())
        }
    }
}

impl Recognised {
    /// A row for each switch and host of the found fabric: what it is in the plan.
    pub fn rows(&self, found: &Fabric) -> Vec<Row> {
        let row = |kind: &str, found: String, planned: Option<String>| {
            Row::new().with("kind", kind).with("found", found).with("planned", planned)
        };
        let switches = (0..).zip(&self.map.switches).map(|(at, planned)| {
            let planned = planned.map(|planned| self.plan.switch_name(planned));
            row("switch", found.switch_name(at), planned)
        });
        let hosts = (0..).zip(&self.map.hosts).map(|(at, planned)| {
            let planned = planned.map(|planned| self.plan.host_name(planned));
            row("host", found.host_name(at), planned)
        });
        switches.chain(hosts).collect()
    }

    /// The topology's own forwarding for the found fabric, around what it lacks. Where it has more
    /// than the topology, such as a login node at a spare port, the rest is led to as well.
    pub fn native(&self, found: &Fabric) -> Table {
        self.native_observed(found, &())
    }

    /// The same, with progress reports.
    pub fn native_observed(&self, found: &Fabric, observer: &dyn Observer) -> Table {
        let plan: &dyn Topology = &*self.plan;
        let planned = match self.differences.is_empty() {
            true => Table::of_observed(plan, plan, observer),
            false => reroute_observed(plan, plan, &self.map.left(found, plan), observer),
        };
        let table = self.map.table(found, &planned);
        match self.knows_all(found) {
            true => table,
            // What reroute does with entries that lead nowhere: it keeps the others.
            false => reroute_observed(found, &table, found, observer),
        }
    }

    /// The topology's own table of several paths, where it has one and nothing is amiss.
    pub fn paths(&self, found: &Fabric, count: u32) -> Option<Table> {
        let is_whole = self.differences.is_empty() && self.knows_all(found);
        let planned = self.plan.paths(count).filter(|_| is_whole)?;
        Some(self.map.table(found, &planned))
    }

    /// Whether every host and switch with a cable is one of the plan.
    fn knows_all(&self, found: &Fabric) -> bool {
        let has_cable = |switch: u32| {
            (0..found.ports(switch) as Port).any(|port| found.end(switch, port) != End::Nothing)
        };
        (0..found.hosts())
            .all(|host| self.map.hosts[host as usize].is_some() || found.attached(host).is_none())
            && (0..found.switches())
                .all(|switch| self.map.switches[switch as usize].is_some() || !has_cable(switch))
    }
}
