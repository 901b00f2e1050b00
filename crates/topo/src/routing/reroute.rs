//! A new forwarding table after a failure: what still works stays, the rest finds another way.
//!
//! The ways of the whole fabric stay legal in an order of its switches (`engines/heights.rs`) that
//! has one highest switch in each connected piece. So the detours, which are legal too, reach every
//! pair that is connected, and no credit loop exists on one virtual lane. On the
//! mesh this order lets one layer of each vertex be passed through, and no more.

use laneway_core::{Observer, Stage};

use crate::routing::Routing;
use crate::routing::agents;
use crate::routing::engines::balanced;
use crate::routing::engines::column::{Column, Look};
use crate::routing::engines::heights::Heights;
use crate::routing::engines::peel::peel;
use crate::routing::engines::turns::Turns;
use crate::routing::table::Table;
use crate::wiring::fabric::Fabric;
use crate::wiring::graph::Graph;
use crate::wiring::{Host, NO_PORT, Port, Switch, Wiring};

/// The whole fabric and its own routing, ready for many failures.
pub struct Native {
    graph: Graph,
    table: Table,
    /// The entries that stay where they work.
    kept: Table,
    /// The turns that messages between hosts make.
    turns: Turns,
    /// Those of all entries, where all stay.
    all_turns: Option<Turns>,
}

/// A table over what is left, and what its links carry in an all-to-all.
#[derive(Clone)]
pub(crate) struct Detoured {
    pub table: Table,
    /// Messages on each link between switches.
    pub load: Vec<u64>,
    /// Whether each switch reaches all that it is connected with. If not, the rest is of no use.
    pub whole: bool,
}

impl Detoured {
    /// The most that a link carries.
    pub fn heaviest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Takes the load of the detours to a host away.
    fn forget(&mut self, left: &Graph, host: Host, is_kept: impl Fn(Switch) -> bool) {
        for leaf in left.leaves().filter(|&leaf| !is_kept(leaf)) {
            let mut switch = leaf;
            loop {
                let port = self.table.row_of(switch)[host as usize];
                let Some(cable) = left.across(switch, port) else { break };
                let link = left.links.link(switch, port);
                self.load[link as usize] -= u64::from(left.own[leaf as usize]);
                switch = cable.to;
            }
        }
    }
}

/// The table of a damaged fabric: every entry of the native one that still works, and detours.
pub fn reroute(whole: &dyn Wiring, routing: &dyn Routing, damaged: &Fabric) -> Table {
    reroute_observed(whole, routing, damaged, &())
}

/// The same, with progress reports.
pub fn reroute_observed(
    whole: &dyn Wiring,
    routing: &dyn Routing,
    damaged: &Fabric,
    observer: &dyn Observer,
) -> Table {
    Native::of_all(whole, routing, observer).reroute_observed(damaged, observer)
}

impl Native {
    /// The forwarding of a whole fabric.
    pub fn new(whole: &dyn Wiring, routing: &dyn Routing) -> Native {
        Native::of_all(whole, routing, &())
    }

    fn of_all(whole: &dyn Wiring, routing: &dyn Routing, observer: &dyn Observer) -> Native {
        let native = Native::for_hosts(whole, routing, observer);
        let all_turns = Some(Turns::of(&native.graph, &native.table));
        Native { kept: native.table.clone(), all_turns, ..native }
    }

    /// What messages between hosts use stays; what only management agents need may change, which
    /// leaves hosts more detours.
    pub(crate) fn for_hosts(
        whole: &dyn Wiring,
        routing: &dyn Routing,
        observer: &dyn Observer,
    ) -> Native {
        let (graph, table) = (Graph::of(whole), Table::of_observed(whole, routing, observer));
        let kept = agents::used(whole, &table, observer);
        let turns = Turns::of(&graph, &kept);
        Native { graph, table, kept, turns, all_turns: None }
    }

    /// The table of the whole fabric.
    pub fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whether the damaged fabric is this one with parts taken out.
    pub(crate) fn knows(&self, left: &Graph) -> bool {
        self.graph.switches() == left.switches()
            && self.graph.hosts() == left.hosts()
            && self.graph.links.count() == left.links.count()
    }

    /// Another fabric than this one is routed anew.
    pub fn reroute(&self, damaged: &Fabric) -> Table {
        self.reroute_observed(damaged, &())
    }

    /// The same, with progress reports.
    pub(crate) fn reroute_observed(&self, damaged: &Fabric, observer: &dyn Observer) -> Table {
        let left = Graph::of(damaged);
        match self.knows(&left) {
            true => self.complete(damaged, &self.carefully(&left, 1, observer).table, observer),
            false => balanced::route(damaged, observer),
        }
    }

    /// With the entries that only management agents need, as they were where they can be.
    pub(crate) fn complete(
        &self,
        damaged: &Fabric,
        table: &Table,
        observer: &dyn Observer,
    ) -> Table {
        agents::complete(damaged, table, &self.table, observer)
    }

    /// As little change as there can be.
    pub(crate) fn carefully(&self, left: &Graph, rounds: u32, observer: &dyn Observer) -> Detoured {
        // Where hosts' switches at the bottom do, as in trees, nothing that works is touched.
        let plain = self.detour(left, &Heights::from_leaves(&self.graph), rounds, observer);
        if plain.whole {
            return plain;
        }
        let peeled = self.all_turns.as_ref().map(|turns| peel(left, turns, None, 0));
        match peeled.filter(|peeled| peeled.spoilt == 0) {
            Some(peeled) => self.detour(left, &peeled.heights, rounds, observer),
            None => self.detour(left, &self.careful_heights(left), rounds, observer),
        }
    }

