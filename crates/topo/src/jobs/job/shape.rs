//! Boxes of a multi-layer full mesh: jobs whose all-to-all takes as many phases as they have nodes.
//!
//! paper: fullmesh 8 asks how to place jobs on a part of the mesh. K layers, V vertices and p nodes
//! at each of their switches are a smaller mesh, whichever layers, vertices and nodes they are, if
//! p < V. In phase i, with k = i / (V p) and r = i mod (V p), node o of vertex v and layer l sends
//! to layer l + k; while r < (V-1) p to vertex v + 1 + (o + k + r/p) mod (V-1) and node o + r, then
//! to its own vertex and node o + r - (V-1) p.
//!
//! Why nothing meets: while r < (V-1) p the p nodes of a switch go to different vertices, each by
//! its own uplink, and the link down from an edge switch serves one layer, which hears from one.
//! Later the p receivers at a switch are different, and the receiver's number chooses the uplink.
//! With V = p + 1 = d + 1 it is the order of the whole machine. Where p reaches V, the nodes of a
//! switch have too few uplinks, except in a box of one vertex, which uses the last kind alone.

use std::fmt;

use laneway_core::{Phases, Rank};

use crate::topologies::mlfm::FullMesh;
use crate::wiring::Host;

/// K layers, V vertices, p nodes at each switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Layers of the mesh.
    pub layers: u32,
    /// Vertices of each layer.
    pub vertices: u32,
    /// Nodes at each switch.
    pub nodes: u32,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.layers, self.vertices, self.nodes)
    }
}

impl Shape {
    /// Reads `2x4x3`; says what is wrong with it for a mesh of this degree.
    pub fn parse(text: &str, degree: u32) -> Result<Shape, String> {
        let numbers: Vec<u32> = text.split('x').map_while(|word| word.parse().ok()).collect();
        let &[layers, vertices, nodes] = &numbers[..] else {
            return Err("a shape is LAYERSxVERTICESxNODES, such as 2x4x3".into());
        };
        if text.split('x').count() != 3 {
            return Err("a shape is LAYERSxVERTICESxNODES, such as 2x4x3".into());
        }
        let shape = Shape { layers, vertices, nodes };
        let most = [(layers, degree), (vertices, degree + 1), (nodes, degree)];
        if most.iter().any(|&(own, most)| !(1..=most).contains(&own)) {
            let whole = Shape { layers: degree, vertices: degree + 1, nodes: degree };
            return Err(format!("the whole mesh is {whole}, and nothing is less than 1"));
        }
        if !shape.has_enough_uplinks() {
            return Err(format!(
                "{nodes} nodes of a switch reach the other {} vertices over {} cables: the nodes \
                 are fewer than the vertices, or there is one vertex",
                vertices - 1,
                vertices - 1
            ));
        }
        Ok(shape)
    }

    /// Where the nodes of a switch would be too many for its uplinks, no order has as few phases.
    fn has_enough_uplinks(&self) -> bool {
        self.vertices == 1 || self.nodes < self.vertices
    }

    /// Nodes, and phases of the all-to-all.
    pub fn size(&self) -> u64 {
        u64::from(self.layers) * u64::from(self.vertices) * u64::from(self.nodes)
    }

    /// All shapes of `size` nodes on a mesh of this degree, those on the fewest switches first.
    pub fn of_size(size: u64, degree: u32) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for nodes in (1..=degree).rev().filter(|&nodes| size.is_multiple_of(u64::from(nodes))) {
            let switches = size / u64::from(nodes);
            for vertices in (1..=degree + 1).rev() {
                let layers = switches / u64::from(vertices);
                let whole = switches.is_multiple_of(u64::from(vertices));
                if whole && (1..=u64::from(degree)).contains(&layers) {
                    shapes.push(Shape { layers: layers as u32, vertices, nodes });
                }
            }
        }
        shapes.retain(Shape::has_enough_uplinks);
        shapes
    }

    /// Where the node at a place of the box sends; places are counted as hosts of the mesh are.
    fn to(&self, slot: u32, phase: u64) -> u32 {
        let Shape { layers, vertices, nodes } = *self;
        let (number, switch) = (slot % nodes, slot / nodes);
        let (vertex, layer) = (switch % vertices, switch / vertices);
        let block = u64::from(vertices) * u64::from(nodes);
        let (far, within) = ((phase / block) as u32, (phase % block) as u32);
        let (turned, others) = (within / nodes, vertices - 1);
        let vertex = match turned < others {
            true => (vertex + 1 + (number + far + turned) % others) % vertices,
            false => vertex,
        };
        ((layer + far) % layers * vertices + vertex) * nodes + (number + within) % nodes
    }
}

/// The order of a job that lies in a box, all of whose places need not be taken.
#[derive(Clone, Debug)]
pub struct Boxed {
    shape: Shape,
    /// The place of each rank, and the rank at each place.
    place: Vec<u32>,
    rank: Vec<Option<Rank>>,
}

