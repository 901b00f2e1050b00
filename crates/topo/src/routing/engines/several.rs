//! Several paths to each host, which share as few cables and switches as they can.
//!
//! All paths run on one virtual lane, so all are legal in one order of the switches. Path 0 is the
//! one that the fabric has already. For each further path a switch looks for a way that meets its
//! own earlier ways least. A switch that meets none is settled first; when no such switch is left,
//! one switch goes a way that it has gone before, and so opens a new way for the others.

use laneway_core::{Observer, Stage};

use super::balanced;
use super::column::{Column, Look};
use super::heights::Heights;
use super::turns::Turns;
use crate::routing::Routing;
use crate::routing::agents;
use crate::routing::table::Table;
use crate::threads::shared;
use crate::wiring::graph::Graph;
use crate::wiring::{Host, NO_PORT, Port, Switch, Wiring};

/// A table of 1, 2, 4 or 8 paths, or any other number, to each host. The first is that of `native`
/// where there is one, else that of the engine `balanced`.
pub fn several(wiring: &dyn Wiring, native: Option<&dyn Routing>, paths: u32) -> Table {
    several_observed(wiring, native, paths, &())
}

/// The same, with progress reports.
pub fn several_observed(
    wiring: &dyn Wiring,
    native: Option<&dyn Routing>,
    paths: u32,
    observer: &dyn Observer,
) -> Table {
    let first = match native {
        Some(native) => Table::of_observed(wiring, native, observer),
        None => balanced::route(wiring, observer),
    };
    let graph = Graph::of(wiring);
    let heights = heights(wiring, &graph, &first, observer);
    let paths = paths.max(1);
    let mut table = Table::empty(wiring.switches(), wiring.hosts(), paths);
    let places: Vec<_> = graph.plugged().collect();
    let stage = Stage::new(observer, "hosts given paths", places.len() as u64);
    let found = shared(places.len(), |part| {
        let mut column = Column::new(&graph, &heights);
        let columns = |&(host, leaf, port): &(Host, Switch, Port)| {
            // What is not legal in this order could form a credit loop with the others.
            column.begin(leaf, port);
            column.keep(|at| first.row_of(at)[host as usize]);
            if !graph.leaves().all(|leaf| column.knows(leaf)) {
                column.complete(&mut [], Look::Blind);
            }
            stage.step();
            let native = |at: Switch| column.port(at);
            (host, Fan::new(&graph, &heights, leaf, port).columns(native, host, paths))
        };
        places[part].iter().map(columns).collect::<Vec<_>>()
    });
    for (host, columns) in found.into_iter().flatten() {
        for (path, column) in columns.iter().enumerate() {
            for (switch, &port) in column.iter().enumerate() {
                table.set(switch as Switch, host * paths + path as u32, port);
            }
        }
    }
    agents::complete(wiring, &table, &table, observer)
}

/// An order of the switches in which the first path's ways are legal, if there is one: also those
/// that only management agents need, where hosts' ways do not suffer from it.
fn heights(wiring: &dyn Wiring, graph: &Graph, first: &Table, observer: &dyn Observer) -> Heights {
    let of_hosts = Turns::of(graph, &agents::used(wiring, first, observer));
    let [all, hosts] = [&Turns::of(graph, first), &of_hosts]
        .map(|turns| Heights::from_turns(graph, turns, &vec![0; graph.switches()]));
    if all.illegal_turns(graph, &of_hosts) <= hosts.illegal_turns(graph, &of_hosts) {
        all
    } else {
        hosts
    }
}

/// The ways of one path to a host: ports by switch.
type Ports = Vec<Port>;

/// The paths to one host.
struct Fan<'a> {
    graph: &'a Graph,
    heights: &'a Heights,
    leaf: Switch,
    port: Port,
    columns: Vec<Ports>,
}

/// How a switch would send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    /// Links and switches that this switch's earlier ways pass too.
    met: u32,
    far: u32,
    /// High switches first: more of the others can pass them.
    low: u32,
    turn: u32,
    from: Switch,
    port: Port,
    climbs: bool,
}

impl<'a> Fan<'a> {
    fn new(graph: &'a Graph, heights: &'a Heights, leaf: Switch, port: Port) -> Fan<'a> {
        Fan { graph, heights, leaf, port, columns: Vec::new() }
    }

    fn columns(mut self, native: impl Fn(Switch) -> Port, host: Host, paths: u32) -> Vec<Ports> {
        let first = (0..self.graph.switches() as Switch).map(native).collect();
        self.columns.push(first);
        for path in 1..paths {
            let column = self.another(host + path);
            self.columns.push(column);
        }
        self.columns
    }

    /// The links and switches of a way, as links; the last leads to the destination's switch.
    fn way<'p>(&'p self, ports: &'p [Port], from: Switch) -> impl Iterator<Item = u32> + 'p {
        let mut at = from;
        // A way that passes every switch and goes on goes round.
        (0..self.graph.switches()).map_while(move |_| {
            let cable = self.graph.across(at, ports[at as usize])?;
            let link = self.graph.links.link(at, cable.port);
            at = cable.to;
            Some(link)
        })
    }

    /// What a switch that sends by this port would meet of its earlier ways: links count twice,
    /// since a switch between is met with each link.
    fn met(&self, ports: &[Port], from: Switch, by: Port, next: Switch) -> u32 {
        if self.graph.own[from as usize] == 0 {
            return 0;
        }
        let first = self.graph.links.link(from, by);
        let new: Vec<u32> = std::iter::once(first).chain(self.way(ports, next)).collect();
        let ends = |link: &u32| self.graph.links.hop(*link).switch;
        let meets = |earlier: &Ports| {
            let old: Vec<u32> = self.way(earlier, from).collect();
            let links = new.iter().filter(|link| old.contains(link)).count();
            let middles = |way: &[u32]| way.iter().skip(1).map(ends).collect::<Vec<_>>();
            let (old, new) = (middles(&old), middles(&new));
            2 * links + new.iter().filter(|switch| old.contains(switch)).count()
        };
        self.columns.iter().map(meets).sum::<usize>() as u32
    }

    /// One path more.
    fn another(&self, turn: u32) -> Ports {
        let switches = self.graph.switches();
        let mut ports = vec![NO_PORT; switches];
        let mut far = vec![u32::MAX; switches];
        let mut descends = vec![false; switches];
        let mut offers = std::collections::BTreeSet::new();
        let mut settled = Some(self.leaf);
        (ports[self.leaf as usize], far[self.leaf as usize]) = (self.port, 0);
        descends[self.leaf as usize] = true;
        while let Some(to) = settled {
            for cable in self.graph.cables(to) {
                let (from, port) = (cable.to, cable.its);
                let climbs = self.heights.is_above(to, from);
                if far[from as usize] != u32::MAX || !climbs && !descends[to as usize] {
                    continue;
                }
                offers.insert(Offer {
                    met: self.met(&ports, from, port, to),
                    far: far[to as usize] + 1,
                    low: u32::MAX - self.heights.of(from),
                    turn: (u32::from(port) + turn) % self.graph.cables(from).len() as u32,
                    from,
                    port,
                    climbs,
                });
            }
            settled = None;
            while let Some(best) = offers.pop_first() {
                let at = best.from as usize;
                if far[at] == u32::MAX {
                    (ports[at], far[at], descends[at]) = (best.port, best.far, !best.climbs);
                    settled = Some(best.from);
                    break;
                }
            }
        }
        ports
    }
}
