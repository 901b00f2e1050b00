//! Paths that are taken out of use by hand, and given back.

use laneway_path::{PathId, Refusal};

use super::Endpoint;
use crate::error::NetError;
use crate::wire::Wire;

impl Endpoint {
    /// Takes the traffic of every connection off a path, and keeps it and that of later ones off.
    pub fn drain(&mut self, path: PathId) -> Result<(), NetError> {
        self.wire(path)?.drained = true;
        let all = self.ids();
        self.change_each(&all, |now, connection, manager| {
            where_known(manager.drain(now, connection, path))
        })
    }

    /// Lets a path be used again.
    pub fn undrain(&mut self, path: PathId) -> Result<(), NetError> {
        self.wire(path)?.drained = false;
        let all = self.ids();
        self.change_each(&all, |now, connection, manager| {
            where_known(manager.undrain(now, connection, path))
        })
    }

    pub(super) fn wire(&mut self, path: PathId) -> Result<&mut Wire, NetError> {
        self.wires.get_mut(usize::from(path.0)).ok_or(Refusal::UnknownPath { path }.into())
    }
}

/// A connection that has fewer paths than its endpoint has nothing to do with the others.
fn where_known(result: Result<(), Refusal>) -> Result<(), Refusal> {
    match result {
        Err(Refusal::UnknownPath { .. }) => Ok(()),
        other => other,
    }
}
