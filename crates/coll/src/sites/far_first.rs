//! In which order a root serves other sites and its own, a few ranks at a time.

use laneway_core::{Blocks, Placement, Rank, Shape};

use crate::registry::{Parameter, Params};

/// A flat scatter or gather over sites.
pub struct FarFirst {
    pub root: Rank,
    pub blocks: Blocks,
    placement: Placement,
    window: u32,
    near: u32,
}

impl FarFirst {
    pub const PARAMETERS: &'static [(Parameter, u64)] =
        &[(Parameter::Window, 8), (Parameter::Near, 0)];

    pub fn new(shape: &Shape, params: &Params, placement: &Placement) -> FarFirst {
        let (root, blocks, placement) = (shape.root, shape.blocks(), placement.clone());
        FarFirst { root, blocks, placement, window: params.window(), near: params.near() }
    }

    pub fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    /// A list for each other site, the farthest first, and one for the own site beside them or at
    /// the end of the nearest's: whom the root serves, with how many transfers under way.
    pub fn lists(&self) -> Vec<Vec<(Rank, u32)>> {
        let of_site = |site: u32| {
            self.placement.members(site).iter().map(|rank| (*rank, self.window)).collect()
        };
        let own = self.placement.location(self.root).site;
        let mut lists: Vec<Vec<(Rank, u32)>> =
            self.placement.others(own).into_iter().map(of_site).collect();
        if self.near > 0 || lists.is_empty() {
            lists.push(Vec::new());
        }
        let window = if self.near > 0 { self.near } else { self.window };
        let near = self.placement.neighbours(self.root);
        if let Some(last) = lists.last_mut() {
            last.extend(near[1..].iter().map(|rank| (*rank, window)));
        }
        lists
    }
}
