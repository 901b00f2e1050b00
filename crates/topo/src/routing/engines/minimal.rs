//! Shortest ways, and of equally short ones the port that carries the least so far.

use laneway_core::{Observer, Stage};

use super::Engine;
use super::up_down::ROUTED;
use crate::routing::agents;
use crate::routing::table::Table;
use crate::wiring::graph::{Cable, FAR, Graph};
use crate::wiring::{Switch, Wiring};

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "minimal",
    sentence: "shortest paths, ports balanced; fabrics with cycles may have a credit loop",
    route,
};

/// Makes the table.
pub fn route(wiring: &dyn Wiring, observer: &dyn Observer) -> Table {
    let table = table(&Graph::of(wiring), observer);
    agents::complete(wiring, &table, &table, observer)
}

pub(crate) fn table(graph: &Graph, observer: &dyn Observer) -> Table {
    let mut table = Table::empty(graph.switches() as u32, graph.hosts(), 1);
    let mut load = vec![0u64; graph.links.count() as usize];
    let mut passing = vec![0u64; graph.switches()];
    let (mut leaf, mut far, mut farthest_first) = (None, Vec::new(), Vec::new());
    let stage = Stage::new(observer, ROUTED, graph.hosts().into());
    for (host, switch, port) in stage.over(graph.plugged()) {
        if leaf != Some(switch) {
            leaf = Some(switch);
            far = graph.distances([switch]);
            farthest_first = order(&far);
        }
        table.set(switch, host, port);
        for (passing, &own) in passing.iter_mut().zip(&graph.own) {
            *passing = u64::from(own);
        }
        for &from in &farthest_first {
            let nearer = |cable: &&Cable| far[cable.to as usize] < far[from as usize];
            let loaded = |cable: &&Cable| load[graph.links.link(from, cable.port) as usize];
            let Some(cable) = graph.cables(from).iter().filter(nearer).min_by_key(loaded) else {
                continue;
            };
            table.set(from, host, cable.port);
            passing[cable.to as usize] += passing[from as usize];
            load[graph.links.link(from, cable.port) as usize] += passing[from as usize];
        }
    }
    table
}

/// The other switches that have a way, the farthest first.
fn order(far: &[u32]) -> Vec<Switch> {
    let connected = |&switch: &Switch| !matches!(far[switch as usize], 0 | FAR);
    let mut order: Vec<Switch> = (0..far.len() as Switch).filter(connected).collect();
    order.sort_by_key(|&switch| std::cmp::Reverse(far[switch as usize]));
    order
}
