//! A run of places on the circle as bytes of blocks that lie by rank: one run, or two that wrap.

use std::ops::Range;

use laneway_core::{Blocks, Buf, Rank, Span};

use crate::place::Circle;

impl Circle {
    /// The ranks at places `a` up to but not including `b`; the second run is past the last rank.
    pub fn runs(self, a: u32, b: u32) -> [Range<Rank>; 2] {
        let past = self.ranks - self.root;
        let before = a.min(past) + self.root..b.min(past) + self.root;
        [before, a.max(past) - past..b.max(past) - past]
    }

    /// Their blocks in a buffer that holds all ranks' by rank.
    pub fn spans(self, blocks: &Blocks, buf: Buf, a: u32, b: u32) -> [Span; 2] {
        self.runs(a, b).map(|run| blocks.span(buf, run.start, run.end))
    }

    /// How long these blocks are together.
    pub fn bytes(self, blocks: &Blocks, a: u32, b: u32) -> u64 {
        self.spans(blocks, Buf::In, a, b).iter().map(|run| run.len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_places_one_by_one() {
        for ranks in 1..12 {
            for root in 0..ranks {
                let circle = Circle { ranks, root };
                for a in 0..=ranks {
                    for b in a..=ranks {
                        let one_by_one: Vec<Rank> = (a..b).map(|p| circle.rank(p)).collect();
                        assert_eq!(
                            circle.runs(a, b).into_iter().flatten().collect::<Vec<_>>(),
                            one_by_one
                        );
                    }
                }
            }
        }
    }
}
