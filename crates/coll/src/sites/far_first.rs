//! In which order a root serves other sites and its own, a few ranks at a time.

use std::cmp::Reverse;

use laneway_core::{Blocks, Chan, Placement, Rank, Shape, Span};

use crate::registry::{Parameter, Params};

/// A flat scatter or gather over sites.
pub struct FarFirst {
    pub root: Rank,
    pub blocks: Blocks,
    placement: Placement,
    window: u32,
    near: u32,
    connections: u32,
}

impl FarFirst {
    pub const PARAMETERS: &'static [(Parameter, u64)] =
        &[(Parameter::Window, 8), (Parameter::Near, 0)];

    /// With a root: what crosses can be cut into a piece for each of several connections.
    pub const ROOTED: &'static [(Parameter, u64)] =
        &[(Parameter::Window, 8), (Parameter::Near, 0), (Parameter::Connections, 1)];

    pub fn new(shape: &Shape, params: &Params, placement: &Placement) -> FarFirst {
        let (root, blocks, placement) = (shape.root, shape.blocks(), placement.clone());
        let connections = params.get(Parameter::Connections) as u32;
        let (window, near) = (params.window(), params.near());
        FarFirst { root, blocks, placement, window, near, connections }
    }

    pub fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    /// A rank's block with the channels on which it travels: one piece inside the root's site.
    pub fn pieces(&self, rank: Rank, block: Span) -> impl Iterator<Item = (Chan, Span)> {
        let site = |rank: Rank| self.placement.location(rank).site;
        let count = if site(rank) == site(self.root) { 1 } else { self.connections };
        let piece = block.len.div_ceil(u64::from(count)).max(1);
        (0..count as Chan).map(move |chan| (chan, block.piece(u64::from(chan), piece)))
    }

    /// A list for each other site, the farthest first, and one for the own site beside them or at
    /// the end of the nearest's: whom the root serves, with how many pieces under way.
    pub fn lists(&self) -> Vec<Vec<(Rank, u32)>> {
        let far = self.window.saturating_mul(self.connections);
        let of_site = |site: u32| -> Vec<(Rank, u32)> {
            let ranks = self.slowest_first(self.placement.members(site).to_vec());
            ranks.into_iter().map(|rank| (rank, far)).collect()
        };
        let own = self.placement.location(self.root).site;
        let mut lists: Vec<Vec<(Rank, u32)>> =
            self.placement.others(own).into_iter().map(of_site).collect();
        if self.near > 0 || lists.is_empty() {
            lists.push(Vec::new());
        }
        let window = if self.near > 0 { self.near } else { self.window };
        let near = self.slowest_first(self.placement.neighbours(self.root).split_off(1));
        if let Some(last) = lists.last_mut() {
            last.extend(near.into_iter().map(|rank| (rank, window)));
        }
        lists
    }

    /// The longest transfers of a site begin first, so that none is alone at the end.
    fn slowest_first(&self, mut ranks: Vec<Rank>) -> Vec<Rank> {
        ranks.sort_by_key(|rank| Reverse(self.placement.slowness(*rank)));
        ranks
    }
}
