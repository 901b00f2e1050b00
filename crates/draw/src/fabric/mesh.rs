//! A multi-layer full mesh: one layer before the others, or every layer for itself.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;

use laneway_core::units::counted;
use laneway_topo::topologies::mlfm::{FullMesh, Role};
use laneway_topo::{Switch, Wiring};

use super::layout::{Layout, Seat, Shape, Spot};

/// Layers that are drawn side by side at most.
const MOST_SIDE_BY_SIDE: u32 = 9;

/// Edge switches are written on up to here.
const MOST_LABELLED: u32 = 8;

/// Vertices on a circle, clockwise from the top or a little beside it.
struct Polygon {
    vertices: u32,
    radius: f64,
    turned: f64,
}

impl Polygon {
    fn angle(&self, vertex: f64) -> f64 {
        self.turned - PI / 2.0 + TAU * vertex / f64::from(self.vertices)
    }

    fn vertex(&self, vertex: u32) -> (f64, f64) {
        let angle = self.angle(f64::from(vertex));
        (self.radius * angle.cos(), self.radius * angle.sin())
    }

    /// The middle of an edge. Diameters would all meet in the centre: their switches stand beside
    /// it, some towards one end and some towards the other.
    fn edge(&self, a: u32, b: u32) -> (f64, f64) {
        let share = match 2 * (b - a) == self.vertices {
            false => 0.5,
            true if a.is_multiple_of(2) => 0.36,
            true => 0.64,
        };
        let ((ax, ay), (bx, by)) = (self.vertex(a), self.vertex(b));
        (ax + (bx - ax) * share, ay + (by - ay) * share)
    }

    fn edges(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let vertices = self.vertices;
        (0..vertices).flat_map(move |a| (a + 1..vertices).map(move |b| (a, b)))
    }

    fn points(&self, (x, y): (f64, f64), flat: f64) -> String {
        let at = |vertex| {
            let (dx, dy) = self.vertex(vertex);
            format!("{:.0},{:.0}", x + dx, y + dy * flat)
        };
        (0..self.vertices).map(at).collect::<Vec<_>>().join(" ")
    }
}

/// Every layer, for a heat that differs from layer to layer.
pub fn layers(mesh: &FullMesh) -> Layout<'_> {
    match mesh.degree() {
        d if d <= MOST_SIDE_BY_SIDE => side_by_side(mesh),
        _ => plan(mesh, 360.0),
    }
}

fn vertex_spot(mesh: &FullMesh, polygon: &Polygon, layer: Option<u32>, vertex: u32) -> Spot {
    let (x, y) = polygon.vertex(vertex);
    let half = (polygon.radius * 0.7 / f64::from(mesh.vertices())).clamp(4.0, 13.0);
    let title = match layer {
        Some(layer) => mesh.switch_name(mesh.vertex_switch(layer, vertex)),
        None => format!("vertex {vertex} of {}", counted(mesh.degree(), "layer")),
    };
    let label = if half >= 5.5 { vertex.to_string() } else { String::new() };
    let hosts = Some((polygon.angle(f64::from(vertex)), mesh.degree()));
    Spot { x, y, shape: Shape::Disc, half, label, title, hosts }
}

fn edge_spot(mesh: &FullMesh, polygon: &Polygon, (a, b): (u32, u32), written: bool) -> Spot {
    let (x, y) = polygon.edge(a, b);
    let label = if written { format!("{a}-{b}") } else { String::new() };
    // The innermost stand closest to each other.
    let half = if written { 12.0 } else { (60.0 / f64::from(mesh.vertices())).clamp(1.0, 5.0) };
    let title = mesh.switch_name(mesh.edge_switch(a, b));
    Spot { x, y, shape: Shape::Square, half, label, title, hosts: None }
}

fn counts(mesh: &FullMesh) -> String {
    let d = mesh.degree();
    format!(
        "{} of {}, each with {} and {} up; {}, shared by all layers, each with 2 cables into \
         every layer",
        counted(d, "layer"),
        counted(mesh.vertices(), "vertex switch"),
        counted(d, "host"),
        counted(d, "cable"),
        counted(d * (d + 1) / 2, "edge switch")
    )
}

