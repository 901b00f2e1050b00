//! The search for columns that close no credit loop: in an order of the links, in another one, and
//! then in one that is changed as they are found.

use laneway_core::{Observer, Stage};

use super::column::{Column, Older, Rule};
use super::order::Order;
use crate::proof::waits::Waits;
use crate::routing::engines::peel::{Peeled, peel};
use crate::routing::engines::turns::Turns;
use crate::routing::follow::{self, Follow};
use crate::routing::table::Table;
use crate::threads::shared;
use crate::wiring::graph::Graph;
use crate::wiring::{NO_PORT, Port, Switch, Wiring};

/// Orders that are tried until one serves all.
const TRIED: u64 = 4;

/// A destination: its number in the table, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    pub number: u32,
    pub switch: Switch,
    pub port: Port,
}

/// The ports of all switches for a destination.
pub(super) struct Filled {
    pub goal: Goal,
    pub ports: Vec<Port>,
    /// Switches that the order of the links allows no way.
    missing: usize,
}

pub(super) struct Search<'a> {
    graph: &'a Graph,
    pieces: Vec<u32>,
    /// What waits already, and the turns that it makes.
    waits: Waits,
    turns: Turns,
    /// Turns that would be welcome.
    pub others: Option<Turns>,
    goals: Vec<Goal>,
    observer: &'a dyn Observer,
}

impl<'a> Search<'a> {
    pub fn new(
        wiring: &dyn Wiring,
        graph: &'a Graph,
        used: &Table,
        goals: Vec<Goal>,
        observer: &'a dyn Observer,
    ) -> Search<'a> {
        let (pieces, waits) = (graph.pieces(), waits(wiring, used, observer));
        let turns = Turns::of(graph, used);
        Search { graph, pieces, waits, turns, others: None, goals, observer }
    }

    /// The columns of all destinations, and whether all ways are legal in one order of the
    /// switches. `older` gives the entry of a switch for a destination.
    pub fn best(&self, older: impl Fn(Goal, Switch) -> Older + Sync) -> (Vec<Filled>, bool) {
        let mut best: Option<(usize, Order, Vec<Filled>)> = None;
        for attempt in 0..TRIED {
            let Peeled { heights, spoilt } =
                peel(self.graph, &self.turns, self.others.as_ref(), attempt);
            let order = Order::new(self.graph, self.waits.clone(), &heights);
            let filled = self.fill(&order, &older);
            let missing = filled.iter().map(|filled| filled.missing).sum();
            if missing == 0 {
                return (filled, spoilt == 0);
            }
            if best.as_ref().is_none_or(|best| missing < best.0) {
                best = Some((missing, order, filled));
            }
        }
        let Some((_, order, mut filled)) = best else { return (Vec::new(), true) };
        self.insert(order, &mut filled, &older);
        (filled, false)
    }

    /// The columns over one order of the links.
    fn fill(&self, order: &Order, older: &(impl Fn(Goal, Switch) -> Older + Sync)) -> Vec<Filled> {
        let all = self.goals.len() as u64;
        let stage = Stage::new(self.observer, "entries of switches, by goal", all);
        let parts = shared(self.goals.len(), |part| {
            let mut column = Column::new(self.graph);
            let filled = |&goal: &Goal| {
                column.begin(goal.switch, goal.port);
                column.keep(order, |at| older(goal, at));
                column.extend(order, Rule::Shortest);
                if self.missing(&column, goal) > 0 {
                    self.begin_again(&mut column, order, goal, older);
                    column.extend(order, Rule::Latest);
                }
                stage.step();
                self.filled(&column, goal)
            };
            self.goals[part].iter().map(filled).collect::<Vec<_>>()
        });
        parts.into_iter().flatten().collect()
    }

    /// Fills what one order did not allow: in an order that is changed from column to column, and
    /// where that closes a credit loop, in none.
    fn insert(&self, mut order: Order, all: &mut [Filled], older: &impl Fn(Goal, Switch) -> Older) {
        let mut column = Column::new(self.graph);
        all.sort_by_key(|filled| filled.missing);
        for filled in all {
            if filled.missing > 0 {
                self.begin_again(&mut column, &order, filled.goal, older);
                column.extend(&order, Rule::Latest);
                column.insert(&mut order);
                column.force();
                *filled = self.filled(&column, filled.goal);
            }
            for from in 0..self.graph.switches() as Switch {
                let port = filled.ports[from as usize];
                if let Some(cable) = self.graph.across(from, port) {
                    order.waits.add(from, port, cable.to, filled.ports[cable.to as usize]);
                }
            }
        }
    }

    /// Only with what must stay.
    fn begin_again(
        &self,
        column: &mut Column,
        order: &Order,
        goal: Goal,
        older: &impl Fn(Goal, Switch) -> Older,
    ) {
        column.begin(goal.switch, goal.port);
        column.keep(order, |at| match older(goal, at) {
            older if older.stays => older,
            _ => Older { port: NO_PORT, stays: false },
        });
    }

    /// Switches without a way that are connected with the destination.
    fn missing(&self, column: &Column, goal: Goal) -> usize {
        let piece = self.pieces[goal.switch as usize];
        let is_missing =
            |&from: &Switch| self.pieces[from as usize] == piece && !column.knows(from);
        (0..self.graph.switches() as Switch).filter(is_missing).count()
    }

    fn filled(&self, column: &Column, goal: Goal) -> Filled {
        let ports = (0..self.graph.switches() as Switch).map(|from| column.port(from)).collect();
        Filled { goal, ports, missing: self.missing(column, goal) }
    }
}

/// What waits because of a table, from whatever switch.
fn waits(wiring: &dyn Wiring, table: &Table, observer: &dyn Observer) -> Waits {
    let mut waits = Waits::none(wiring);
    let mut follow = Follow::new(wiring.switches());
    let all = table.destinations();
    for destination in Stage::new(observer, "waiting links, by host", all.into()).over(0..all) {
        let goal = follow::Goal::Host(destination / table.paths());
        let port = |at: Switch| table.row_of(at)[destination as usize];
        follow.begin();
        for switch in 0..wiring.switches() {
            follow.follow(&waits, switch, goal, port);
        }
        follow.add_to(&mut waits, goal, port);
    }
    waits
}
