//! Which pieces of a scatter or gather pass a rank of a third site on their way.
//!
//! Each piece takes the way that carries it earliest after all pieces before it, by the rates
//! between sites: directly, or over a rank of any third site.

use laneway_core::{Blocks, Chan, Placement, Rank, Shape, Span};

use super::{Lanes, segment};
use crate::registry::{Parameter, Params};

/// Part of one rank's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    pub rank: Rank,
    /// Where it begins in the block.
    pub off: u64,
    pub len: u64,
    /// The rank that passes it on.
    pub via: Option<Rank>,
}

impl Passed {
    /// The end of its leg at the root.
    pub fn hop(&self) -> Rank {
        self.via.unwrap_or(self.rank)
    }

    /// Pieces that are passed on have a channel of their own.
    pub fn chan(&self) -> Chan {
        Chan::from(self.via.is_none())
    }

    pub fn of(&self, block: Span) -> Span {
        Span { off: block.off + self.off, len: self.len, ..block }
    }
}

/// All pieces of a call.
pub struct ThirdSites {
    pub root: Rank,
    pub blocks: Blocks,
    pub placement: Placement,
    /// Transfers with each other site that a rank has under way.
    pub window: u32,
    /// Transfers within the root's site that are under way.
    pub near: u32,
    /// By the site at the other end of the root's leg, in the order of the root's transfers.
    pub lists: Vec<Vec<Passed>>,
}

/// A relay must carry a piece so much earlier.
const WORTH: f64 = 1.125;

impl ThirdSites {
    pub const PARAMETERS: &'static [(Parameter, u64)] = &[
        (Parameter::Lanes, 0),
        (Parameter::Segment, 256 << 10),
        (Parameter::Window, 8),
        (Parameter::Near, 8),
    ];

    pub fn new(shape: &Shape, params: &Params, placement: &Placement, to_root: bool) -> ThirdSites {
        let (root, blocks) = (shape.root, shape.blocks());
        let home = placement.location(root).site;
        let segment = segment(shape, params.segment(), blocks.longest(shape.ranks));
        let mut routing = Routing::new(placement, params.lanes());
        let mut lists = vec![Vec::new(); placement.sites() as usize];
        let sites = placement.others(home);
        let turns = blocks.longest(shape.ranks).div_ceil(segment);
        let most = sites.iter().map(|site| placement.members(*site).len()).max().unwrap_or(0);
        for turn in 0..turns {
            // All sites fill up together.
            for number in 0..most {
                let with = sites.iter().filter_map(|site| {
                    placement.members(*site).get(number).map(|rank| (*site, *rank))
                });
                for (site, rank) in with {
                    let off = (turn * segment).min(blocks.len(rank));
                    let len = (blocks.len(rank) - off).min(segment);
                    if len > 0 {
                        let (from, to) = if to_root { (site, home) } else { (home, site) };
                        let via = routing.relay(from, to, len);
                        let piece = Passed { rank, off, len, via };
                        lists[placement.location(piece.hop()).site as usize].push(piece);
                    }
                }
            }
        }
        for list in &mut lists {
            // The way of relayed pieces goes on after the root's leg, or comes before it.
            list.sort_by_key(|piece| piece.via.is_some() == to_root);
        }
        let lists = sites.iter().map(|site| std::mem::take(&mut lists[*site as usize])).collect();
        let (window, near) = (params.window(), params.near().max(1));
        ThirdSites { root, blocks, placement: placement.clone(), window, near, lists }
    }

    /// What a rank passes on, in order, with where it keeps each piece.
    pub fn passed_by(&self, rank: Rank) -> impl Iterator<Item = (Passed, u64)> {
        let pieces = self.lists.iter().flatten().filter(move |piece| piece.via == Some(rank));
        pieces.scan(0, |off, piece| {
            *off += piece.len;
            Some((*piece, *off - piece.len))
        })
    }

    /// The pieces of a rank's own block, in order.
    pub fn of(&self, rank: Rank) -> impl Iterator<Item = &Passed> {
        self.lists.iter().flatten().filter(move |piece| piece.rank == rank)
    }

    pub fn is_near(&self, rank: Rank) -> bool {
        self.placement.location(rank).site == self.placement.location(self.root).site
    }

    /// Bytes that a rank keeps of others.
    pub fn scratch(&self, rank: Rank) -> u64 {
        self.passed_by(rank).map(|(piece, _)| piece.len).sum()
    }
}