/// One layer stands for all, the others are shadows behind it.
pub fn plan(mesh: &FullMesh, radius: f64) -> Layout<'_> {
    let (d, vertices) = (mesh.degree(), mesh.vertices());
    let polygon = Polygon { vertices, radius, turned: 0.0 };
    let shadows = (d - 1).min(5);
    let (step, margin) = (9.0, 34.0);
    let centre = (radius + margin, radius + margin + step * f64::from(shadows));
    let mut backdrop = String::new();
    for shadow in (1..=shadows).rev() {
        let by = step * f64::from(shadow);
        let points = polygon.points((centre.0 + by, centre.1 - by), 1.0);
        let grey = 205 + 6 * shadow;
        // Writing to a string cannot fail.
        let _ = writeln!(
            backdrop,
            "<polygon points=\"{points}\" fill=\"#fff\" stroke=\"rgb({grey},{grey},{grey})\" \
             stroke-width=\"1.5\"/>"
        );
    }
    let front = polygon.points(centre, 1.0);
    let _ = writeln!(backdrop, "<polygon points=\"{front}\" fill=\"#f7f9fb\" stroke=\"none\"/>");
    let side = 2.0 * (radius + margin) + step * f64::from(shadows);
    let _ = writeln!(
        backdrop,
        "<text x=\"{:.0}\" y=\"44\" text-anchor=\"end\" font-size=\"14\" fill=\"#445\">{d} \
         layers</text>",
        side - 10.0
    );
    let mut spots: Vec<Spot> =
        (0..vertices).map(|vertex| vertex_spot(mesh, &polygon, None, vertex)).collect();
    let written = d <= MOST_LABELLED && radius > 200.0;
    spots.extend(polygon.edges().map(|edge| edge_spot(mesh, &polygon, edge, written)));
    move_by(&mut spots, centre, 1.0);
    let first_edge = d * vertices;
    let seat = move |switch: Switch, _| match switch.checked_sub(first_edge) {
        None => (switch % vertices) as usize,
        Some(edge) => (vertices + edge) as usize,
    };
    let words = vec![
        counts(mesh),
        format!("one layer is drawn; a line is {}, one in each layer", counted(d, "cable")),
    ];
    // Below the lowest vertex nothing stands but its hosts.
    let height = spots.iter().map(|spot| spot.y + margin).fold(0.0, f64::max);
    Layout { width: side, height, spots, seat: Box::new(seat), backdrop, words }
}

fn move_by(spots: &mut [Spot], (x, y): (f64, f64), flat: f64) {
    for spot in spots {
        spot.x += x;
        spot.y = spot.y * flat + y;
    }
}

/// Spots of every layer in turn: its vertices, then the edge switches as this layer sees them.
fn each_layer<'m>(
    mesh: &'m FullMesh,
    polygon: &Polygon,
    flat: f64,
    place: impl Fn(u32) -> (f64, f64),
    edge: impl Fn((u32, u32)) -> Spot,
) -> (Vec<Spot>, Seat<'m>) {
    let mut spots = Vec::new();
    for layer in 0..mesh.degree() {
        let vertices = 0..mesh.vertices();
        let mut own: Vec<Spot> =
            vertices.map(|vertex| vertex_spot(mesh, polygon, Some(layer), vertex)).collect();
        own.extend(polygon.edges().map(&edge));
        move_by(&mut own, place(layer), flat);
        spots.append(&mut own);
    }
    let (d, vertices) = (mesh.degree(), mesh.vertices());
    let a_layer = vertices + d * vertices / 2;
    let seat = move |switch: Switch, other: Switch| {
        let spot = match (mesh.role(switch), mesh.role(other)) {
            (Role::Vertex { layer, vertex }, _) => layer * a_layer + vertex,
            (_, Role::Vertex { layer, .. }) => layer * a_layer + vertices + switch - d * vertices,
            // Edge switches are not plugged into each other.
            (Role::Edge { .. }, Role::Edge { .. }) => 0,
        };
        spot as usize
    };
    (spots, Box::new(seat))
}

/// Every layer for itself; the edge switches come again in each.
fn side_by_side(mesh: &FullMesh) -> Layout<'_> {
    let (d, radius, margin) = (mesh.degree(), 120.0, 24.0);
    let columns = f64::from(d).sqrt().ceil() as u32;
    let (wide, high) = (2.0 * (radius + margin), 2.0 * (radius + margin) + 20.0);
    let polygon = Polygon { vertices: mesh.vertices(), radius, turned: 0.0 };
    let place = |layer: u32| {
        let (column, row) = (f64::from(layer % columns), f64::from(layer / columns));
        (column * wide + wide / 2.0, row * high + 20.0 + wide / 2.0)
    };
    let edge = |edge| edge_spot(mesh, &polygon, edge, false);
    let (spots, seat) = each_layer(mesh, &polygon, 1.0, place, edge);
    let mut backdrop = String::new();
    for layer in 0..d {
        let (x, y) = place(layer);
        // Writing to a string cannot fail.
        let _ = writeln!(
            backdrop,
            "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\" fill=\"#445\">layer {layer}</text>",
            x - radius,
            y - radius - margin + 6.0
        );
    }
    let words = vec![
        counts(mesh),
        "the edge switches are the same in every layer; a line is a cable".to_string(),
    ];
    let (width, height) = (wide * f64::from(columns), high * f64::from(d.div_ceil(columns)));
    Layout { width, height, spots, seat, backdrop, words }
}
