//! The multi-layer full mesh: every edge of a full mesh of switches is a switch, shared by layers.
//!
//! paper: fullmesh 4. With switches of 2 d ports: d layers of d + 1 vertex switches, each with d
//! hosts and a cable to the edge switch of every other vertex; d (d+1) / 2 edge switches, each with
//! two cables to every layer.

mod paths;

use laneway_coll::MeshOrder;
use laneway_core::Phases;

use super::{Bisection, Kind, Topology};
use crate::routing::Routing;
use crate::routing::table::Table;
use crate::wiring::{End, Host, Port, Reach, Switch, Wiring};

/// The kind.
pub const KIND: Kind = Kind {
    name: "mlfm",
    sentence: "multi-layer full mesh: d^2 (d+1) hosts, 3 d (d+1) / 2 switches of 2 d ports",
    source: "Nakashima and Miwa 2014",
    least: 1,
    only_even: false,
    build: |d| Box::new(FullMesh::new(d)),
};

/// Vertex switch (l, v) is number l (d+1) + v; edge switches follow, {0,1}, {0,2}, …, {1,2}, ….
/// A vertex switch has its hosts at ports 0 to d-1, and at port d + r the cable towards vertex
/// v + 1 + r; an edge switch has layer l of its smaller vertex at port l, of its larger at d + l.
#[derive(Clone, Debug)]
pub struct FullMesh {
    degree: u32,
    /// The two vertices of each edge switch.
    edges: Vec<(u32, u32)>,
}

impl FullMesh {
    /// The mesh of switches with twice as many ports.
    pub fn new(degree: u32) -> FullMesh {
        let edges = (0..=degree).flat_map(|a| (a + 1..=degree).map(move |b| (a, b))).collect();
        FullMesh { degree, edges }
    }

    /// Half the ports of a switch: d.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// Vertices of a layer: d + 1.
    pub fn vertices(&self) -> u32 {
        self.degree + 1
    }

    fn vertex_switches(&self) -> u32 {
        self.degree * self.vertices()
    }

    /// The switch of a vertex in a layer.
    pub fn vertex_switch(&self, layer: u32, vertex: u32) -> Switch {
        layer * self.vertices() + vertex
    }

    /// The switch between two different vertices.
    pub fn edge_switch(&self, one: u32, other: u32) -> Switch {
        let (a, b) = (one.min(other), one.max(other));
        self.vertex_switches() + a * self.vertices() - a * (a + 1) / 2 + b - a - 1
    }

    /// Layer, vertex and number of a host.
    pub fn place(&self, host: Host) -> (u32, u32, u32) {
        let (d, vertices) = (self.degree, self.vertices());
        (host / (d * vertices), host / d % vertices, host % d)
    }

    /// The port of a switch at vertex `from` towards vertex `to`, which is another.
    pub fn uplink(&self, from: u32, to: u32) -> Port {
        (self.degree + (to + self.vertices() - from - 1) % self.vertices()) as Port
    }

    /// Layer and vertex of a vertex switch, or the two vertices of an edge switch.
    pub fn role(&self, switch: Switch) -> Role {
        let vertices = self.vertices();
        match switch.checked_sub(self.vertex_switches()) {
            None => Role::Vertex { layer: switch / vertices, vertex: switch % vertices },
            Some(edge) => {
                let (a, b) = self.edges[edge as usize];
                Role::Edge { a, b }
            }
        }
    }

    /// The vertex in whose row an edge switch stands: each row has about d / 2 of them.
    fn home(&self, a: u32, b: u32) -> u32 {
        let ahead = b - a - 1;
        if 2 * ahead < self.degree { a } else { b }
    }
}

/// What a switch of the mesh does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It has hosts.
    Vertex {
        /// The layer that it is in.
        layer: u32,
        /// The vertex of the layer.
        vertex: u32,
    },
    /// It joins two vertices in every layer.
    Edge {
        /// The vertex with the lower number.
        a: u32,
        /// The other one.
        b: u32,
    },
}

impl Wiring for FullMesh {
    fn hosts(&self) -> u32 {
        self.degree * self.vertex_switches()
    }

    fn switches(&self) -> u32 {
        self.vertex_switches() + self.edges.len() as u32
    }

    fn ports(&self, _switch: Switch) -> u32 {
        2 * self.degree
    }

    fn end(&self, switch: Switch, port: Port) -> End {
        let (d, port) = (self.degree, u32::from(port));
        if port >= 2 * d {
            return End::Nothing;
        }
        match self.role(switch) {
            Role::Vertex { .. } if port < d => End::Host(switch * d + port),
            Role::Vertex { layer, vertex } => {
                let other = (vertex + 1 + port - d) % self.vertices();
                let port = if vertex < other { layer } else { d + layer };
                End::Switch(self.edge_switch(vertex, other), port as Port)
            }
            Role::Edge { a, b } => {
                let (layer, own, other) = if port < d { (port, a, b) } else { (port - d, b, a) };
                End::Switch(self.vertex_switch(layer, own), self.uplink(own, other))
            }
        }
    }

