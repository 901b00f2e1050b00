//! The switches of a wiring and the cables between them, as lists that are quick to follow.

use std::collections::VecDeque;

use crate::wiring::links::Links;
use crate::wiring::{End, Host, Port, Switch, Wiring};

/// A cable as one of its switches sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cable {
    /// The port that it leaves from.
    pub port: Port,
    /// The switch that it leads to.
    pub to: Switch,
    /// The port at its other end.
    pub its: Port,
}

pub(crate) struct Graph {
    first: Vec<u32>,
    cables: Vec<Cable>,
    /// The cable at each link.
    at: Vec<Option<Cable>>,
    /// The numbers of the links.
    pub links: Links,
    /// How many hosts each switch has.
    pub own: Vec<u32>,
    /// Where each host is plugged in.
    pub places: Vec<Option<(Switch, Port)>>,
}

/// Farther than any switch.
pub(crate) const FAR: u32 = u32::MAX;

impl Graph {
    /// The graph of a fabric.
    pub fn of(wiring: &dyn Wiring) -> Graph {
        let links = Links::of(wiring);
        let mut at = vec![None; links.count() as usize];
        let (mut first, mut cables) = (vec![0], Vec::new());
        for switch in 0..wiring.switches() {
            for port in 0..wiring.ports(switch) as Port {
                match wiring.end(switch, port) {
                    // A cable from a switch to itself shortens no way.
                    End::Switch(to, its) if to != switch => {
                        cables.push(Cable { port, to, its });
                        at[links.link(switch, port) as usize] = cables.last().copied();
                    }
                    _ => {}
                }
            }
            first.push(cables.len() as u32);
        }
        let places: Vec<_> = (0..wiring.hosts()).map(|host| wiring.attached(host)).collect();
        let mut own = vec![0; wiring.switches() as usize];
        for (switch, _) in places.iter().flatten() {
            own[*switch as usize] += 1;
        }
        Graph { first, cables, at, links, own, places }
    }

    /// How many switches there are.
    pub fn switches(&self) -> usize {
        self.own.len()
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        self.places.len() as u32
    }

    /// The cables of a switch to other switches.
    pub fn cables(&self, switch: Switch) -> &[Cable] {
        let at = switch as usize;
        &self.cables[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// The switch that a port leads to.
    pub fn across(&self, switch: Switch, port: Port) -> Option<Cable> {
        self.links.checked(switch, port).and_then(|link| self.at[link as usize])
    }

    /// Switches that have hosts.
    pub fn leaves(&self) -> impl Iterator<Item = Switch> + '_ {
        (0..self.switches() as Switch).filter(|&switch| self.own[switch as usize] > 0)
    }

    /// Hosts that have a cable, with their places.
    pub fn plugged(&self) -> impl Iterator<Item = (Host, Switch, Port)> + '_ {
        let place = |(host, place): (usize, &Option<(Switch, Port)>)| {
            place.map(|(switch, port)| (host as Host, switch, port))
        };
        self.places.iter().enumerate().filter_map(place)
    }

    /// Cables from the nearest of some switches to every one; [`FAR`] where there is no way.
    pub fn distances(&self, from: impl IntoIterator<Item = Switch>) -> Vec<u32> {
        let mut far = vec![FAR; self.switches()];
        let mut next: VecDeque<Switch> = from.into_iter().collect();
        next.iter().for_each(|&switch| far[switch as usize] = 0);
        while let Some(switch) = next.pop_front() {
            for cable in self.cables(switch) {
                if far[cable.to as usize] == FAR {
                    far[cable.to as usize] = far[switch as usize] + 1;
                    next.push_back(cable.to);
                }
            }
        }
        far
    }

    /// For every switch a number that it shares with those that it is connected with.
    pub fn pieces(&self) -> Vec<u32> {
        let mut piece = vec![FAR; self.switches()];
        for begin in 0..self.switches() as Switch {
            if piece[begin as usize] != FAR {
                continue;
            }
            piece[begin as usize] = begin;
            let mut next = vec![begin];
            while let Some(switch) = next.pop() {
                for cable in self.cables(switch) {
                    if piece[cable.to as usize] == FAR {
                        piece[cable.to as usize] = begin;
                        next.push(cable.to);
                    }
                }
            }
        }
        piece
    }

    /// How far every switch is, and by how many shortest ways.
    pub fn shortest(&self, from: Switch) -> (Vec<u32>, Vec<f64>) {
        let far = self.distances([from]);
        let mut ways = vec![0.0; self.switches()];
        ways[from as usize] = 1.0;
        let mut order: Vec<Switch> = (0..self.switches() as Switch).collect();
        order.retain(|&switch| far[switch as usize] != FAR);
        order.sort_by_key(|&switch| far[switch as usize]);
        for switch in order {
            for cable in self.cables(switch) {
                if far[cable.to as usize] == far[switch as usize] + 1 {
                    ways[cable.to as usize] += ways[switch as usize];
                }
            }
        }
        (far, ways)
    }

    /// Ways from one switch to another that share no cable in one direction: a flow of Ford and
    /// Fulkerson with every cable of capacity 1.
    pub fn disjoint(&self, from: Switch, to: Switch) -> u32 {
        let mut used = vec![false; self.links.count() as usize];
        let mut found = 0;
        while let Some(way) = self.free_way(from, to, &used) {
            for (link, is_used) in way {
                used[link as usize] = is_used;
            }
            found += 1;
        }
        found
    }

    /// A way over links that are free, or back over those that are used, which undoes a part of
    /// another way: the links that change, and whether they are used then.
    fn free_way(&self, from: Switch, to: Switch, used: &[bool]) -> Option<Vec<(u32, bool)>> {
        let mut before: Vec<Option<(Switch, u32, bool)>> = vec![None; self.switches()];
        let mut next = VecDeque::from([from]);
        while before[to as usize].is_none() {
            let switch = next.pop_front()?;
            for cable in self.cables(switch) {
                if cable.to == from || before[cable.to as usize].is_some() {
                    continue;
                }
                let link = self.links.link(switch, cable.port);
                let back = self.links.link(cable.to, cable.its);
                let change = match (used[link as usize], used[back as usize]) {
                    (_, true) => (back, false),
                    (false, false) => (link, true),
                    (true, false) => continue,
                };
                before[cable.to as usize] = Some((switch, change.0, change.1));
                next.push_back(cable.to);
            }
        }
        let (mut way, mut at) = (Vec::new(), to);
        while at != from {
            let (earlier, link, is_used) = before[at as usize]?;
            way.push((link, is_used));
            at = earlier;
        }
        Some(way)
    }
}

/// Cables from the nearest switch with hosts to every switch; [`u32::MAX`] where there is no way.
pub fn levels(wiring: &dyn Wiring) -> Vec<u32> {
    let graph = Graph::of(wiring);
    graph.distances(graph.leaves())
}
