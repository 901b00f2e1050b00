//! Several paths to each host of the full mesh, on one virtual lane.
//!
//! Path 0 is the mesh's own: between two vertices the one shortest way. Any other passes a switch
//! of a third vertex, a relay, and so a second edge switch. There is no credit loop if the edge
//! switches stand in an order and a way passes the lower one first; here they are coloured so that
//! no two at a vertex are alike, and the colours are the order. A destination's best relay is the
//! vertex of its highest edge, which every message may pass.
//!
//! A table knows where a message goes and not where it comes from: a relay sends straight on what
//! it passes on and what its own hosts send, and for those the path is not a second one. So a path
//! has as few relays as there can be: two vertices, in one layer, because the other layers of a
//! relay's vertex need another relay. Who may not pass a relay goes to it by a vertex between.

use laneway_stats::SplitMix64;

use super::{FullMesh, Role};
use crate::routing::Routing;
use crate::routing::table::Table;
use crate::wiring::{NO_PORT, Port, Wiring};

/// Vertices of the highest edges among which relays are looked for.
const CANDIDATES: usize = 8;
/// Orders among which the best is taken.
const DRAWN: u32 = 300;

/// A table of several paths to each host; `None` if the mesh has too few vertices for as many
/// relays, and the general engine keeps paths further apart.
pub fn paths(mesh: &FullMesh, count: u32) -> Option<Table> {
    if count == 0 || 2 * mesh.degree() < 5 * (count - 1) {
        return None;
    }
    let vertices = mesh.vertices();
    let mut table = Table::empty(mesh.switches(), mesh.hosts(), count);
    let order = Order::new(vertices);
    let groups: Vec<_> = (0..vertices).map(|to| groups(&order, to, count as usize - 1)).collect();
    for switch in 0..mesh.switches() {
        let role = mesh.role(switch);
        let row = table.row_mut(switch);
        for (host, ports) in (0..mesh.hosts()).zip(row.chunks_mut(count as usize)) {
            let place = mesh.place(host);
            ports[0] = mesh.port(switch, host).unwrap_or(NO_PORT);
            // Destinations of a vertex take its groups in turns, so that relays share the load.
            let groups = &groups[place.1 as usize];
            for (path, port) in (1..count).zip(&mut ports[1..]) {
                let group = &groups[(place.2 + path) as usize % groups.len()];
                *port = group.port(mesh, role, place, path);
            }
        }
    }
    Some(table)
}

/// The order of the edge switches.
struct Order {
    vertices: u32,
    /// By colour.
    places: Vec<u32>,
}

impl Order {
    /// The colours stand so that of any two vertices each may reach the other over about half of
    /// all vertices: the best of some orders that are drawn.
    fn new(vertices: u32) -> Order {
        let colours = vertices - 1 + vertices % 2;
        let mut random = SplitMix64::new(u64::from(vertices));
        let mut drawn = |_| {
            let mut places: Vec<u32> = (0..colours).collect();
            random.shuffle(&mut places);
            places
        };
        let fewest = |places: &Vec<u32>| {
            let climbs = |by: usize| {
                let on = places.iter().cycle().skip(by);
                places.iter().zip(on).filter(|(one, other)| one < other).count()
            };
            (1..places.len()).map(climbs).min()
        };
        let places = (0..DRAWN).map(&mut drawn).max_by_key(fewest).unwrap_or_default();
        Order { vertices, places }
    }

    /// The place of an edge switch, the same for no two at a vertex. Its colour is the round of a
    /// tournament in which the two meet.
    fn height(&self, one: u32, other: u32) -> u32 {
        let last = self.vertices - 1;
        let colour = match self.vertices % 2 {
            1 => (one + other) % self.vertices,
            _ if one == last => 2 * other % last,
            _ if other == last => 2 * one % last,
            _ => (one + other) % last,
        };
        self.places[colour as usize]
    }
}

/// Groups of relays to one vertex that share no vertex, one for each path while there are enough.
/// The highest edges are shared out first: nearly every vertex can pass a group's first relay, and
/// the second is for its vertex.
fn groups(order: &Order, to: u32, paths: usize) -> Vec<Group> {
    let vertices = order.vertices;
    let mut free: Vec<u32> = (0..vertices).filter(|&vertex| vertex != to).collect();
    free.sort_by_key(|&vertex| std::cmp::Reverse(order.height(vertex, to)));
    let second = free.split_off(free.len().min(paths.max(1)));
    let mut second: Vec<u32> = second.into_iter().take(CANDIDATES + paths).collect();
    let mut groups: Vec<Group> = Vec::new();
    for first in free {
        let pair = |other: u32| if other == first { vec![first] } else { vec![first, other] };
        let group = |other: &u32| {
            let mut group = Group::straight(order, to, pair(*other));
            group.add_middles(order, |_| Vec::new());
            group
        };
        let all = std::iter::once(&first).chain(&second);
        let best = all.map(group).min_by_key(|group| group.lost(to));
        let relays = best.map_or(vec![first], |best| best.relays);
        second.retain(|vertex| !relays.contains(vertex));
        groups.push(Group::straight(order, to, relays));
    }
    // Where there are more paths than one, what a path does not need may serve another.
    if groups.len() > 1 {
        groups.iter_mut().flat_map(|group| &mut group.via).for_each(|via| via.truncate(1));
    }
    for at in 0..groups.len() {
        let mut group = groups[at].clone();
        let used = |from: u32| groups.iter().flat_map(|group| group.passed(from)).collect();
        group.add_middles(order, used);
        groups[at] = group;
    }
    groups
}

