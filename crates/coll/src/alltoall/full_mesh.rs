//! The all-to-all of a multi-layer full mesh: n phases in which no two messages share a link.
//!
//! paper: fullmesh 4, equations (2) and (3). As printed they hold for the first layer alone: the
//! source's own layer is missing in (2), and neither wraps around. What follows is the form that
//! gives the tables of figures 7 and 8, and is a permutation in every phase for every d.
//!
//! Node S = (l (d+1) + v) d + o is number o at vertex v of layer l. In phase i, with
//! k = i / (d (d+1)), it sends to layer l + k, number o + i, and vertex v + (o + i/d) mod d + 1 in
//! the first d^2 phases of every d (d+1), its own vertex v in the last d.

use laneway_core::{Collective, Matrix, Phases, Rank, Round, Schedule};

use crate::registry::{Algorithm, Parameter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "full-mesh",
    sentence: "the order that has no conflict on the first nodes of a multi-layer full mesh",
    source: "Nakashima and Miwa 2014",
    parameters: &[(Parameter::Window, 1)],
    in_place: false,
    build: |shape, params, _| {
        let order = Order::holding(shape.ranks);
        Ok(Box::new(FullMesh { order, matrix: shape.matrix(), window: params.window() }))
    },
    ..Algorithm::BASE
};

/// The receivers of all ranks in each phase of the all-to-all on the first nodes of a mesh. What is
/// sent to a node beyond them is left out, and what is left has no conflict either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    degree: u32,
    nodes: u32,
}

impl Order {
    /// The whole mesh of switches of 2 d ports: d layers, d + 1 vertices, d nodes at each.
    pub fn new(degree: u32) -> Order {
        Order { degree, nodes: degree * degree * (degree + 1) }
    }

    /// The first nodes of the smallest mesh that has them.
    pub fn holding(nodes: u32) -> Order {
        let holds = |d: &u32| u64::from(*d) * u64::from(*d) * u64::from(d + 1) >= u64::from(nodes);
        let degree = (1..).find(holds).unwrap_or(1);
        Order { degree, nodes }
    }

    /// How many nodes the mesh has.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// How far a phase goes: layers up, numbers up, and vertices up for a node of number o.
    fn stride(&self, phase: u64) -> (u32, u32, impl Fn(u32) -> u32 + use<>) {
        let d = u64::from(self.degree);
        let (block, within) = (phase / (d * (d + 1)), phase % (d * (d + 1)));
        let (turned, degree, inside) = ((phase / d % d) as u32, self.degree, within >= d * d);
        let vertices = move |o: u32| if inside { 0 } else { (o + turned) % degree + 1 };
        ((block % d) as u32, (phase % d) as u32, vertices)
    }

    /// Whom `rank` sends to in `phase` on the whole mesh.
    fn target(&self, rank: Rank, phase: u64) -> Rank {
        let d = self.degree;
        let (layer, vertex, number) = (rank / (d * (d + 1)), rank / d % (d + 1), rank % d);
        let (layers, numbers, vertices) = self.stride(phase);
        let to = (vertex + vertices(number)) % (d + 1);
        ((layer + layers) % d * (d + 1) + to) * d + (number + numbers) % d
    }

    /// Who sends to `rank` in `phase` on the whole mesh.
    fn source(&self, rank: Rank, phase: u64) -> Rank {
        let d = self.degree;
        let (layer, vertex, number) = (rank / (d * (d + 1)), rank / d % (d + 1), rank % d);
        let (layers, numbers, vertices) = self.stride(phase);
        let from = (number + d - numbers) % d;
        let at = (vertex + d + 1 - vertices(from)) % (d + 1);
        ((layer + d - layers) % d * (d + 1) + at) * d + from
    }
}

impl Phases for Order {
    fn count(&self) -> u64 {
        let d = u64::from(self.degree);
        d * d * (d + 1)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        let to = self.target(rank, phase);
        if to < self.nodes { to } else { rank }
    }

