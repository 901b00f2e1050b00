//! The binomial scatter in which two broadcasts begin: a rank receives the blocks of its subtree
//! where they belong.

use laneway_core::{Buf, Rank, Round, Shape, Span};

use crate::even::Even;
use crate::place::Circle;
use crate::tree::{Knomial, Tree};

/// The vector in a block for each place. Afterwards a place holds the blocks of its subtree, a run
/// that begins with its own.
pub struct Scattered {
    pub circle: Circle,
    tree: Knomial,
    blocks: Even,
}

impl Scattered {
    pub fn new(shape: &Shape) -> Scattered {
        let circle = Circle { ranks: shape.ranks, root: shape.root };
        let tree = Knomial { ranks: shape.ranks, radix: 2 };
        Scattered { circle, tree, blocks: Even::new(shape, shape.ranks) }
    }

    /// How many blocks a place holds after the scatter.
    pub fn held(&self, place: u32) -> u32 {
        self.tree.subtree(place)
    }

    /// Blocks from `a` up to `b`.
    pub fn blocks(&self, a: u32, b: u32) -> Span {
        self.blocks.span(Buf::Out, a, b)
    }

    fn subtree(&self, place: u32) -> Span {
        self.blocks(place, place + self.held(place))
    }

    pub fn receive(&self, rank: Rank, out: &mut Round) {
        let place = self.circle.place(rank);
        if let Some(parent) = self.tree.parent(place) {
            out.recv(self.circle.rank(parent), self.subtree(place));
        }
    }

    pub fn pass_on(&self, rank: Rank, out: &mut Round) {
        self.tree.children(self.circle.place(rank), &mut |child| {
            out.send(self.circle.rank(child), self.subtree(child));
        });
    }
}
