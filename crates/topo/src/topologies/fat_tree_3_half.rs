//! A three-level fat tree with half the bandwidth above its leaves.

use super::Kind;
use super::tree_3::Tree3;

/// paper: fullmesh table 3 and figure 12: d / 2 middle switches a pod.
pub const KIND: Kind = Kind {
    name: "fat-tree-3-half",
    sentence: "three-level fat tree of half bandwidth: d^3 hosts, 7 d^2 / 4 switches of 2 d ports",
    source: "Nakashima and Miwa 2014, table 3",
    least: 2,
    only_even: true,
    build: |d| Box::new(Tree3::new(&KIND, d, d, d / 2, 2)),
};
