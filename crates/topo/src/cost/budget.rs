//! What machines take, side by side: parts, power, price, failures and spares from figures of one
//! part each.

use std::sync::Arc;

use laneway_core::units::{counted_grouped, grouped};
use laneway_core::{Observer, Row};

use crate::cost::{Distances, Parts, distances_observed, spares};
use crate::error::{Error, ErrorKind};
use crate::machine::Machine;
use crate::topologies::{Bisection, KINDS, Kind};
use crate::wiring::{MOST_PORTS, Wiring};

const HOURS_A_YEAR: f64 = 8766.0;

/// How sure one is to have a spare while a new part is under way.
const CONFIDENCE: f64 = 0.95;

/// The figures of one part each. A missing figure counts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Power of a switch.
    pub switch_watts: Option<f64>,
    /// Power of a cable between switches, both ends.
    pub cable_watts: Option<f64>,
    /// Mean time between failures of a switch.
    pub switch_mtbf_hours: Option<f64>,
    /// Mean time between failures of a cable.
    pub cable_mtbf_hours: Option<f64>,
    /// Price of a switch.
    pub switch_price: Option<f64>,
    /// Price of a cable between switches.
    pub cable_price: Option<f64>,
    /// Days until a new part arrives.
    pub lead_days: Option<f64>,
    /// Ports of the switches that are bought; without it each switch has the ports of its fabric.
    pub switch_ports: Option<u32>,
}

/// The parts and costs of a machine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// Switches, ports and cables.
    pub parts: Parts,
    /// Ports of the largest switch.
    pub ports: Option<u32>,
    /// The distances between its switches.
    pub distances: Distances,
    /// The least number of cables between halves, where a formula gives it.
    pub bisection: Option<Bisection>,
    /// Power of all parts that have a figure.
    pub power_w: Option<f64>,
    /// Price of all parts that have one.
    pub price: Option<f64>,
    /// Parts that fail in a year.
    pub failures_per_year: Option<f64>,
    /// Switches to keep in stock.
    pub spare_switches: Option<u64>,
    /// Cables to keep in stock.
    pub spare_cables: Option<u64>,
}

/// Computes the budget of a machine.
///
/// ```
/// use laneway_topo::cost::budget::{Figures, budget};
/// use laneway_topo::Machine;
///
/// let figures = Figures { switch_watts: Some(100.0), ..Figures::default() };
/// let budget = budget(&Machine::named("mlfm:d=18")?, &figures);
/// assert_eq!((budget.parts.hosts, budget.power_w), (6156, Some(51_300.0)));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn budget(machine: &Machine, figures: &Figures) -> Budget {
    let wiring = machine.wiring();
    let mut parts = Parts::of(wiring);
    if let Some(ports) = figures.switch_ports {
        parts.ports = u64::from(parts.switches) * u64::from(ports);
    }
    let topology = machine.topology().filter(|_| !machine.is_damaged());
    let (switches, links) = (f64::from(parts.switches), parts.cables[1] + parts.cables[2]);
    let (links, cables) = (links as f64, parts.all_cables() as f64);
    // A figure that was given counts for its parts; those without one count nothing.
    let total = |switch: Option<f64>, cable: Option<f64>, count: f64| match (switch, cable) {
        (None, None) => None,
        (switch, cable) => Some(switch.unwrap_or(0.0) * switches + cable.unwrap_or(0.0) * count),
    };
    let rate = |hours: Option<f64>| hours.map(|hours| 1.0 / hours);
    let (switch_rate, cable_rate) =
        (rate(figures.switch_mtbf_hours), rate(figures.cable_mtbf_hours));
    let hours = figures.lead_days.map(|days| days * 24.0);
    let held = |rate: Option<f64>, count: f64| Some(spares(rate? * count * hours?, CONFIDENCE));
    Budget {
        ports: figures.switch_ports.or(largest_switch(wiring)),
        distances: distances_observed(wiring, topology.is_some(), machine.observer()),
        // One node has no halves.
        bisection: topology.filter(|_| parts.hosts > 1).map(|topology| topology.bisection()),
        power_w: total(figures.switch_watts, figures.cable_watts, links),
        price: total(figures.switch_price, figures.cable_price, links),
        failures_per_year: total(switch_rate, cable_rate, cables).map(|rate| rate * HOURS_A_YEAR),
        spare_switches: held(switch_rate, switches),
        spare_cables: held(cable_rate, cables),
        parts,
    }
}

/// Ports of the largest switch.
pub fn largest_switch(wiring: &dyn Wiring) -> Option<u32> {
    (0..wiring.switches()).map(|switch| wiring.ports(switch)).max()
}

/// The units of [`Budget::row`].
pub const UNITS: &[(&str, &str)] = &[
    ("topology", "unit"),
    ("nodes", "nodes"),
    ("switches", "switches"),
    ("switches_unplugged", "switches"),
    ("ports", "per switch"),
    ("ports_used", "ports"),
    ("ports_unused", "ports"),
    ("port_efficiency", "nodes/port"),
    ("cables_rack", "cables"),
    ("cables_row", "cables"),
    ("cables_hall", "cables"),
    ("bisection", "cables/node"),
    ("bisection_paper", "cables/node"),
    ("diameter_switches", "switches"),
    ("shortest_paths_min", "paths"),
    ("shortest_paths_mean", "paths"),
    ("disjoint_paths", "paths"),
    ("switch_pairs_apart", "pairs"),
    ("is_sampled", "yes or no"),
    ("power_w", "W"),
    ("price", "as given"),
    ("failures_per_year", "parts/year"),
    ("spare_switches", "switches"),
    ("spare_cables", "cables"),
];