    /// Switches that have lost a cable.
    fn hurt(&self, left: &Graph) -> Vec<Switch> {
        let lost = |&switch: &Switch| {
            let (own, was) = (left.cables(switch), self.graph.cables(switch));
            own != was
        };
        (0..left.switches() as Switch).filter(lost).collect()
    }

    /// The order that keeps the native ways legal. What is far from the damage is high, because
    /// detours lead over it.
    pub(crate) fn careful_heights(&self, left: &Graph) -> Heights {
        self.heights_above(left, self.hurt(left))
    }

    /// The order that keeps the native ways legal, high where it is far from some switches.
    pub(crate) fn heights_above(
        &self,
        left: &Graph,
        low: impl IntoIterator<Item = Switch>,
    ) -> Heights {
        let away = self.graph.distances(low);
        let near: Vec<u32> = away.iter().map(|&far| u32::MAX - far).collect();
        Heights::from_turns(left, &self.turns, &near)
    }

    /// The order in which every switch is as high as it is far from some switches.
    pub(crate) fn heights_by(&self, low: impl IntoIterator<Item = Switch>) -> Heights {
        Heights::by(&self.graph.distances(low))
    }

    /// Routes over what is left by ways that are legal in this order. Every detour is chosen in
    /// every round, since the first could not know where the others would be.
    pub(crate) fn detour(
        &self,
        left: &Graph,
        heights: &Heights,
        rounds: u32,
        observer: &dyn Observer,
    ) -> Detoured {
        let mut work = Work {
            native: self,
            left,
            column: Column::new(left, heights),
            done: Detoured {
                table: Table::empty(left.switches() as u32, left.hosts(), 1),
                load: vec![0; left.links.count() as usize],
                whole: true,
            },
        };
        let (mut broken, pieces) = (Vec::new(), left.pieces());
        let stage = Stage::new(observer, "hosts still reached", left.hosts().into());
        for place in stage.over(left.plugged()) {
            if work.keep(place) {
                broken.push(place);
                if !heights.one_top && !work.can_detour(place, &pieces) {
                    work.done.whole = false;
                    return work.done;
                }
            }
        }
        let mut best = None;
        let all = broken.len() as u64 * u64::from(rounds);
        let stage = Stage::new(observer, "detours chosen, by host", all);
        for round in 0..rounds {
            for &place in &broken {
                stage.step();
                work.find_detours(place, round > 0);
            }
            if best.as_ref().is_none_or(|best: &Detoured| work.done.heaviest() < best.heaviest()) {
                best = Some(work.done.clone());
            }
        }
        best.unwrap_or(work.done)
    }
}

/// A host and where it is plugged in.
type Place = (Host, Switch, Port);

struct Work<'a> {
    native: &'a Native,
    left: &'a Graph,
    column: Column<'a>,
    done: Detoured,
}

impl Work<'_> {
    fn begin(&mut self, (host, switch, port): Place) {
        let table = &self.native.kept;
        self.column.begin(switch, port);
        self.column.keep(|switch| table.row_of(switch)[host as usize]);
    }

    /// Takes over what still works for a destination; true where that is not all.
    fn keep(&mut self, place: Place) -> bool {
        self.begin(place);
        let (column, load) = (&mut self.column, &mut self.done.load);
        column.flow(|_| true, |_, link, messages| load[link as usize] += u64::from(messages));
        for switch in 0..self.left.switches() as Switch {
            self.done.table.set(switch, place.0, self.column.port(switch));
        }
        let mut leaves = self.left.leaves();
        leaves.any(|leaf| !self.column.knows(leaf))
    }

    /// Whether there are legal ways for all after `keep`. Reachability does not depend on
    /// the load.
    fn can_detour(&mut self, place: Place, pieces: &[u32]) -> bool {
        self.column.complete(&mut [], Look::Blind);
        let of = |switch: Switch| pieces[switch as usize];
        self.left.leaves().all(|leaf| of(leaf) != of(place.1) || self.column.knows(leaf))
    }

    fn find_detours(&mut self, place: Place, again: bool) {
        self.begin(place);
        let Work { native, left, column, done } = self;
        let kept: Vec<bool> = (0..left.switches() as Switch).map(|at| column.knows(at)).collect();
        if again {
            done.forget(left, place.0, |leaf| kept[leaf as usize]);
        }
        column.complete(&mut done.load, Look::EachWay);
        let host = place.0;
        for switch in 0..left.switches() as Switch {
            // Who had a way before has one again, whether hosts need it or not.
            let had = native.kept.row_of(switch)[host as usize] != NO_PORT;
            if !kept[switch as usize] {
                done.table.set(switch, host, if had { column.port(switch) } else { NO_PORT });
            }
        }
        let table = &mut done.table;
        let ports: Vec<Port> = (0..left.switches() as Switch).map(|at| column.port(at)).collect();
        column.flow(
            |switch| !kept[switch as usize],
            |switch, _, _| table.set(switch, host, ports[switch as usize]),
        );
    }
}
