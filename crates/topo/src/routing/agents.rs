//! Ways that hosts do not need and management agents do.
//!
//! A request to a switch itself waits for its answer, so that every switch must be reached
//! and must reach every host. The ways between hosts are there already and stay. For the others
//! the links get an order (`order.rs`) in which those ways take later and later ones; whatever
//! else does so too closes no credit loop (Dally and Seitz 1987), on one virtual lane.
//! Where no such order is found, entries are made all the same, and [`crate::prove_agents()`] says
//! so.

mod column;
mod order;
mod search;

use laneway_core::{Observer, Stage};

use crate::proof::prove::prove_agents_observed;
use crate::proof::waits::Waits;
use crate::routing::engines::peel::peel;
use crate::routing::engines::turns::Turns;
use crate::routing::follow::{self, Follow};
use crate::routing::table::Table;
use crate::wiring::graph::Graph;
use crate::wiring::{NO_PORT, Switch, Wiring};
use column::Older;
use search::{Filled, Goal, Search};

/// A table in which every switch has an entry for every host that it is connected with. What
/// messages between hosts use is that of `table`. The others are those of `given` that arrive, if
/// they close no credit loop; else as many of them as one order of the links allows.
pub(crate) fn complete(
    wiring: &dyn Wiring,
    table: &Table,
    given: &Table,
    observer: &dyn Observer,
) -> Table {
    let graph = Graph::of(wiring);
    let used = used(wiring, table, observer);
    let given = arriving(wiring, given, 0..wiring.switches(), observer);
    let merged = arriving(wiring, &merge(&used, &given), 0..wiring.switches(), observer);
    if is_complete(&graph, &merged)
        && peel(&graph, &Turns::of(&graph, &merged), None, 0).spoilt == 0
    {
        return merged;
    }
    let mut best: Option<(usize, Table)> = None;
    for stays in [&merged, &used] {
        let (whole, is_legal) = fill(wiring, &graph, stays, &given, observer);
        if is_legal {
            return whole;
        }
        let to_switches = to_switches_observed(wiring, &whole, observer);
        let proof = prove_agents_observed(wiring, &whole, &to_switches, observer);
        let credit_loops = proof.credit_loops.len();
        if best.as_ref().is_none_or(|best| credit_loops < best.0) {
            best = Some((credit_loops, whole));
        }
    }
    best.map_or(merged, |best| best.1)
}

/// The ways to the switches themselves, beside a table to hosts: a table whose hosts are the
/// switches. Switches with hosts are reached as they are.
pub fn to_switches(wiring: &dyn Wiring, table: &Table) -> Table {
    to_switches_observed(wiring, table, &())
}

/// The same, with progress reports.
pub fn to_switches_observed(wiring: &dyn Wiring, table: &Table, observer: &dyn Observer) -> Table {
    let graph = Graph::of(wiring);
    let goal = |to: Switch| Goal { number: to, switch: to, port: NO_PORT };
    let goals = (0..wiring.switches()).map(goal).collect();
    let mut guests = vec![None; graph.switches()];
    for (host, leaf, _) in graph.plugged() {
        guests[leaf as usize] = Some(host);
    }
    let (filled, _) = Search::new(wiring, &graph, table, goals, observer).best(|to, at| {
        let guest = guests[to.switch as usize];
        Older { port: guest.map_or(NO_PORT, |host| table.entry(at, host, 0)), stays: false }
    });
    write(Table::empty(wiring.switches(), wiring.switches(), 1), filled)
}

/// Fills a table, the entries of which stay; and whether all ways are legal in one order of the
/// switches, so that those to the switches can be, too.
fn fill(
    wiring: &dyn Wiring,
    graph: &Graph,
    stays: &Table,
    given: &Table,
    observer: &dyn Observer,
) -> (Table, bool) {
    let mut goals = Vec::new();
    for (host, switch, port) in graph.plugged() {
        let numbers = host * stays.paths()..(host + 1) * stays.paths();
        goals.extend(numbers.map(|number| Goal { number, switch, port }));
    }
    let mut search = Search::new(wiring, graph, stays, goals, observer);
    search.others = Some(Turns::of(graph, given));
    let (filled, is_legal) = search.best(|to, at| match stays.row_of(at)[to.number as usize] {
        NO_PORT => Older { port: given.row_of(at)[to.number as usize], stays: false },
        port => Older { port, stays: true },
    });
    (write(Table::empty(wiring.switches(), wiring.hosts(), stays.paths()), filled), is_legal)
}

fn write(mut table: Table, filled: Vec<Filled>) -> Table {
    for Filled { goal, ports, .. } in filled {
        for (switch, port) in ports.into_iter().enumerate() {
            table.set(switch as Switch, goal.number, port);
        }
    }
    table
}

/// The entries of a table that messages between hosts use, and no others.
pub(crate) fn used(wiring: &dyn Wiring, table: &Table, observer: &dyn Observer) -> Table {
    arriving(wiring, table, Graph::of(wiring).leaves(), observer)
}

/// The entries of a table by which messages of some switches arrive, and no others.
fn arriving(
    wiring: &dyn Wiring,
    table: &Table,
    from: impl Iterator<Item = Switch>,
    observer: &dyn Observer,
) -> Table {
    let (waits, from) = (Waits::none(wiring), from.collect::<Vec<_>>());
    let mut follow = Follow::new(wiring.switches());
    let mut kept = Table::empty(wiring.switches(), wiring.hosts(), table.paths());
    let all = table.destinations();
    for destination in Stage::new(observer, "entries followed, by host", all.into()).over(0..all) {
        let goal = follow::Goal::Host(destination / table.paths());
        follow.begin();
        for &switch in &from {
            follow.follow(&waits, switch, goal, |at| table.row_of(at)[destination as usize]);
        }
        for &switch in follow.seen.iter().filter(|&&switch| follow.arrives(switch)) {
            kept.set(switch, destination, table.row_of(switch)[destination as usize]);
        }
    }
    kept
}

/// The entries of a table, and those of another where it has none.
fn merge(table: &Table, given: &Table) -> Table {
    let mut merged = table.clone();
    for switch in 0..table.switches() {
        for (port, &given) in merged.row_mut(switch).iter_mut().zip(given.row_of(switch)) {
            if *port == NO_PORT {
                *port = given;
            }
        }
    }
    merged
}

/// Whether a table of ways that arrive has one from every switch to every host that cables connect.
fn is_complete(graph: &Graph, table: &Table) -> bool {
    let (pieces, paths) = (graph.pieces(), table.paths() as usize);
    (0..table.switches()).all(|from| {
        let row = table.row_of(from);
        graph.plugged().all(|(host, leaf, _)| {
            let is_apart = pieces[from as usize] != pieces[leaf as usize];
            is_apart || !row[host as usize * paths..][..paths].contains(&NO_PORT)
        })
    })
}
