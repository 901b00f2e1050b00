//! The tree of sites that pieces follow, from the site where they begin, or to where they end.

use std::sync::OnceLock;

use laneway_core::Placement;

/// One tree for each site that pieces begin at.
pub struct Ways {
    trees: Vec<OnceLock<Tree>>,
    fan: u32,
    /// Pieces take the nearest ways instead of the widest.
    are_short: bool,
}

struct Tree {
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    depths: Vec<u32>,
}

impl Ways {
    /// No site serves more than `fan` others; with 0 the first serves all. Short pieces take the
    /// nearest ways, others the widest.
    pub fn new(sites: u32, fan: u32, are_short: bool) -> Ways {
        Ways { trees: (0..sites).map(|_| OnceLock::new()).collect(), fan, are_short }
    }

    fn tree(&self, placement: &Placement, root: usize) -> &Tree {
        self.trees[root].get_or_init(|| Tree::new(placement, root as u32, self))
    }

    /// The site before another one; none for the first.
    pub fn parent(&self, placement: &Placement, root: usize, site: usize) -> Option<usize> {
        self.tree(placement, root).parents[site]
    }

    /// The sites that a site serves, in order.
    pub fn children(&self, placement: &Placement, root: usize, site: usize) -> &[usize] {
        &self.tree(placement, root).children[site]
    }

    /// How many crossings a site is from the first.
    pub fn depth(&self, placement: &Placement, root: usize, site: usize) -> u32 {
        self.tree(placement, root).depths[site]
    }
}

impl Tree {
    fn new(placement: &Placement, root: u32, ways: &Ways) -> Tree {
        let sites = placement.sites();
        let parents: Vec<Option<usize>> = match ways.fan {
            0 => (0..sites).map(|site| (site != root).then_some(root as usize)).collect(),
            fan => {
                let parents = match ways.are_short {
                    true => placement.nearest_site_tree(root, fan),
                    false => placement.site_tree(root, fan),
                };
                parents.into_iter().map(|one| one.map(|one| one as usize)).collect()
            }
        };
        let children = |site: u32| -> Vec<usize> {
            let others = placement.others(site).into_iter().map(|other| other as usize);
            others.filter(|other| parents[*other] == Some(site as usize)).collect()
        };
        let depth = |site: usize| {
            std::iter::successors(parents[site], |above| parents[*above]).count() as u32
        };
        let children = (0..sites).map(children).collect();
        let depths = (0..sites as usize).map(depth).collect();
        Tree { parents, children, depths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Location;

    #[test]
    fn one_site_serves_all_or_each_a_few() {
        let location = |host| Location { site: host, host, wan_card: false };
        let placement = Placement::new((0..5).map(location).collect());
        let placement = placement.with_distances(|a, b| u64::from(a.abs_diff(b)));
        let star = Ways::new(5, 0, false);
        assert_eq!(star.children(&placement, 1, 1), [4, 3, 0, 2]);
        assert_eq!((star.parent(&placement, 1, 4), star.depth(&placement, 1, 4)), (Some(1), 1));
        let two = Ways::new(5, 2, false);
        assert_eq!(two.children(&placement, 0, 0), [2, 1]);
        for site in 1..5 {
            let parent = two.parent(&placement, 0, site).expect("a parent");
            assert!(two.children(&placement, 0, parent).contains(&site));
            assert!(two.children(&placement, 0, site).len() <= 2);
            let above = two.depth(&placement, 0, parent);
            assert_eq!(two.depth(&placement, 0, site), above + 1);
        }
    }
}
