//! A proof for meshes of any size: what one switch does, all do.
//!
//! Turning a mesh by some layers and some vertices maps its cables, its forwarding and its order of
//! the all-to-all onto themselves. So in every phase the d messages out of one vertex switch stand
//! for all: no two messages meet anywhere exactly if those d leave by different links, arrive over
//! different links, and go to hosts of different numbers. That is d n steps instead of n^2. That
//! the turning holds is checked on messages drawn at random, by following them over the cables.

use laneway_core::{Observer, Phases, Stage};
use laneway_stats::SplitMix64;

use crate::routing::walk;
use crate::threads::shared;
use crate::topologies::Topology;
use crate::topologies::mlfm::FullMesh;
use crate::wiring::{End, Host, Wiring};

/// What was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proved {
    /// Phases in which the messages of one switch were looked at, all of them.
    pub phases: u64,
    /// Messages that were followed over the cables.
    pub followed: u64,
    /// The first phase in which two messages meet, if there is one.
    pub conflict: Option<u64>,
    /// A message that went another way than its likeness, if there is one.
    pub unlike: Option<(Host, u64)>,
}

impl Proved {
    /// Whether the proof holds.
    pub fn holds(&self) -> bool {
        self.conflict.is_none() && self.unlike.is_none()
    }
}

/// The links of a message, seen from its own switches: out by the uplink to a vertex at a distance,
/// in from the edge switch at a distance. None within a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Likeness {
    /// Layers up. All messages of one number go up as far, or several layers would meet in one.
    layers: u32,
    links: Option<(u32, u32)>,
    number: u32,
}

fn likeness(mesh: &FullMesh, from: Host, to: Host) -> Likeness {
    let (d, vertices) = (mesh.degree(), mesh.vertices());
    let ((layer, vertex, _), (to_layer, to_vertex, number)) = (mesh.place(from), mesh.place(to));
    let ahead = (to_vertex + vertices - vertex) % vertices;
    let links = match (ahead, layer == to_layer) {
        (0, true) => None,
        (0, false) => Some((number, number)),
        (ahead, _) => Some((ahead - 1, d - ahead)),
    };
    Likeness { layers: (to_layer + d - layer) % d, links, number }
}

/// Proves that the mesh's all-to-all has no conflict, and follows `sample` messages of it.
pub fn prove_mesh(mesh: &FullMesh, sample: u64, seed: u64, observer: &dyn Observer) -> Proved {
    let order = mesh.order();
    let count = order.count();
    let order = &*order;
    let stage = Stage::new(observer, "phases proven", count);
    let meets = |&phase: &usize| {
        stage.step();
        meet(mesh, order, phase as u64)
    };
    let looked = shared(count as usize, |mut phases| phases.find(meets));
    let conflict = looked.into_iter().flatten().min().map(|phase| phase as u64);
    let mut draws = SplitMix64::new(seed);
    let mut unlike = None;
    let hosts = mesh.hosts();
    for _ in Stage::new(observer, "messages followed", sample).over(0..sample) {
        let from = draws.index(hosts as usize) as Host;
        let phase = draws.index(count as usize) as u64;
        if !follows(mesh, order, from, phase) {
            unlike = unlike.or(Some((from, phase)));
        }
    }
    Proved { phases: count, followed: sample, conflict, unlike }
}

/// Whether two of the first switch's messages leave, arrive or end alike.
fn meet(mesh: &FullMesh, order: &dyn Phases, phase: u64) -> bool {
    let (mut out, mut into, mut numbers) = (0u128, 0u128, 0u128);
    let is_new = |set: &mut u128, at: u32| {
        let new = *set >> at & 1 == 0;
        *set |= 1 << at;
        new
    };
    !(0..mesh.degree()).all(|from| {
        let Likeness { links, number, .. } = likeness(mesh, from, order.partner(from, phase));
        let apart = links.is_none_or(|(up, down)| is_new(&mut out, up) && is_new(&mut into, down));
        is_new(&mut numbers, number) && apart
    })
}

/// Whether a message goes as that of its likeness at the first switch does, link by link.
fn follows(mesh: &FullMesh, order: &dyn Phases, from: Host, phase: u64) -> bool {
    let (d, to) = (mesh.degree(), order.partner(from, phase));
    let twin = from % d;
    let meant = likeness(mesh, twin, order.partner(twin, phase));
    if likeness(mesh, from, to) != meant {
        return false;
    }
    let mut hops = Vec::with_capacity(3);
    if from != to && walk(mesh, mesh, from, to, |hop| hops.push(hop)).is_err() {
        return false;
    }
    let arrival = |hop: &crate::routing::Hop| match mesh.end(hop.switch, hop.port) {
        End::Switch(_, port) => Some(u32::from(port) - d),
        End::Host(_) | End::Nothing => None,
    };
    match (meant.links, &hops[..]) {
        (None, []) => from == to,
        (None, [last]) => u32::from(last.port) == meant.number,
        (Some((up, down)), [first, second, last]) => {
            u32::from(first.port) == d + up
                && arrival(second) == Some(down)
                && u32::from(last.port) == meant.number
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::conflicts::Counter;

    /// The proof says what counting every message says.
    #[test]
    fn it_agrees_with_counting() {
        for d in 1..=7 {
            let mesh = FullMesh::new(d);
            let proved = prove_mesh(&mesh, 20_000, 3, &());
            assert!(proved.holds(), "d = {d}: {proved:?}");
            let counter = Counter::new(&mesh, &mesh).expect("small");
            assert_eq!(counter.count(&*mesh.order()).worst(), 1);
        }
    }

    /// An order that is wrong everywhere alike is found to be.
    #[test]
    fn a_wrong_order_is_found() {
        struct Wrong(Box<dyn Phases + Send + Sync>);
        impl Phases for Wrong {
            fn count(&self) -> u64 {
                self.0.count()
            }
            fn partner(&self, rank: u32, phase: u64) -> u32 {
                if phase == 40 {
                    self.0.partner(rank & !1, phase)
                } else {
                    self.0.partner(rank, phase)
                }
            }
        }
        /// Every layer sends to the first.
        struct Piled(Box<dyn Phases + Send + Sync>);
        impl Phases for Piled {
            fn count(&self) -> u64 {
                self.0.count()
            }
            fn partner(&self, rank: u32, phase: u64) -> u32 {
                self.0.partner(rank, phase) % 20
            }
        }
        let mesh = FullMesh::new(4);
        let piled = Piled(mesh.order());
        assert!((0..80).any(|from| !follows(&mesh, &piled, from, 3)));
        let wrong = Wrong(mesh.order());
        assert!(meet(&mesh, &wrong, 40) && !meet(&mesh, &wrong, 41));
    }
}