/// What a comparison of machines comes to, in words: which takes least, and which takes least among
/// those with a full bisection. By price where prices are given, else by switches.
pub fn answer(budgets: &[(&Machine, Budget)]) -> String {
    let one = |(machine, budget): &(&Machine, Budget)| {
        let parts = &budget.parts;
        let ports = budget.ports.map_or(String::new(), |ports| format!(" of {ports} ports"));
        let price =
            budget.price.map_or(String::new(), |price| format!(" at {}", grouped(price as u64)));
        format!(
            "{} with {}{ports} and {}{price}, for {}",
            machine.spec,
            counted_grouped(parts.switches, "switch"),
            counted_grouped(parts.all_cables(), "cable"),
            counted_grouped(parts.hosts, "node"),
        )
    };
    let by_price = budgets.iter().all(|(_, budget)| budget.price.is_some());
    let cost = |budget: &Budget| match budget.price.filter(|_| by_price) {
        Some(price) => price,
        None => f64::from(budget.parts.switches),
    };
    let least = |wanted: &dyn Fn(&Budget) -> bool| {
        let wanted = budgets.iter().filter(|(_, budget)| wanted(budget));
        wanted.min_by(|(_, one), (_, other)| cost(one).total_cmp(&cost(other)))
    };
    let Some(first) = least(&|_| true) else { return String::new() };
    if budgets.len() == 1 {
        return format!("{}.", one(first));
    }
    let what = if by_price { "Lowest price" } else { "Fewest switches" };
    let is_full = |budget: &Budget| budget.bisection.is_some_and(|cut| cut.per_host >= 1.0);
    let full = match least(&is_full) {
        Some(full) if !std::ptr::eq(full, first) => {
            format!(" With a full bisection (1 cable for each node): {}.", one(full))
        }
        _ => String::new(),
    };
    format!("{what}: {}.{full}", one(first))
}

impl Budget {
    /// The reason for a missing bisection, if any.
    pub fn why_no_bisection(&self, machine: &Machine) -> Option<&'static str> {
        self.bisection.is_none().then(|| match (self.parts.hosts, machine.is_damaged()) {
            (0 | 1, _) => "it has fewer than two nodes",
            (_, true) => "it is known by formula, and not for what is left after a failure",
            (_, false) => "it is known by formula, and a file may be any fabric",
        })
    }

    /// The budget as a row.
    pub fn row(&self, machine: &Machine) -> Row {
        let (parts, far) = (&self.parts, &self.distances);
        Row::new()
            .with("topology", machine.spec.clone())
            .with("nodes", parts.hosts)
            .with("switches", parts.switches)
            .with("switches_unplugged", parts.switches_unplugged)
            .with("ports", self.ports)
            .with("ports_used", parts.ports_used)
            .with("ports_unused", parts.ports.saturating_sub(parts.ports_used))
            .with("port_efficiency", parts.port_efficiency())
            .with("cables_rack", parts.cables[0])
            .with("cables_row", parts.cables[1])
            .with("cables_hall", parts.cables[2])
            .with("bisection", self.bisection.map(|cut| cut.per_host))
            .with("bisection_paper", self.bisection.and_then(|cut| cut.in_paper))
            .with("diameter_switches", far.diameter)
            .with("shortest_paths_min", far.shortest_least)
            .with("shortest_paths_mean", far.shortest_mean)
            .with("disjoint_paths", far.disjoint)
            .with("switch_pairs_apart", far.apart)
            .with("is_sampled", far.is_sampled)
            .with("power_w", self.power_w)
            .with("price", self.price)
            .with("failures_per_year", self.failures_per_year)
            .with("spare_switches", self.spare_switches)
            .with("spare_cables", self.spare_cables)
    }
}

/// A kind of topology that is never large enough, and the most nodes that it has.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TooSmall {
    /// The kind.
    pub kind: &'static Kind,
    /// Nodes of its largest machine of such switches; 0 where there is none.
    pub nodes: u64,
}

/// For every kind of topology the smallest machine with at least this number of nodes that
/// switches of this number of ports can be used for; and the kinds that have none.
pub fn smallest(
    nodes: u64,
    switch_ports: Option<u32>,
    observer: &Arc<dyn Observer>,
) -> Result<(Vec<Machine>, Vec<TooSmall>), Error> {
    let (mut machines, mut missing) = (Vec::new(), Vec::new());
    let ports = switch_ports.unwrap_or(MOST_PORTS).min(MOST_PORTS);
    for &kind in KINDS {
        let fits = |d: &u32| (*d).is_multiple_of(2) || !kind.only_even;
        let specs = (kind.least..=ports / 2).filter(fits);
        let specs = specs.map(|d| format!("{}:d={d}", kind.name));
        let large = specs.filter_map(|spec| Machine::observed(&spec, observer.clone()).ok());
        let (mut most, mut found) = (0, None);
        for machine in large {
            most = u64::from(machine.whole().hosts());
            if most >= nodes {
                found = Some(machine);
                break;
            }
        }
        match found {
            Some(machine) => machines.push(machine),
            None => missing.push(TooSmall { kind, nodes: most }),
        }
    }
    if machines.is_empty() {
        let cause = format!("no topology is that large with switches of {ports} ports");
        let what = format!("no topology has {nodes} nodes");
        return Err(Error::new(ErrorKind::Size, what, cause));
    }
    Ok((machines, missing))
}
