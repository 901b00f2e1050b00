//! Places counted from the root: the rotation that makes any root look like rank 0.

use laneway_core::Rank;

/// Ranks in a circle that begins at the root.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    pub ranks: u32,
    pub root: Rank,
}

impl Circle {
    /// How far `rank` is from the root, going up.
    #[inline]
    pub fn place(self, rank: Rank) -> u32 {
        if rank >= self.root { rank - self.root } else { rank + (self.ranks - self.root) }
    }

    /// The rank at a place.
    #[inline]
    pub fn rank(self, place: u32) -> Rank {
        let past = self.ranks - self.root;
        if place < past { place + self.root } else { place - past }
    }
}
