//! A proof for meshes of any size: what one switch does, all do.
//!
//! Turning a mesh by some layers and some vertices maps its cables, its forwarding and its order of
//! the all-to-all onto themselves. So in every phase the d messages out of one vertex switch stand
//! for all: no two messages meet anywhere exactly if those d leave by different links, arrive over
//! different links, and go to hosts of different numbers. That is d n steps instead of n^2. That
//! the turning holds is checked on messages drawn at random, by following them over the cables.

use std::thread;

use laneway_core::Phases;
use laneway_stats::SplitMix64;

use crate::links::Links;
use crate::routing::{Routing, walk};
use crate::topologies::Topology;
use crate::topologies::mlfm::FullMesh;
use crate::ways::threads;
use crate::wiring::{End, Host, Wiring};

/// What was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn holds(&self) -> bool {
        self.conflict.is_none() && self.unlike.is_none()
    }
}

/// The links of a message, seen from its own switches: out by the uplink so many vertices ahead,
/// in from the edge switch so many vertices ahead. None within a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Likeness {
    /// Layers up. All messages of one number go so many, or several layers would meet in one.
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
pub fn prove_mesh(mesh: &FullMesh, sample: u64, seed: u64) -> Proved {
    let order = mesh.order();
    let count = order.count();
    let share = count.div_ceil(threads() as u64).max(1);
    let order = &*order;
    let conflict = thread::scope(|scope| {
        let firsts = (0..count).step_by(share as usize);
        let look = |first: u64| {
            let mut phases = first..(first + share).min(count);
            phases.find(|&phase| meet(mesh, order, phase))
        };
        let handles: Vec<_> = firsts.map(|first| scope.spawn(move || look(first))).collect();
        // A thread panics only where this one would have; then so does this one.
        let found = handles.into_iter().map(|handle| handle.join().expect("a prover"));
        found.flatten().min()
    });
    let mut draws = SplitMix64::new(seed);
    let mut unlike = None;
    let hosts = mesh.hosts();
    for _ in 0..sample {
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

/// Follows all messages of one phase over the cables; the largest number on a link, and how many
/// do not arrive. For fabrics whose ways do not fit into memory.
pub fn follow_phase(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    order: &dyn Phases,
    phase: u64,
) -> (u32, u64) {
    let links = Links::of(wiring);
    let mut counts = vec![0u32; links.count() as usize];
    let mut partners = vec![0; wiring.hosts() as usize];
    order.partners(phase, &mut partners);
    let mut lost = 0;
    for (from, &to) in partners.iter().enumerate().filter(|(from, to)| *from as Host != **to) {
        let count = |hop: crate::routing::Hop| {
            counts[links.link(hop.switch, hop.port) as usize] += 1;
        };
        lost += u64::from(walk(wiring, routing, from as Host, to, count).is_err());
    }
    (counts.into_iter().max().unwrap_or(0).max(1), lost)
}

/// What following pairs of hosts over the cables has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    pub pairs: u64,
    pub lost: Vec<(Host, Host)>,
    /// Switches on the longest way.
    pub longest: u32,
    /// Ways that do not climb and then descend; where there are none no circle of links can wait
    /// for itself.
    pub astray: u64,
}

/// Follows pairs of hosts, for fabrics whose table does not fit into memory: the first host to all,
/// which on a mesh stands for every pair, and pairs drawn at random.
pub fn follow_pairs(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    sample: u64,
    seed: u64,
) -> Followed {
    let (hosts, heights) = (wiring.hosts(), heights(wiring));
    let mut draws = SplitMix64::new(seed);
    let mut found = Followed::default();
    let drawn = (0..sample)
        .map(|_| (draws.index(hosts as usize) as Host, draws.index(hosts as usize) as Host));
    let first = (1..hosts).map(|to| (0, to)).chain([(1.min(hosts - 1), 0)]);
    for (from, to) in first.chain(drawn).filter(|(from, to)| from != to) {
        let mut way = Vec::with_capacity(5);
        let arrived = walk(wiring, routing, from, to, |hop| way.push(heights[hop.switch as usize]));
        found.pairs += 1;
        if arrived.is_err() {
            found.lost.push((from, to));
            continue;
        }
        found.longest = found.longest.max(way.len() as u32);
        let top = way.windows(2).take_while(|pair| pair[0] < pair[1]).count();
        found.astray += u64::from(way[top..].windows(2).any(|pair| pair[0] <= pair[1]));
    }
    found
}

/// How far each switch is from the nearest host.
fn heights(wiring: &dyn Wiring) -> Vec<u32> {
    let mut heights = vec![u32::MAX; wiring.switches() as usize];
    let mut queue = std::collections::VecDeque::new();
    for (switch, _) in (0..wiring.hosts()).filter_map(|host| wiring.attached(host)) {
        if std::mem::replace(&mut heights[switch as usize], 0) != 0 {
            queue.push_back(switch);
        }
    }
    while let Some(switch) = queue.pop_front() {
        for port in 0..wiring.ports(switch) as u8 {
            if let End::Switch(other, _) = wiring.end(switch, port)
                && heights[other as usize] == u32::MAX
            {
                heights[other as usize] = heights[switch as usize] + 1;
                queue.push_back(other);
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conflicts::Counter;

    /// The proof says what counting every message says.
    #[test]
    fn it_agrees_with_counting() {
        for d in 1..=7 {
            let mesh = FullMesh::new(d);
            let proved = prove_mesh(&mesh, 20_000, 3);
            assert!(proved.holds(), "d = {d}: {proved:?}");
            let counter = Counter::new(&mesh, &mesh).expect("small");
            assert_eq!(counter.count(&*mesh.order()).worst(), 1);
            let phase = u64::from(d);
            assert_eq!(follow_phase(&mesh, &mesh, &*mesh.order(), phase), (1, 0));
        }
    }

    #[test]
    fn following_pairs_shows_what_the_proof_shows() {
        for spec in ["mlfm:d=4", "fat-tree-3:d=4", "fat-tree-2:d=3"] {
            let fabric = crate::topology(spec).expect(spec);
            let found = follow_pairs(&*fabric, &*fabric, 5_000, 1);
            let table = crate::Table::of(&*fabric, &*fabric);
            let proof = crate::prove(&*fabric, &table);
            assert!(proof.holds() && found.lost.is_empty() && found.astray == 0, "{spec}");
            assert_eq!(found.longest, proof.longest);
            let mut cut = crate::Fabric::of(&*fabric);
            cut.fail(crate::Part::Switch(fabric.switches() - 1));
            assert!(!follow_pairs(&cut, &table, 5_000, 1).lost.is_empty(), "{spec}");
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
        assert_eq!(follow_phase(&mesh, &mesh, &wrong, 40).0, 2);
    }
}
