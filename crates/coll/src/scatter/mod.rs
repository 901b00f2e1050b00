//! Scatter and scatterv: the root's blocks go to their ranks.

pub mod binomial;
pub mod far_first;
pub mod linear;
pub mod multi_lane;
pub mod relay;
pub mod single_lane;
pub mod third_site;
pub mod windowed;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &linear::ALGORITHM,
    &windowed::ALGORITHM,
    &binomial::ALGORITHM,
    &single_lane::ALGORITHM,
    &single_lane::TREE,
    &multi_lane::ALGORITHM,
    &far_first::ALGORITHM,
    &relay::ALGORITHM,
    &third_site::ALGORITHM,
];
