//! Scatter over sites by one crossing for each, the rest of a site served from its representative.

use laneway_core::Collective;

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::Scripted;
use crate::sites::{Local, SiteTree, TreeScatter};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single-lane",
    sentence: "a rank of each other site gets all that the site needs, and serves it one by one",
    build: |shape, _, placement| {
        let tree = SiteTree::single_lane(placement, shape.root, Local::Flat);
        Ok(Box::new(Scripted::new(TreeScatter { tree, blocks: shape.blocks(), window: 1 })))
    },
    ..TREE
};

pub const TREE: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "single-lane-tree",
    sentence: "a rank of each other site gets all that the site needs, and serves it by a tree",
    source: "MagPIe; the multi-lane paper's single lane",
    parameters: &[Parameter::BY_RANK],
    counts: Counts::All,
    build: |shape, _, placement| {
        let tree = SiteTree::single_lane(placement, shape.root, Local::Binomial);
        Ok(Box::new(Scripted::new(TreeScatter { tree, blocks: shape.blocks(), window: 1 })))
    },
    ..Algorithm::BASE
};
