//! An order of the switches from low to high, which keeps credit loops away.
//!
//! A way that climbs first and then only descends is legal. Links that climb wait for links that
//! start higher, links that descend for links that start lower, and none that descends for one that
//! climbs: so there is no credit loop, on one virtual lane, whatever the order (Schroeder and
//! others, Autonet, 1991). If only one switch of a connected piece has no higher neighbour, every
//! switch can climb to it and come down to any other, so all pairs are reached.

use super::turns::Turns;
use crate::wiring::Switch;
use crate::wiring::graph::{FAR, Graph};

/// An order of the switches.
#[derive(Clone, Debug)]
pub(crate) struct Heights {
    /// The place of each switch, all different.
    places: Vec<u32>,
    /// Whether each connected piece has one highest switch, so that all pairs are reached.
    pub one_top: bool,
}

impl Heights {
    /// Sorted by a number for each switch, higher is higher; by its own number where equal.
    pub fn by(key: &[u32]) -> Heights {
        let mut order: Vec<Switch> = (0..key.len() as Switch).collect();
        order.sort_by_key(|&switch| (key[switch as usize], std::cmp::Reverse(switch)));
        let mut heights = vec![0; key.len()];
        for (height, &switch) in order.iter().enumerate() {
            heights[switch as usize] = height as u32;
        }
        Heights { places: heights, one_top: false }
    }

    /// Switches with hosts at the bottom, each other one as high as it is far from them. On trees
    /// and meshes the shortest ways are legal; elsewhere some pairs may have no legal way.
    pub fn from_leaves(graph: &Graph) -> Heights {
        Heights::by(&graph.distances(graph.leaves()))
    }

    /// An order with one highest switch in each connected piece, that spoils few of the turns which
    /// a routing makes: a turn at a switch below both its neighbours is not legal. It is built from
    /// the top; of switches that spoil equally few, those that turn messages come before those
    /// where ways only begin and end, and then the one that is `first`.
    pub fn from_turns(graph: &Graph, turns: &Turns, first: &[u32]) -> Heights {
        Builder::new(graph, turns, first).build()
    }

    /// For an order that was made so.
    pub fn with_one_top(self) -> Heights {
        Heights { one_top: true, ..self }
    }

    /// How many turns are not legal in it.
    pub fn illegal_turns(&self, graph: &Graph, turns: &Turns) -> u64 {
        let at = |switch: Switch| {
            let above = graph.cables(switch).iter();
            let above = above.filter(|cable| self.is_above(cable.to, switch));
            let above: Vec<_> = above.map(|cable| cable.port).collect();
            let of = |one| above.iter().map(move |&other| turns.between(switch, one, other));
            above.iter().flat_map(|&one| of(one)).map(u64::from).sum::<u64>() / 2
        };
        (0..graph.switches() as Switch).map(at).sum()
    }

    pub fn of(&self, switch: Switch) -> u32 {
        self.places[switch as usize]
    }

    pub fn is_above(&self, one: Switch, other: Switch) -> bool {
        self.of(one) > self.of(other)
    }
}

struct Builder<'a> {
    graph: &'a Graph,
    turns: &'a Turns,
    first: &'a [u32],
    /// Whether ways only begin and end at a switch.
    ends: Vec<bool>,
    heights: Vec<u32>,
    /// By port: turns that would be spoilt at this switch if the neighbour at the port stood above
    /// it too.
    doomed: Vec<u64>,
    /// Whether a neighbour is placed.
    touched: Vec<bool>,
}

const UNPLACED: u32 = FAR;

impl<'a> Builder<'a> {
    fn new(graph: &'a Graph, turns: &'a Turns, first: &'a [u32]) -> Builder<'a> {
        let ends = |switch| {
            let cables = graph.cables(switch);
            let turns = |one, other| turns.between(switch, one, other) > 0;
            !cables.iter().any(|one| cables.iter().any(|other| turns(one.port, other.port)))
        };
        Builder {
            graph,
            ends: (0..graph.switches() as Switch).map(ends).collect(),
            turns,
            first,
            heights: vec![UNPLACED; graph.switches()],
            doomed: vec![0; graph.links.count() as usize],
            touched: vec![false; graph.switches()],
        }
    }

    /// Turns at neighbours that would be spoilt if this switch were placed next.
    fn price(&self, switch: Switch) -> u64 {
        let below = self.graph.cables(switch).iter();
        let below = below.filter(|cable| self.heights[cable.to as usize] == UNPLACED);
        below.map(|cable| self.doomed[self.graph.links.link(cable.to, cable.its) as usize]).sum()
    }

    fn place(&mut self, switch: Switch, height: u32) {
        self.heights[switch as usize] = height;
        for cable in self.graph.cables(switch) {
            let (below, port) = (cable.to, cable.its);
            if self.heights[below as usize] != UNPLACED {
                continue;
            }
            self.touched[below as usize] = true;
            for other in self.graph.cables(below) {
                let spoilt = self.turns.between(below, port, other.port);
                let link = self.graph.links.link(below, other.port) as usize;
                self.doomed[link] += u64::from(spoilt);
            }
        }
    }

    fn build(mut self) -> Heights {
        for height in (0..self.graph.switches() as u32).rev() {
            let unplaced = (0..self.graph.switches() as Switch)
                .filter(|&switch| self.heights[switch as usize] == UNPLACED);
            // Below another while there is such a switch; else at the top of a new piece.
            let key = |&switch: &Switch| {
                let at = switch as usize;
                (!self.touched[at], self.price(switch), self.ends[at], self.first[at], switch)
            };
            if let Some(next) = unplaced.min_by_key(key) {
                self.place(next, height);
            }
        }
        Heights { places: self.heights, one_top: true }
    }
}
