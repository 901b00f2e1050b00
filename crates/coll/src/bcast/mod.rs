//! Broadcast: the root's vector goes to everybody. The tree algorithms share one schedule.

pub mod binary;
pub mod binomial;
pub mod chain;
pub mod knomial;
pub mod linear;
pub mod pipeline;
mod scatter;
pub mod scatter_doubling;
pub mod scatter_ring;
pub mod split_binary;

use laneway_core::{Buf, Rank, Round, Schedule, Shape, Span, span};

use crate::place::Circle;
use crate::registry::Algorithm;
use crate::tree::Tree;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &chain::ALGORITHM,
    &pipeline::ALGORITHM,
    &binary::ALGORITHM,
    &binomial::ALGORITHM,
    &knomial::ALGORITHM,
    &split_binary::ALGORITHM,
    &scatter_doubling::ALGORITHM,
    &scatter_ring::ALGORITHM,
];

/// Down a tree, segment by segment: lane 0 receives, lane 1 passes on what has arrived.
pub struct TreeBcast<T> {
    circle: Circle,
    tree: T,
    vector: Span,
    segment: u64,
    window: u32,
}

impl<T: Tree> TreeBcast<T> {
    /// `segment` 0 sends the vector whole; `window` bounds the sends that a rank has outstanding.
    pub fn new(shape: &Shape, tree: T, segment: u64, window: u32) -> TreeBcast<T> {
        let vector = span(Buf::Out, 0, shape.vector());
        let segment = if segment == 0 { vector.len.max(1) } else { segment };
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        TreeBcast { circle, tree, vector, segment, window }
    }
}

impl<T: Tree> Schedule for TreeBcast<T> {
    fn ranks(&self) -> u32 {
        self.circle.ranks
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        2
    }

    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        let place = self.circle.place(rank);
        let idle = if lane == 0 { place == 0 } else { self.tree.child_count(place) == 0 };
        if idle { 0 } else { self.vector.len.div_ceil(self.segment) }
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let place = self.circle.place(rank);
        let piece = self.vector.piece(k, self.segment);
        match (lane, self.tree.parent(place)) {
            (0, Some(parent)) => {
                out.recv_window(self.window);
                out.recv(self.circle.rank(parent), piece);
            }
            (0, None) => {}
            (_, parent) => {
                if parent.is_some() {
                    out.after(0, k);
                }
                self.tree.children(place, &mut |child| {
                    out.send_window(self.window);
                    out.send(self.circle.rank(child), piece);
                });
            }
        }
    }
}
