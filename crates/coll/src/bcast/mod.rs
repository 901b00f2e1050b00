//! Broadcast: the root's vector goes to all ranks. The tree algorithms share one schedule.

pub mod binary;
pub mod binomial;
pub mod chain;
pub mod knomial;
pub mod linear;
pub mod pipeline;
mod scatter;
pub mod scatter_doubling;
pub mod scatter_ring;
pub mod site_lanes;
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
    &site_lanes::ALGORITHM,
];

/// Down a tree, segment by segment: lane 0 receives, lane 1 passes on what has arrived; the root
/// has one lane that sends.
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

    fn lanes(&self, rank: Rank) -> u32 {
        let place = self.circle.place(rank);
        // The root only sends, a leaf only receives.
        if place == 0 || self.tree.child_count(place) == 0 { 1 } else { 2 }
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        if self.circle.ranks == 1 { 0 } else { self.vector.len.div_ceil(self.segment) }
    }

    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let place = self.circle.place(rank);
        let piece = self.vector.piece(k, self.segment);
        if place > 0 && lane == 0 {
            let parent = self.tree.parent(place).map(|parent| self.circle.rank(parent));
            out.recv_window(self.window);
            return out.recv(parent.unwrap_or(self.circle.root), piece);
        }
        if place > 0 {
            out.after(0, k);
        }
        self.tree.children(place, &mut |child| {
            out.send_window(self.window);
            out.send(self.circle.rank(child), piece);
        });
    }
}
