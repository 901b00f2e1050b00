//! The largest three-level fat tree that switches of 2 d ports make: 2 d^3 hosts.

use super::Kind;
use super::tree_3::Tree3;

/// paper: fullmesh table 1 and figure 10: p^3 / 4 hosts, 5 p^2 / 4 switches.
pub const KIND: Kind = Kind {
    name: "fat-tree-3-max",
    sentence: "the largest three-level fat tree: 2 d^3 hosts, 5 d^2 switches of 2 d ports",
    source: "Nakashima and Miwa 2014, table 1",
    least: 1,
    only_even: false,
    build: |d| Box::new(Tree3::new(&KIND, d, 2 * d, d, 1)),
};
