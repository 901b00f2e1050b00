//! Gather over sites by one crossing for each, the rest of a site served from its representative.

use laneway_core::Collective;

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::Scripted;
use crate::sites::{Local, SiteTree, TreeGather};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single-lane",
    sentence: "a rank of each other site takes all that the site has, and sends it across",
    build: |shape, _, placement| {
        let tree = SiteTree::single_lane(placement, shape.root, Local::Flat);
        let blocks = shape.blocks();
        Ok(Box::new(Scripted::new(TreeGather { tree, blocks, own_at_once: false })))
    },
    ..TREE
};

pub const TREE: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "single-lane-tree",
    sentence: "a rank of each other site takes all that the site has by a tree, and sends it",
    source: "MagPIe; the multi-lane paper's single lane",
    parameters: &[Parameter::BY_RANK],
    counts: Counts::All,
    build: |shape, _, placement| {
        let tree = SiteTree::single_lane(placement, shape.root, Local::Binomial);
        let blocks = shape.blocks();
        Ok(Box::new(Scripted::new(TreeGather { tree, blocks, own_at_once: false })))
    },
    ..Algorithm::BASE
};
