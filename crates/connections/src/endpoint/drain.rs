//! Paths that are taken out of use by hand, and given back.

use laneway_path::{PathId, Refusal};

use super::Endpoint;
use crate::error::NetError;

impl Endpoint {
    /// Takes the traffic of every connection off a path, and keeps it and that of later ones off.
    pub fn drain(&mut self, path: PathId) -> Result<(), NetError> {
        self.set_drained(path, true)?;
        let all = self.connections.ids();
        self.change_each(&all, |now, connection, manager| {
            where_known(manager.drain(now, connection, path))
        })
    }

    /// Lets a path be used again.
    pub fn undrain(&mut self, path: PathId) -> Result<(), NetError> {
        self.set_drained(path, false)?;
        let all = self.connections.ids();
        self.change_each(&all, |now, connection, manager| {
            where_known(manager.undrain(now, connection, path))
        })
    }

    fn set_drained(&mut self, path: PathId, drained: bool) -> Result<(), NetError> {
        match self.health.set_drained(path, drained) {
            true => Ok(()),
            false => Err(Refusal::UnknownPath { path }.into()),
        }
    }
}

/// A connection that has fewer paths than its endpoint has nothing to do with the others.
fn where_known(result: Result<(), Refusal>) -> Result<(), Refusal> {
    match result {
        Err(Refusal::UnknownPath { .. }) => Ok(()),
        other => other,
    }
}
