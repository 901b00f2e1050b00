//! What relays of a scatter and of a gather know.

use laneway_core::{Blocks, Placement, Rank, Shape};

use super::stretch::{Stretch, Stretches};
use crate::registry::{Parameter, Params};

/// A scatter or gather of which helpers beside the root take a part across.
pub struct Relay {
    pub placement: Placement,
    pub root: Rank,
    pub blocks: Blocks,
    pub stretches: Stretches,
    /// Transfers between sites that each sender, or receiver there, has under way.
    pub window: u32,
    /// Transfers within the root's site that are under way.
    pub near: u32,
}

impl Relay {
    pub const PARAMETERS: &'static [(Parameter, u64)] = &[
        (Parameter::Lanes, 0),
        (Parameter::Segment, 256 << 10),
        (Parameter::Window, 4),
        (Parameter::Near, 8),
        (Parameter::Own, 100),
        (Parameter::Stripes, 4),
        (Parameter::Connections, 1),
    ];

    pub fn new(shape: &Shape, params: &Params, placement: &Placement) -> Relay {
        let (root, blocks) = (shape.root, shape.blocks());
        let cut = Stretch {
            helpers: params.lanes(),
            own: params.get(Parameter::Own),
            segment: params.segment(),
            stripes: params.get(Parameter::Stripes),
            connections: params.get(Parameter::Connections),
        };
        let stretches = Stretches::new(placement, root, &blocks, cut);
        let (window, near) = (params.window(), params.near().max(1));
        Relay { placement: placement.clone(), root, blocks, stretches, window, near }
    }

    pub fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    /// Whether a rank is at the root's site.
    pub fn is_near(&self, rank: Rank) -> bool {
        self.placement.location(rank).site == self.placement.location(self.root).site
    }

    /// Bytes that a helper keeps of others.
    pub fn scratch(&self, rank: Rank) -> u64 {
        let pieces = if rank == self.root { &[] } else { self.stretches.of(rank) };
        pieces.iter().map(|piece| piece.len).sum()
    }
}