    /// Without a division for each: all layers do the same, all vertices nearly so.
    fn partners(&self, phase: u64, out: &mut [Rank]) {
        let (d, whole) = (self.degree, self.degree * (self.degree + 1));
        let (layers, numbers, vertices) = self.stride(phase);
        let within: Vec<(u32, u32)> =
            (0..d).map(|o| (vertices(o) * d, (o + numbers) % d)).collect();
        let mut first = Vec::with_capacity(whole as usize);
        for vertex in 0..=d {
            first.extend(within.iter().map(|&(far, number)| {
                let to = vertex * d + far;
                (if to >= whole { to - whole } else { to }) + number
            }));
        }
        for (layer, row) in out.chunks_mut(whole as usize).enumerate() {
            let base = (layer as u32 + layers) % d * whole;
            for (to, within) in row.iter_mut().zip(&first) {
                *to = base + within;
            }
        }
        if u64::from(self.nodes) < self.count() {
            for (rank, to) in out.iter_mut().enumerate().filter(|(_, to)| **to >= self.nodes) {
                *to = rank as Rank;
            }
        }
    }
}

struct FullMesh {
    order: Order,
    matrix: Matrix,
    window: u32,
}

impl Schedule for FullMesh {
    fn ranks(&self) -> u32 {
        self.order.nodes()
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        self.order.count()
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let (to, from) = (self.order.target(rank, k), self.order.source(rank, k));
        if to == rank {
            return out.copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
        }
        if from < self.order.nodes {
            out.recv_window(self.window);
            out.recv(from, self.matrix.received(from, rank));
        }
        if to < self.order.nodes {
            out.send_window(self.window);
            out.send(to, self.matrix.sent(rank, to));
        }
    }

    fn phases(&self) -> Option<&dyn Phases> {
        Some(&self.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// paper: fullmesh figures 7 and 8: the phases of the nodes of the first layer, d = 3.
    const FIGURES: [(u64, [u32; 12]); 8] = [
        (0, [3, 7, 11, 6, 10, 2, 9, 1, 5, 0, 4, 8]),
        (1, [4, 8, 9, 7, 11, 0, 10, 2, 3, 1, 5, 6]),
        (6, [9, 4, 8, 0, 7, 11, 3, 10, 2, 6, 1, 5]),
        (10, [1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9]),
        (12, [18, 22, 17, 21, 13, 20, 12, 16, 23, 15, 19, 14]),
        (17, [23, 15, 19, 14, 18, 22, 17, 21, 13, 20, 12, 16]),
        (20, [17, 18, 22, 20, 21, 13, 23, 12, 16, 14, 15, 19]),
        (23, [14, 12, 13, 17, 15, 16, 20, 18, 19, 23, 21, 22]),
    ];

    #[test]
    fn the_figures_of_the_paper() {
        let order = Order::new(3);
        for (phase, row) in FIGURES {
            let ours: Vec<u32> = (0..12).map(|rank| order.partner(rank, phase)).collect();
            assert_eq!(ours, row, "phase {phase}");
        }
    }

    #[test]
    fn all_pairs_meet_once_and_all_forms_agree() {
        for nodes in (1..=40).chain([80, 150, 151, 252]) {
            let order = Order::holding(nodes);
            let mut met = vec![false; (nodes * nodes) as usize];
            let mut row = vec![0; nodes as usize];
            for phase in 0..order.count() {
                order.partners(phase, &mut row);
                for rank in 0..nodes {
                    let to = order.partner(rank, phase);
                    assert_eq!(row[rank as usize], to);
                    let target = order.target(rank, phase);
                    assert_eq!(order.source(target, phase), rank);
                    if target < nodes {
                        let pair = &mut met[(rank * nodes + to) as usize];
                        assert!(!std::mem::replace(pair, true), "{rank} to {to} twice");
                    }
                }
            }
            assert!(met.into_iter().all(|met| met), "{nodes} nodes");
        }
        assert_eq!(Order::holding(80), Order::new(4));
    }
}
