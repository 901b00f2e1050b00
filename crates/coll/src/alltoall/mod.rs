//! Alltoall and alltoallv: every rank has a block for every rank.

pub mod bruck;
pub mod far_first;
pub mod full_mesh;
pub mod linear;
pub mod linear_sync;
pub mod pairs;
pub mod pairwise;
pub mod site_lanes;
pub mod swaps;
pub mod third_site;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &linear_sync::ALGORITHM,
    &pairwise::ALGORITHM,
    &bruck::ALGORITHM,
    &full_mesh::ALGORITHM,
    &far_first::ALGORITHM,
    &site_lanes::ALGORITHM,
    &third_site::ALGORITHM,
];
