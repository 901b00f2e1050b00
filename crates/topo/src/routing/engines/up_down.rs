//! Ways that climb and then descend, over an order of the switches that is found by itself.

use laneway_core::{Observer, Stage};

use super::Engine;
use super::column::{Column, Look};
use super::heights::Heights;
use super::minimal;
use super::turns::Turns;
use crate::routing::agents;
use crate::routing::table::Table;
use crate::wiring::Wiring;
use crate::wiring::graph::Graph;

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "up-down",
    sentence: "shortest paths that go up and then down: no credit loop, on any fabric",
    route,
};

/// What the stage of routing is called.
pub(crate) const ROUTED: &str = "hosts routed to";

/// Makes the table.
pub fn route(wiring: &dyn Wiring, observer: &dyn Observer) -> Table {
    legal(wiring, Look::Link, observer)
}

/// Destination by destination; a switch with a choice looks there.
pub(crate) fn legal(wiring: &dyn Wiring, look: Look, observer: &dyn Observer) -> Table {
    let graph = Graph::of(wiring);
    let heights = heights(&graph, observer);
    let mut load = vec![0u64; graph.links.count() as usize];
    let mut table = Table::empty(graph.switches() as u32, graph.hosts(), 1);
    let mut column = Column::new(&graph, &heights);
    let stage = Stage::new(observer, ROUTED, graph.hosts().into());
    for (host, leaf, port) in stage.over(graph.plugged()) {
        column.begin(leaf, port);
        column.complete(&mut load, look);
        for switch in 0..graph.switches() as u32 {
            table.set(switch, host, column.port(switch));
        }
    }
    agents::complete(wiring, &table, &table, observer)
}

/// Hosts' switches at the bottom if all pairs are reached so, which is best for trees and meshes;
/// else an order with one highest switch that allows most of what shortest ways would do.
pub(crate) fn heights(graph: &Graph, observer: &dyn Observer) -> Heights {
    let plain = Heights::from_leaves(graph);
    if reaches_all(graph, &plain) {
        return plain;
    }
    let turns = Turns::of(graph, &minimal::table(graph, observer));
    // Where it spoils equally little, the middle of the fabric is high.
    let away = graph.distances(graph.leaves());
    let low: Vec<u32> = away.iter().map(|&far| u32::MAX - far).collect();
    Heights::from_turns(graph, &turns, &low)
}

/// Whether all switches with hosts that are connected have a legal way.
pub(crate) fn reaches_all(graph: &Graph, heights: &Heights) -> bool {
    let pieces = graph.pieces();
    let mut column = Column::new(graph, heights);
    let mut seen = None;
    graph.plugged().all(|(_, leaf, port)| {
        if seen.replace(leaf) == Some(leaf) {
            return true;
        }
        column.begin(leaf, port);
        column.complete(&mut [], Look::Blind);
        let piece = pieces[leaf as usize];
        graph.leaves().all(|from| pieces[from as usize] != piece || column.knows(from))
    })
}