impl Boxed {
    /// The smallest box around hosts, whose ranks are their places in the list.
    pub fn around(mesh: &FullMesh, hosts: &[Host]) -> Boxed {
        let (mut layers, mut vertices) = (Vec::new(), Vec::new());
        for &host in hosts {
            let (layer, vertex, _) = mesh.place(host);
            layers.push(layer);
            vertices.push(vertex);
        }
        for used in [&mut layers, &mut vertices] {
            used.sort_unstable();
            used.dedup();
        }
        let mut at_switch = vec![0; layers.len() * vertices.len()];
        let mut at = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let (layer, vertex, _) = mesh.place(host);
            // Both lists hold every layer and vertex of the hosts.
            let layer = layers.binary_search(&layer).unwrap_or_default() as u32;
            let vertex = vertices.binary_search(&vertex).unwrap_or_default() as u32;
            let many: &mut u32 = &mut at_switch[layer as usize * vertices.len() + vertex as usize];
            at.push((layer, vertex, *many));
            *many += 1;
        }
        let nodes = at_switch.into_iter().max().unwrap_or(1);
        let wide = if vertices.len() > 1 { (vertices.len() as u32).max(nodes + 1) } else { 1 };
        let shape = Shape { layers: layers.len().max(1) as u32, vertices: wide, nodes };
        let slot =
            |(layer, vertex, number): (u32, u32, u32)| (layer * wide + vertex) * nodes + number;
        let place: Vec<u32> = at.into_iter().map(slot).collect();
        let mut rank = vec![None; shape.size() as usize];
        for (own, &place) in place.iter().enumerate() {
            rank[place as usize] = Some(own as Rank);
        }
        Boxed { shape, place, rank }
    }

    /// How large it is.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether every place is taken.
    pub fn is_full(&self) -> bool {
        self.place.len() == self.rank.len()
    }
}

impl Phases for Boxed {
    fn count(&self) -> u64 {
        self.shape.size()
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        let to = self.shape.to(self.place[rank as usize], phase);
        self.rank[to as usize].unwrap_or(rank)
    }
}

/// How often the search for a box may look at a layer.
const MOST_STEPS: u32 = 200_000;

/// The free nodes of a mesh, switch by switch.
pub struct Board<'m> {
    mesh: &'m FullMesh,
    free: Vec<Vec<Host>>,
}

impl Board<'_> {
    /// The free nodes of a mesh.
    pub fn new<'m>(mesh: &'m FullMesh, free: &[Host]) -> Board<'m> {
        let mut at_switch = vec![Vec::new(); (mesh.degree() * mesh.vertices()) as usize];
        for &host in free {
            at_switch[(host / mesh.degree()) as usize].push(host);
        }
        Board { mesh, free: at_switch }
    }

    fn at(&self, layer: u32, vertex: u32) -> &[Host] {
        &self.free[self.mesh.vertex_switch(layer, vertex) as usize]
    }

    /// Hosts of a box that is free; `None` if no such box was found.
    pub fn find(&self, shape: Shape) -> Option<Vec<Host>> {
        let vertices = self.mesh.vertices();
        // A bit for each vertex of a layer that has enough nodes; there are at most 128 of them.
        let enough = |layer: u32| {
            let has = |&vertex: &u32| self.at(layer, vertex).len() >= shape.nodes as usize;
            (0..vertices).filter(has).fold(0u128, |bits, vertex| bits | 1 << vertex)
        };
        let layers: Vec<u128> = (0..self.mesh.degree()).map(enough).collect();
        let (mut chosen, mut steps) = (Vec::new(), MOST_STEPS);
        let common = choose(&layers, 0, u128::MAX, shape, &mut chosen, &mut steps)?;
        let common: Vec<u32> = (0..vertices).filter(|vertex| common >> vertex & 1 == 1).collect();
        let mut hosts = Vec::new();
        for &layer in &chosen {
            for &vertex in &common[..shape.vertices as usize] {
                hosts.extend_from_slice(&self.at(layer, vertex)[..shape.nodes as usize]);
            }
        }
        Some(hosts)
    }
}

/// Layers from `from` on that have enough vertices in common; the vertices.
fn choose(
    layers: &[u128],
    from: usize,
    common: u128,
    shape: Shape,
    chosen: &mut Vec<u32>,
    steps: &mut u32,
) -> Option<u128> {
    if chosen.len() == shape.layers as usize {
        return Some(common);
    }
    let missing = shape.layers as usize - chosen.len();
    for layer in from..=layers.len().checked_sub(missing)? {
        *steps = steps.checked_sub(1)?;
        let both = common & layers[layer];
        if both.count_ones() < shape.vertices {
            continue;
        }
        chosen.push(layer as u32);
        if let Some(found) = choose(layers, layer + 1, both, shape, chosen, steps) {
            return Some(found);
        }
        chosen.pop();
    }
    None
}
