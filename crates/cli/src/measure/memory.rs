//! Checks whether the request fits into memory, before anything is allocated.

use laneway_core::{Comm, talk};

use crate::failure::Failure;
use crate::session::RankError;

pub use laneway_processes::memory::{objection, sharers};

/// Collective: nothing begins where it does not fit on one of the machines.
pub fn refuse(comm: &dyn Comm, own: Option<String>, try_this: &str) -> Result<(), RankError> {
    match talk::objection(comm, own)? {
        Some(cause) => {
            Err(Failure::usage("these sizes do not fit into memory", cause, try_this).into())
        }
        None => Ok(()),
    }
}
