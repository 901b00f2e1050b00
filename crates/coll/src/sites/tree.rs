//! Trees that cross from site to site: which rank passes blocks to which, in which order.

use laneway_core::{Blocks, Placement, Rank};

use crate::registry::Refusal;
use crate::tree::{Knomial, Tree};

/// How blocks travel within a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// One after the other, from whom has them.
    Flat,
    /// Along a binomial tree.
    Binomial,
}

/// A tree over all ranks; children in the order in which they are served.
#[derive(Clone, Debug)]
pub struct SiteTree {
    pub root: Rank,
    parents: Vec<Option<Rank>>,
    children: Vec<Vec<Rank>>,
    /// Each rank's own subtree: itself, then its children's subtrees by rank.
    subtrees: Vec<Vec<Rank>>,
}

impl SiteTree {
    /// The representative of each other site first, the farthest site's before all; each passes
    /// blocks on within its site.
    pub fn single_lane(placement: &Placement, root: Rank, local: Local) -> SiteTree {
        let mut tree = SiteTree::new(placement.ranks(), root);
        for site in placement.others(placement.location(root).site) {
            let members = placement.fastest_first(placement.members(site).to_vec());
            tree.adopt(root, members[0]);
            tree.spread(&members, local);
        }
        tree.spread(&helpers(placement, root), local);
        tree.grown()
    }

    /// The paper's: helpers of the root's site, each of which sends one lane's blocks across; who
    /// receives them there serves the rest of its group. The root serves its helpers first, then
    /// its own lane, then the rest of its site. The fastest hosts are helpers, and receive.
    pub fn multi_lane(placement: &Placement, root: Rank, lanes: u32) -> Result<SiteTree, Refusal> {
        let near = helpers(placement, root);
        let others = placement.others(placement.location(root).site);
        let groups: Vec<Vec<Vec<Rank>>> = others
            .iter()
            .map(|site| {
                let members = placement.members(*site);
                let most = near.len().min(members.len());
                let count = if lanes == 0 { most } else { most.min(lanes as usize) };
                let groups = groups(members, count).into_iter();
                let groups = groups.map(|group| placement.fastest_first(group.to_vec()));
                slow_lanes_early(placement, groups.collect())
            })
            .collect();
        let used = groups.iter().map(Vec::len).max().unwrap_or(1);
        if lanes as usize > used && !others.is_empty() {
            return Err(Refusal(format!(
                "{lanes} lanes, but the smaller of two sites has {used} ranks"
            )));
        }
        let mut tree = SiteTree::new(placement.ranks(), root);
        let cross = |tree: &mut SiteTree, helper: Rank, lane: usize| {
            for group in groups.iter().filter_map(|groups| groups.get(lane)) {
                tree.adopt(helper, group[0]);
                tree.spread(group, Local::Flat);
            }
        };
        for (lane, &helper) in near.iter().enumerate().take(used).skip(1) {
            tree.adopt(root, helper);
            cross(&mut tree, helper, lane);
        }
        cross(&mut tree, root, 0);
        for &rank in &near[used..] {
            tree.adopt(root, rank);
        }
        Ok(tree.grown())
    }

    fn new(ranks: u32, root: Rank) -> SiteTree {
        let empty = || vec![Vec::new(); ranks as usize];
        SiteTree { root, parents: vec![None; ranks as usize], children: empty(), subtrees: empty() }
    }

    fn adopt(&mut self, parent: Rank, child: Rank) {
        self.parents[child as usize] = Some(parent);
        self.children[parent as usize].push(child);
    }

    /// From the first of these ranks to the others.
    fn spread(&mut self, members: &[Rank], local: Local) {
        let ranks = members.len() as u32;
        for place in 0..ranks {
            let mut add = |child: u32| self.adopt(members[place as usize], members[child as usize]);
            match local {
                Local::Binomial => Knomial { ranks, radix: 2 }.children(place, &mut add),
                Local::Flat if place == 0 => (1..ranks).for_each(add),
                Local::Flat => {}
            }
        }
    }

    /// With its subtrees written down: every rank is known to those above it.
    fn grown(mut self) -> SiteTree {
        let mut waiting = vec![self.root];
        let mut order = Vec::new();
        while let Some(rank) = waiting.pop() {
            order.push(rank);
            waiting.extend(&self.children[rank as usize]);
        }
        for rank in order.into_iter().rev() {
            // By rank, so that what lies side by side at the root does so at relays, too.
            let mut children = self.children[rank as usize].clone();
            children.sort_unstable();
            let mut subtree = vec![rank];
            for child in children {
                subtree.extend(&self.subtrees[child as usize]);
            }
            self.subtrees[rank as usize] = subtree;
        }
        self
    }

    pub fn ranks(&self) -> u32 {
        self.parents.len() as u32
    }

    pub fn parent(&self, rank: Rank) -> Option<Rank> {
        self.parents[rank as usize]
    }

