//! The ways from all switches to one destination: a column of the forwarding table.
//!
//! What a column holds is a legal way from every switch that it knows (see `heights.rs`).
//! A switch whose way only descends may be entered from above and from below; one whose way climbs
//! first only from below. With one highest switch all are reached: take the highest whose way
//! only descends. A neighbour above it could descend to it, so it has a way; that does not only
//! descend, so it climbs to one higher still whose way does, and there is none.

use super::heights::Heights;
use crate::wiring::graph::{FAR, Graph};
use crate::wiring::{NO_PORT, Port, Switch};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    None,
    Descends,
    Climbs,
}

/// What load a switch with a choice looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// At none: who only asks whether there is a way needs no loads.
    Blind,
    /// At that of its own link.
    Link,
    /// At that of the whole way; all who send to one destination see the same.
    Way,
    /// The same, and later choices take earlier ones into account: one destination's messages
    /// part, which phases made for one way to each destination do not like.
    EachWay,
}

pub(crate) struct Column<'a> {
    graph: &'a Graph,
    heights: &'a Heights,
    ports: Vec<Port>,
    ways: Vec<Way>,
    /// Cables to the destination's switch.
    far: Vec<u32>,
    /// Switches that have a way, by their distance.
    by_distance: Vec<Vec<Switch>>,
    /// Hosts whose messages pass each switch.
    passing: Vec<u32>,
    /// The load on the way from each switch that was asked: its fullest link, and all.
    loads: Vec<(u64, u64)>,
    /// How each switch that has no way yet could send.
    offers: Vec<Vec<(Port, Way)>>,
}

/// A sum of squares and one more. Loads that are too large for that are all alike.
fn add(sum: u64, load: u64) -> u64 {
    sum.saturating_add(load.saturating_mul(load))
}

