//! Forwarding tables and schedules proven, and what is wrong with them in words.

pub mod check;
pub mod explain;
pub mod prove;
pub mod symmetry;
pub(crate) mod waits;
