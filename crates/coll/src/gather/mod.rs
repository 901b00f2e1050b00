//! Gather and gatherv: the ranks' blocks come together at the root.

pub mod binomial;
pub mod credits;
pub mod linear;

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] =
    &[&linear::ALGORITHM, &credits::ALGORITHM, &binomial::ALGORITHM];