impl<'a> Column<'a> {
    pub fn new(graph: &'a Graph, heights: &'a Heights) -> Column<'a> {
        let switches = graph.switches();
        Column {
            graph,
            heights,
            ports: vec![NO_PORT; switches],
            ways: vec![Way::None; switches],
            far: vec![FAR; switches],
            by_distance: Vec::new(),
            passing: vec![0; switches],
            loads: vec![(0, 0); switches],
            offers: vec![Vec::new(); switches],
        }
    }

    /// Forgets all, and knows that the destination is behind this port.
    pub fn begin(&mut self, switch: Switch, port: Port) {
        self.ports.fill(NO_PORT);
        self.ways.fill(Way::None);
        self.far.fill(FAR);
        self.by_distance.iter_mut().for_each(Vec::clear);
        self.enter(switch, port, Way::Descends, 0);
    }

    fn enter(&mut self, switch: Switch, port: Port, way: Way, far: u32) {
        let at = switch as usize;
        (self.ports[at], self.ways[at], self.far[at]) = (port, way, far);
        while self.by_distance.len() <= far as usize {
            self.by_distance.push(Vec::new());
        }
        self.by_distance[far as usize].push(switch);
    }

    /// Whether a message may go from a switch to a neighbour that has a way, and how it goes then.
    fn step(&self, from: Switch, to: Switch) -> Option<Way> {
        if self.heights.is_above(to, from) {
            return Some(Way::Climbs);
        }
        (self.ways[to as usize] == Way::Descends).then_some(Way::Descends)
    }

    /// Takes over the ways of an older table that still arrive and are legal.
    pub fn keep(&mut self, older: impl Fn(Switch) -> Port) {
        let mut passed = Vec::new();
        for from in 0..self.graph.switches() as Switch {
            let mut switch = from;
            passed.clear();
            while self.ways[switch as usize] == Way::None && passed.len() < self.graph.switches() {
                let Some(cable) = self.graph.across(switch, older(switch)) else { break };
                passed.push(cable);
                switch = cable.to;
            }
            // From the end back: each cable leads to a switch whose way is known, or not.
            while let Some(cable) = passed.pop() {
                let from = passed.last().map_or(from, |before| before.to);
                if self.ways[cable.to as usize] == Way::None {
                    continue;
                }
                let Some(way) = self.step(from, cable.to) else { continue };
                let far = self.far[cable.to as usize] + 1;
                self.enter(from, cable.port, way, far);
            }
        }
    }

    /// Finds the shortest legal ways for all other switches. Of equally short ones a switch takes
    /// the least loaded. The load is that of all destinations before; this one's is added.
    pub fn complete(&mut self, load: &mut [u64], look: Look) {
        let (mut far, mut asked) = (0, Vec::new());
        while far < self.by_distance.len() {
            for &to in &self.by_distance[far] {
                if matches!(look, Look::Way | Look::EachWay) {
                    self.loads[to as usize] = self.load(to, self.port(to), load);
                }
                for cable in self.graph.cables(to) {
                    let (from, port) = (cable.to, cable.its);
                    if self.ways[from as usize] != Way::None {
                        continue;
                    }
                    let Some(way) = self.step(from, to) else { continue };
                    if self.offers[from as usize].is_empty() {
                        asked.push(from);
                    }
                    self.offers[from as usize].push((port, way));
                }
            }
            for from in asked.drain(..) {
                let mut offers = std::mem::take(&mut self.offers[from as usize]);
                self.choose(from, far as u32 + 1, &mut offers, load, look);
                offers.clear();
                self.offers[from as usize] = offers;
            }
            far += 1;
        }
        if matches!(look, Look::Link | Look::Way) {
            self.flow(|_| true, |_, link, messages| load[link as usize] += u64::from(messages));
        }
    }

    fn choose(
        &mut self,
        from: Switch,
        far: u32,
        offers: &mut Vec<(Port, Way)>,
        load: &mut [u64],
        look: Look,
    ) {
        // To descend comes before the load: so reachability does not depend on loads.
        if offers.iter().any(|offer| offer.1 == Way::Descends) {
            offers.retain(|offer| offer.1 == Way::Descends);
        }
        let mut best = offers[0];
        if offers.len() > 1 && look != Look::Blind {
            let price = |offer: &&(Port, Way)| {
                let (fullest, sum) = self.load_ahead(from, offer.0, load, look);
                (if look == Look::EachWay { fullest } else { 0 }, sum, offer.0)
            };
            best = offers.iter().min_by_key(price).copied().unwrap_or(best);
        }
        self.enter(from, best.0, best.1, far);
        let own = u64::from(self.graph.own[from as usize]);
        if own > 0 && look == Look::EachWay {
            self.links(from, best.0).for_each(|link| load[link as usize] += own);
        }
    }

    /// The fullest link of a way, and the sum over its links: of squares, because one full link is
    /// worse than two half full ones.
    fn load(&self, switch: Switch, port: Port, load: &[u64]) -> (u64, u64) {
        let loads = self.links(switch, port).map(|link| load[link as usize]);
        loads.fold((0, 0), |(most, sum), load| (load.max(most), add(sum, load)))
    }

    fn load_ahead(&self, from: Switch, port: Port, load: &[u64], look: Look) -> (u64, u64) {
        let first = load[self.graph.links.link(from, port) as usize];
        let Some(cable) = self.graph.across(from, port) else { return (first, add(0, first)) };
        let (fullest, sum) = match look {
            Look::Blind | Look::Link => (0, 0),
            // Those before it with hosts have changed the load.
            Look::EachWay if self.graph.own[from as usize] > 0 => {
                return self.load(from, port, load);
            }
            Look::Way | Look::EachWay => self.loads[cable.to as usize],
        };
        (first.max(fullest), add(sum, first))
    }

    /// The links of the way from a switch by a port.
    fn links(&self, switch: Switch, port: Port) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.graph.across(switch, port).map(|cable| (switch, cable));
        std::iter::from_fn(move || {
            let (switch, cable) = next?;
            let port = self.ports[cable.to as usize];
            next = self.graph.across(cable.to, port).map(|after| (cable.to, after));
            Some(self.graph.links.link(switch, cable.port))
        })
    }

    /// By which port a switch sends; [`NO_PORT`] where it knows no way.
    pub fn port(&self, switch: Switch) -> Port {
        self.ports[switch as usize]
    }

    pub fn knows(&self, switch: Switch) -> bool {
        self.ways[switch as usize] != Way::None
    }

    /// Lets the hosts of the switches that are asked for send, and tells each link on the way with
    /// the number of its messages, the farthest first.
    pub fn flow(&mut self, sends: impl Fn(Switch) -> bool, mut pass: impl FnMut(Switch, u32, u32)) {
        for (at, passing) in self.passing.iter_mut().enumerate() {
            *passing = if sends(at as Switch) { self.graph.own[at] } else { 0 };
        }
        for switch in self.by_distance.iter().skip(1).rev().flatten() {
            let (passing, port) = (self.passing[*switch as usize], self.port(*switch));
            if passing == 0 {
                continue;
            }
            if let Some(cable) = self.graph.across(*switch, port) {
                self.passing[cable.to as usize] += passing;
                pass(*switch, self.graph.links.link(*switch, port), passing);
            }
        }
    }
}
