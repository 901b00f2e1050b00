//! Figure 9 and table 2: what the mesh is made of, and how many cables halve it.

use std::collections::BTreeSet;

use laneway_topo::topologies::mlfm::{FullMesh, Role};
use laneway_topo::{End, Port, Switch, Topology, Wiring, topology};

use super::{DEGREES, TABLE, counted};
use crate::Claim;
use crate::error::PaperError;
use crate::part::Part;

fn neighbours(wiring: &dyn Wiring, switch: Switch) -> Vec<Switch> {
    let end = |port| match wiring.end(switch, port) {
        End::Switch(other, _) => Some(other),
        End::Host(_) | End::Nothing => None,
    };
    (0..wiring.ports(switch) as Port).filter_map(end).collect()
}

/// Whether the switches of a vertex in all layers, with the edge switches that they see, are a
/// two-level fat tree: one cable between each of the d below and each of the d above.
fn is_tree(mesh: &FullMesh, vertex: u32) -> bool {
    let d = mesh.degree() as usize;
    let leaves: Vec<Switch> =
        (0..mesh.degree()).map(|layer| mesh.vertex_switch(layer, vertex)).collect();
    let above = |leaf: &Switch| neighbours(mesh, *leaf);
    let spines: BTreeSet<Switch> = leaves.iter().flat_map(above).collect();
    let meets_all = |leaf: &Switch| {
        let own = neighbours(mesh, *leaf);
        own.len() == d && own.iter().collect::<BTreeSet<_>>().len() == d
    };
    spines.len() == d && leaves.iter().all(meets_all)
}

pub fn figure_9() -> Part {
    let mut claims = Vec::new();
    for d in [3].into_iter().chain(DEGREES) {
        let mesh = FullMesh::new(d);
        let trees = (0..mesh.vertices()).filter(|&vertex| is_tree(&mesh, vertex)).count();
        let what = format!("d = {d}: vertices whose switches form a two-level fat tree");
        let vertices = Some(f64::from(mesh.vertices()));
        claims.push(Claim::ratio_of(what, vertices, trees as f64).equal());
    }
    Part {
        claims,
        ..counted("figure-9", "Figure 9: the switches of one vertex over all layers", TABLE)
    }
}

/// Cables between two halves, for each host of a half. Half of the vertices are on one side; of a
/// middle one half of the layers; edge switches stand where most of their cables lead.
fn cut(mesh: &FullMesh) -> f64 {
    let (d, vertices) = (mesh.degree(), mesh.vertices());
    let is_left = |switch: Switch| match mesh.role(switch) {
        Role::Vertex { layer, vertex } if vertices % 2 == 1 && vertex == vertices / 2 => {
            layer < d / 2
        }
        Role::Vertex { vertex, .. } => vertex < vertices / 2,
        Role::Edge { .. } => false,
    };
    let edges = d * vertices..mesh.switches();
    let crossing = |edge: Switch| {
        let own = neighbours(mesh, edge);
        let left = own.iter().filter(|&&switch| is_left(switch)).count();
        left.min(own.len() - left) as f64
    };
    edges.map(crossing).sum::<f64>() / (f64::from(mesh.hosts()) / 2.0)
}

pub fn table_2() -> Result<Part, PaperError> {
    let mut claims = Vec::new();
    for d in DEGREES {
        let tree = topology(&format!("fat-tree-3:d={d}"))
            .map_err(PaperError::testbed)?
            .bisection()
            .per_host;
        claims.push(Claim::ratio_of(format!("fat-tree-3, d = {d}"), Some(1.0), tree).equal());
    }
    for d in [3, 4, 7, 8, 17, 18] {
        let mesh = FullMesh::new(d);
        let paper = f64::from(d + 1) / f64::from(2 * d);
        let cables = cut(&mesh);
        let what = format!("mlfm, d = {d}: cables counted");
        let claim = Claim::ratio_of(what, Some(paper), cables).equal();
        // With an odd number of vertices the layers of the middle one can be divided.
        claims.push(match d {
            4 => claim.known(2, 0.5995, 0.6005),
            8 => claim.known(2, 0.555, 0.556),
            18 => claim.known(2, 0.526, 0.527),
            _ => claim,
        });
        let what = format!("mlfm, d = {d}: the least, by formula");
        claims.push(Claim::ratio_of(what, None, mesh.bisection().per_host));
    }
    Ok(Part {
        claims,
        ..counted(
            "table-2",
            "Table 2: bisection, cables for each node of a half. The paper's (d+1)/2d is for \
                  an even number of vertices; with an odd one (even d) the least cut is \
                  (d+2)/(2d+2)",
            TABLE,
        )
    })
}
