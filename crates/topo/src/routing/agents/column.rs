//! The ways of all switches to one destination, over links that come later and later in an order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::order::Order;
use crate::wiring::graph::{Cable, FAR, Graph};
use crate::wiring::{NO_PORT, Port, Switch};

/// A switch's way that is known.
#[derive(Clone, Copy)]
struct Way {
    port: Port,
    /// Cables to the destination's switch; [`FAR`] where no way is known.
    far: u32,
    /// Its first link; none at the destination's switch.
    link: Option<u32>,
}

const NO_WAY: Way = Way { port: NO_PORT, far: FAR, link: None };

/// An entry of an older table.
#[derive(Clone, Copy)]
pub(super) struct Older {
    pub port: Port,
    /// Whether it must stay, because messages between hosts use it.
    pub stays: bool,
}

/// Which ways are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The shortest; of equally short ones those by the first port.
    Shortest,
    /// Those that begin latest: any switch that may lead to another may lead to these, so that all
    /// are reached that the order allows to be.
    Latest,
}

/// How a switch could send; the best is the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    far: Reverse<u32>,
    place: u32,
    from: Switch,
    port: Port,
    to: Switch,
}

pub(super) struct Column<'a> {
    graph: &'a Graph,
    ways: Vec<Way>,
}

impl<'a> Column<'a> {
    pub fn new(graph: &'a Graph) -> Column<'a> {
        Column { graph, ways: vec![NO_WAY; graph.switches()] }
    }

    /// Forgets all, and knows that the destination is behind this port.
    pub fn begin(&mut self, goal: Switch, port: Port) {
        self.ways.fill(NO_WAY);
        self.ways[goal as usize] = Way { port, far: 0, link: None };
    }

    /// By which port a switch sends; [`NO_PORT`] where it knows no way.
    pub fn port(&self, switch: Switch) -> Port {
        self.ways[switch as usize].port
    }

    pub fn knows(&self, switch: Switch) -> bool {
        self.ways[switch as usize].far != FAR
    }

    fn enter(&mut self, from: Switch, port: Port, to: Switch) {
        let (far, link) = (self.ways[to as usize].far + 1, self.graph.links.link(from, port));
        self.ways[from as usize] = Way { port, far, link: Some(link) };
    }

    /// Whether a link comes before the first of a known way.
    fn is_before(&self, order: &Order, link: u32, to: Switch) -> bool {
        let next = self.ways[to as usize].link;
        next.is_none_or(|next| order.place(link) < order.place(next))
    }

    /// Takes over ways of an older table that arrive: what must stay, the rest where the order
    /// allows it.
    pub fn keep(&mut self, order: &Order, older: impl Fn(Switch) -> Older) {
        let mut passed: Vec<(Switch, Cable)> = Vec::new();
        for from in 0..self.graph.switches() as Switch {
            let mut switch = from;
            while !self.knows(switch) && passed.len() < self.graph.switches() {
                let Some(cable) = self.graph.across(switch, older(switch).port) else { break };
                passed.push((switch, cable));
                switch = cable.to;
            }
            // From the end back: each cable leads to a switch whose way is known, or not.
            while let Some((from, Cable { port, to, .. })) = passed.pop() {
                let link = self.graph.links.link(from, port);
                let is_new = self.knows(to) && !self.knows(from);
                if is_new && (older(from).stays || self.is_before(order, link, to)) {
                    self.enter(from, port, to);
                }
            }
        }
    }

    /// Finds ways that the order allows for switches that have none.
    pub fn extend(&mut self, order: &Order, rule: Rule) {
        let weigh = |column: &Column, offer: Offer| {
            let link = column.graph.links.link(offer.from, offer.port);
            let is_legal = column.is_before(order, link, offer.to);
            is_legal.then(|| match rule {
                // The first port is the same in every order: less changes with it.
                Rule::Shortest => Offer { place: u32::MAX - u32::from(offer.port), ..offer },
                Rule::Latest => Offer { far: Reverse(0), place: order.place(link), ..offer },
            })
        };
        self.grow(weigh, |_, _| true);
    }

    /// Finds ways that the order can be changed for, and changes it.
    pub fn insert(&mut self, order: &mut Order) {
        self.grow(|_, offer| Some(offer), |link, next| order.insert(link, next));
    }

    /// Finds ways for all that are connected, whatever waits for what.
    pub fn force(&mut self) {
        self.grow(|_, offer| Some(offer), |_, _| true);
    }

    /// Takes the best offers one after another, those that two links in a row may be taken for.
    fn grow(
        &mut self,
        weigh: impl Fn(&Column, Offer) -> Option<Offer>,
        mut may: impl FnMut(u32, u32) -> bool,
    ) {
        let mut offers = BinaryHeap::new();
        for switch in (0..self.ways.len() as Switch).filter(|&at| self.knows(at)) {
            self.offer(switch, &weigh, &mut offers);
        }
        while let Some(Offer { from, port, to, .. }) = offers.pop() {
            let link = self.graph.links.link(from, port);
            let next = self.ways[to as usize].link;
            if !self.knows(from) && next.is_none_or(|next| may(link, next)) {
                self.enter(from, port, to);
                self.offer(from, &weigh, &mut offers);
            }
        }
    }

    /// What a switch with a way offers its neighbours that have none.
    fn offer(
        &self,
        to: Switch,
        weigh: impl Fn(&Column, Offer) -> Option<Offer>,
        offers: &mut BinaryHeap<Offer>,
    ) {
        let far = Reverse(self.ways[to as usize].far);
        for cable in self.graph.cables(to).iter().filter(|cable| !self.knows(cable.to)) {
            let offer = Offer { far, place: 0, from: cable.to, port: cable.its, to };
            offers.extend(weigh(self, offer));
        }
    }
}