/// How one path gets to the hosts of one vertex.
#[derive(Clone)]
struct Group {
    /// One or two.
    relays: Vec<u32>,
    /// By vertex: where it sends, to relays or to one vertex between. Without an entry it sends
    /// straight on.
    via: Vec<Vec<u32>>,
}

impl Group {
    /// Each vertex sends to the relays that it may pass.
    fn straight(order: &Order, to: u32, relays: Vec<u32>) -> Group {
        let passes = |from: u32, relay: u32| {
            from != relay && order.height(from, relay) < order.height(relay, to)
        };
        let mut via: Vec<Vec<u32>> = (0..order.vertices)
            .map(|from| relays.iter().copied().filter(|&relay| passes(from, relay)).collect())
            .collect();
        via[to as usize].clear();
        // Two relays would use the edge between them both ways.
        if let [one, other] = relays[..]
            && !via[one as usize].is_empty()
        {
            via[other as usize].clear();
        }
        Group { relays, via }
    }

    /// Who may pass no relay goes by a vertex between that may, and that none of his other paths
    /// passes.
    fn add_middles(&mut self, order: &Order, used: impl Fn(u32) -> Vec<u32>) {
        let none: Vec<u32> =
            (0..order.vertices).filter(|&v| self.via[v as usize].is_empty()).collect();
        for &from in &none {
            let used = used(from);
            let serves = |middle: u32, relay: u32| {
                relay != from && order.height(from, middle) < order.height(middle, relay)
            };
            let is_free = |middle: u32| {
                let taken =
                    [&none, &used, &self.relays].iter().any(|those| those.contains(&middle));
                !taken && middle != from
            };
            let found = (0..order.vertices).filter(|&middle| is_free(middle)).find_map(|middle| {
                let on = self.via[middle as usize].iter();
                let on = on.copied().find(|&relay| serves(middle, relay))?;
                Some((middle, on))
            });
            if let Some((middle, on)) = found {
                // The vertex between sends on to this relay alone.
                self.via[middle as usize] = vec![on];
                self.via[from as usize] = vec![middle];
            }
        }
    }

    /// The vertices that this path passes from a vertex on.
    fn passed(&self, from: u32) -> Vec<u32> {
        let via = &self.via[from as usize];
        let on = |&next: &u32| match self.relays.contains(&next) {
            true => Vec::new(),
            false => self.via[next as usize].clone(),
        };
        via.iter().copied().chain(via.iter().flat_map(on)).collect()
    }

    /// Switches without a second path: all layers of a vertex, or the relay alone.
    fn lost(&self, to: u32) -> u32 {
        let layers = self.via.len() as u32 - 1;
        let lost = |from: u32| match self.via[from as usize].is_empty() {
            true => layers,
            false => u32::from(self.relays.contains(&from)),
        };
        (0..=layers).filter(|&from| from != to).map(lost).sum()
    }

    /// The port of a switch on this path to a host.
    fn port(
        &self,
        mesh: &FullMesh,
        role: Role,
        (layer, vertex, number): (u32, u32, u32),
        path: u32,
    ) -> Port {
        let d = mesh.degree();
        let relay_layer = (layer + number + path) % d;
        let port = match role {
            Role::Vertex { layer: own, vertex: at } if at == vertex => match own == layer {
                true => number,
                false => d + (number + path) % d,
            },
            Role::Vertex { layer: own, vertex: at } => {
                let is_relay = own == relay_layer && self.relays.contains(&at);
                let via = &self.via[at as usize];
                let to = match via.len() {
                    0 => vertex,
                    _ if is_relay => vertex,
                    count => via[(own + number) as usize % count],
                };
                return mesh.uplink(at, to);
            }
            Role::Edge { a, .. } if a == vertex => layer,
            Role::Edge { b, .. } if b == vertex => d + layer,
            Role::Edge { a, b } if self.via[a as usize].contains(&b) => d + relay_layer,
            Role::Edge { a, b } if self.via[b as usize].contains(&a) => relay_layer,
            // No message between hosts comes here. What the switch itself sends goes by its smaller
            // vertex, which sends nothing back: then this were a way of hosts.
            Role::Edge { .. } => d - 1,
        };
        port as Port
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_edges_at_a_vertex_stand_alike() {
        for vertices in 2..40 {
            let order = Order::new(vertices);
            for at in 0..vertices {
                let others = (0..vertices).filter(|&other| other != at);
                let mut seen: Vec<u32> = others.map(|o| order.height(at, o)).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len() as u32, vertices - 1, "vertex {at} of {vertices}");
            }
        }
    }
}
