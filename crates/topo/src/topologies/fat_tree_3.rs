//! The three-level fat tree that the full-mesh paper compares with: d^3 hosts.

use super::Kind;
use super::tree_3::Tree3;

/// paper: fullmesh table 3: d pods, two cables from each middle switch to each of its tops. With an
/// odd d the last top of each group has one.
pub const KIND: Kind = Kind {
    name: "fat-tree-3",
    sentence: "three-level fat tree of full bandwidth: d^3 hosts, 5 d^2 / 2 switches of 2 d ports",
    source: "Nakashima and Miwa 2014, table 3",
    least: 1,
    only_even: false,
    build: |d| Box::new(Tree3::new(&KIND, d, d, d, 2)),
};