/// What is known of the ways when the next piece is given one.
pub struct Routing<'a> {
    placement: &'a Placement,
    lanes: Lanes,
    /// Seconds that each way is busy, from site to site, row by row.
    busy: Vec<f64>,
    /// Pieces that each site has passed on.
    relayed: Vec<u64>,
}

impl Routing<'_> {
    /// At most `lanes` ranks of each site pass pieces on; 0 for all.
    pub fn new(placement: &Placement, lanes: u32) -> Routing<'_> {
        let sites = placement.sites() as usize;
        let lanes = Lanes::new(placement, lanes);
        let (busy, relayed) = (vec![0.0; sites * sites], vec![0; sites]);
        Routing { placement, lanes, busy, relayed }
    }

    /// The number of a way, and its seconds for `len` bytes.
    fn leg(&self, from: u32, to: u32, len: u64) -> (usize, f64) {
        let at = (from * self.placement.sites() + to) as usize;
        (at, len as f64 / self.placement.rate(from, to).max(1) as f64)
    }

    /// When a way of some legs is free again.
    fn end(&self, legs: &[(usize, f64)]) -> f64 {
        legs.iter().map(|(at, seconds)| self.busy[*at] + seconds).fold(0.0, f64::max)
    }

    /// The rank that passes on the next piece from one site to another; none if it goes directly.
    pub fn relay(&mut self, from: u32, to: u32, len: u64) -> Option<Rank> {
        let direct = vec![self.leg(from, to, len)];
        let thirds = (0..self.placement.sites()).filter(|one| ![from, to].contains(one));
        let over = thirds.map(|third| {
            let legs = vec![self.leg(from, third, len), self.leg(third, to, len)];
            (self.end(&legs), third, legs)
        });
        let best = over.min_by(|a, b| a.0.total_cmp(&b.0));
        let best = best.filter(|(end, ..)| end * WORTH < self.end(&direct));
        let (via, legs) = match best {
            None => (None, direct),
            Some((_, third, legs)) => {
                let number = &mut self.relayed[third as usize];
                *number += 1;
                (Some(self.lanes.head(third as usize, *number - 1)), legs)
            }
        };
        legs.into_iter().for_each(|(at, seconds)| self.busy[at] += seconds);
        via
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::{Collective, Location};

    #[test]
    fn pieces_take_the_way_that_is_free_first() {
        let location = |rank| Location { site: rank / 2, host: rank, wan_card: false };
        let placement = Placement::new((0..6).map(location).collect());
        let slow = |a: u32, b: u32| if a + b == 1 { 100 } else { 900 };
        let placed = placement.clone().with_rates(slow);
        let shape = Shape::new(Collective::Scatter, 6, 1600);
        let params = Params::default().with(Parameter::Segment, 100).with(Parameter::Window, 1);
        let found = ThirdSites::new(&shape, &params, &placed, false);
        let over: u64 = [4, 5].into_iter().map(|rank| found.scratch(rank)).sum();
        // Of 3,200 bytes, as the fast way carries as many for the third site.
        assert!((2_300..2_700).contains(&over), "{over}");
        assert_eq!((found.scratch(2), found.scratch(1)), (0, 0));
        let bytes: u64 = found.of(3).map(|piece| piece.len).sum();
        assert_eq!(bytes, 1600);
        let equal = ThirdSites::new(&shape, &params, &placement, true);
        assert!((0..6).all(|rank| equal.scratch(rank) == 0));
    }
}