    fn attached(&self, host: Host) -> Option<(Switch, Port)> {
        Some((host / self.degree, (host % self.degree) as Port))
    }

    fn switch_name(&self, switch: Switch) -> String {
        match self.role(switch) {
            Role::Vertex { layer, vertex } => format!("vertex-{layer}-{vertex}"),
            Role::Edge { a, b } => format!("edge-{a}-{b}"),
        }
    }

    fn reach(&self, switch: Switch, port: Port) -> Reach {
        let (vertex, edge) = match (self.role(switch), self.end(switch, port)) {
            (_, End::Host(_)) => return Reach::Rack,
            (Role::Vertex { vertex, .. }, End::Switch(edge, _)) => (vertex, edge),
            (Role::Edge { a, b }, _) => {
                let vertex = if u32::from(port) < self.degree { a } else { b };
                (vertex, switch)
            }
            (Role::Vertex { .. }, End::Nothing) => return Reach::Hall,
        };
        match self.role(edge) {
            Role::Edge { a, b } if self.home(a, b) == vertex => Reach::Row,
            _ => Reach::Hall,
        }
    }
}

impl FullMesh {
    /// Between vertices there is one shortest way. Between layers at one vertex there are d, and
    /// the destination's number chooses: so the d hosts of a switch use d different ones.
    fn port_to(&self, role: Role, (layer, vertex, number): (u32, u32, u32)) -> Port {
        let d = self.degree;
        match role {
            Role::Vertex { vertex: own, .. } if own != vertex => self.uplink(own, vertex),
            Role::Vertex { layer: own, .. } if own != layer => (d + number) as Port,
            Role::Vertex { .. } => number as Port,
            Role::Edge { a, .. } if a == vertex => layer as Port,
            Role::Edge { b, .. } if b == vertex => (d + layer) as Port,
            // No message between hosts comes here on its way to another vertex. What the switch
            // itself sends there passes the last layer of its smaller vertex, as if all vertices
            // stood below each other: so it closes no credit loop.
            Role::Edge { .. } => (d - 1) as Port,
        }
    }
}

impl Routing for FullMesh {
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        Some(self.port_to(self.role(switch), self.place(host)))
    }

    /// Without a division for each host.
    fn row(&self, switch: Switch, row: &mut [Port]) {
        let (role, wide) = (self.role(switch), self.degree as usize);
        let mut places = row.chunks_mut(wide);
        for layer in 0..self.degree {
            for vertex in 0..self.vertices() {
                for (number, port) in places.next().into_iter().flatten().enumerate() {
                    *port = self.port_to(role, (layer, vertex, number as u32));
                }
            }
        }
    }
}

impl Topology for FullMesh {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn d(&self) -> u32 {
        self.degree
    }

    fn order(&self) -> Box<dyn Phases + Send + Sync> {
        Box::new(MeshOrder::new(self.degree))
    }

    fn paths(&self, count: u32) -> Option<Table> {
        paths::paths(self, count)
    }

    /// paper: fullmesh 5.2 cuts between vertices. With an odd number of them it is better to split
    /// the middle one's layers.
    fn bisection(&self) -> Bisection {
        let d = f64::from(self.degree);
        let between = (d + 1.0) / (2.0 * d);
        let least = match self.degree % 2 {
            0 => (d + 2.0) / (2.0 * d + 2.0),
            _ => between,
        };
        Bisection { per_host: least, in_paper: Some(between) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least cut over every way to part the switches: only the number of a vertex's layers on
    /// one side matters; an edge switch stands where most of its cables lead; hosts that must
    /// change sides for equal halves cost a cable each.
    fn least_cut(d: i64) -> i64 {
        fn parts(d: i64, left: i64, from: i64, taken: &mut Vec<i64>, best: &mut i64) {
            if left == 0 {
                let sum: i64 = taken.iter().sum();
                let mut cut = (d * sum - d * d * (d + 1) / 2).abs();
                for (at, a) in taken.iter().enumerate() {
                    let edges = taken[at + 1..].iter().map(|b| (a + b).min(2 * d - a - b));
                    cut += edges.sum::<i64>();
                }
                *best = cut.min(*best);
                return;
            }
            for layers in from..=d {
                taken.push(layers);
                parts(d, left - 1, layers, taken, best);
                taken.pop();
            }
        }
        let mut best = i64::MAX;
        parts(d, d + 1, 0, &mut Vec::new(), &mut best);
        best
    }

    #[test]
    fn the_bisection_is_the_least_cut() {
        for d in 2..=8 {
            let half = f64::from(d * d * (d + 1)) / 2.0;
            let cut = FullMesh::new(d).bisection().per_host * half;
            assert!((cut - least_cut(i64::from(d)) as f64).abs() < 1e-9, "d = {d}: {cut}");
        }
    }

    #[test]
    fn rows_share_the_edge_switches() {
        let mesh = FullMesh::new(8);
        for vertex in 0..9 {
            let owns = |&other: &u32| mesh.home(vertex.min(other), vertex.max(other)) == vertex;
            assert_eq!((0..9).filter(|&other| other != vertex).filter(owns).count(), 4);
        }
    }
}
