//! Gather and gatherv: the ranks' blocks come together at the root.

pub mod binomial;
pub mod credits;
pub mod far_first;
pub mod linear;
pub mod multi_lane;
pub mod relay;
pub mod single_lane;
pub mod third_site;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &credits::ALGORITHM,
    &binomial::ALGORITHM,
    &single_lane::ALGORITHM,
    &single_lane::TREE,
    &multi_lane::ALGORITHM,
    &multi_lane::TOGETHER,
    &far_first::ALGORITHM,
    &relay::ALGORITHM,
    &third_site::ALGORITHM,
];