    pub fn children(&self, rank: Rank) -> &[Rank] {
        &self.children[rank as usize]
    }

    /// Bytes of scratch in which a relay keeps the blocks of its subtree.
    pub fn scratch(&self, blocks: &Blocks, rank: Rank) -> u64 {
        let relays = rank != self.root && !self.children(rank).is_empty();
        if relays { bytes(blocks, self.subtree(rank)) } else { 0 }
    }

    /// A rank and all below it, in the order in which relays keep their blocks.
    pub fn subtree(&self, rank: Rank) -> &[Rank] {
        &self.subtrees[rank as usize]
    }
}

/// The ranks of the root's site in the order in which they become helpers: the root, then the
/// fastest.
pub fn helpers(placement: &Placement, root: Rank) -> Vec<Rank> {
    let mut all = placement.neighbours(root);
    let others = placement.fastest_first(all.split_off(1));
    all.extend(others);
    all
}

/// Groups with slow hosts have the lanes that the root feeds first, and the root crosses itself to
/// one without any; as they are where all are as fast.
fn slow_lanes_early(placement: &Placement, mut groups: Vec<Vec<Rank>>) -> Vec<Vec<Rank>> {
    let slowness =
        |group: &Vec<Rank>| group.iter().map(|rank| placement.slowness(*rank)).max().unwrap_or(0);
    if groups.windows(2).any(|two| slowness(&two[0]) != slowness(&two[1])) {
        groups.sort_by_key(|group| std::cmp::Reverse(slowness(group)));
        groups.rotate_right(1);
    }
    groups
}

/// Ranks in so many groups of neighbours, the larger groups first.
fn groups(members: &[Rank], count: usize) -> Vec<&[Rank]> {
    let (each, larger) = (members.len() / count, members.len() % count);
    let mut rest = members;
    let cut = |number: usize| {
        let (group, after) = rest.split_at(each + usize::from(number < larger));
        rest = after;
        group
    };
    (0..count).map(cut).collect()
}

/// Ranks one after another as runs of neighbours, whose blocks lie side by side at the root.
pub fn runs(ranks: &[Rank]) -> impl Iterator<Item = &[Rank]> {
    ranks.chunk_by(|a, b| a + 1 == *b)
}

/// How long the blocks of these ranks are together.
pub fn bytes(blocks: &Blocks, ranks: &[Rank]) -> u64 {
    ranks.iter().map(|rank| blocks.len(*rank)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Location;

    fn two_sites(near: u32, far: u32) -> Placement {
        let location = |host| Location { site: u32::from(host >= near), host, wan_card: false };
        Placement::new((0..near + far).map(location).collect())
    }

    #[test]
    fn the_root_serves_helpers_then_its_own_lane_then_the_rest() {
        let placement = two_sites(5, 7);
        let tree = SiteTree::multi_lane(&placement, 1, 3).expect("three lanes");
        // Groups of 3, 2 and 2; helpers 2 and 3; the root's own lane leads to rank 5.
        assert_eq!(tree.children(1), [2, 3, 5, 4, 0]);
        assert_eq!(tree.children(2), [8]);
        assert_eq!(tree.subtree(2), [2, 8, 9]);
        assert_eq!(tree.subtree(5), [5, 6, 7]);
        assert!(SiteTree::multi_lane(&placement, 1, 6).is_err());
        let all = SiteTree::multi_lane(&placement, 0, 0).expect("as many as there can be");
        assert_eq!(all.children(0), [1, 2, 3, 4, 5]);
        assert_eq!(all.subtree(5), [5, 6]);
    }

    #[test]
    fn one_lane_is_the_single_lane() {
        let placement = two_sites(4, 6);
        let one = SiteTree::multi_lane(&placement, 2, 1).expect("a lane");
        let single = SiteTree::single_lane(&placement, 2, Local::Flat);
        assert_eq!(one.subtrees, single.subtrees);
        assert_eq!(single.children(2), [4, 3, 0, 1]);
        let tree = SiteTree::single_lane(&placement, 2, Local::Binomial);
        assert_eq!(tree.children(4), [8, 6, 5]);
    }

    #[test]
    fn slow_hosts_are_leaves_and_served_last() {
        for slow in [1, 3, 5, 6, 8] {
            let placement = two_sites(5, 6);
            let placement = placement.with_speeds(|rank| if rank == slow { 10 } else { 900 });
            for tree in [
                SiteTree::multi_lane(&placement, 0, 3).expect("three lanes"),
                SiteTree::single_lane(&placement, 0, Local::Flat),
                SiteTree::single_lane(&placement, 0, Local::Binomial),
            ] {
                assert_eq!(tree.children(slow), [] as [Rank; 0], "{slow}");
            }
            let flat = SiteTree::single_lane(&placement, 0, Local::Flat);
            let parent = flat.parent(slow).expect("it is not the root");
            assert_eq!(flat.children(parent).last(), Some(&slow));
        }
    }
}
