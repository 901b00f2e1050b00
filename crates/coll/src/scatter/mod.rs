//! Scatter and scatterv: the root's blocks go to their ranks.

pub mod binomial;
pub mod linear;
pub mod windowed;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] =
    &[&linear::ALGORITHM, &windowed::ALGORITHM, &binomial::ALGORITHM];
