//! Orders of messages, which of them meet on a link, and orders that are repaired after a failure.

pub mod alltoall;
pub mod conflicts;
pub mod order;
pub mod permutations;
pub mod repair;
pub mod sample;
pub mod schedule;
pub(crate) mod ways;
