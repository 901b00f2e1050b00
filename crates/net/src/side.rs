//! The endpoint of one kind of peers, those of this machine or those of others, kept by a service.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use laneway_connections::{ConnectionId, Endpoint, NetError, Service, now};
use laneway_core::Rank;
use laneway_path::Nanos;

/// The service begins to sleep after a millisecond without a caller; a caller after half of that
/// wakes it, so that it sees what is due now.
const GAP: Nanos = 500_000;

pub(crate) struct Side {
    service: Service,
    /// Whose connection it is, and which of the pair's.
    pub owners: BTreeMap<ConnectionId, (Rank, usize)>,
    visited_at: Nanos,
}

impl Side {
    pub fn start(endpoint: Endpoint) -> Result<Side, NetError> {
        let service = Service::start(endpoint)?;
        Ok(Side { service, owners: BTreeMap::new(), visited_at: 0 })
    }

    /// The endpoint, for the caller alone until it lets go of it.
    pub fn visit(&mut self) -> MutexGuard<'_, Endpoint> {
        self.visit_with_owners().0
    }

    pub fn visit_with_owners(
        &mut self,
    ) -> (MutexGuard<'_, Endpoint>, &mut BTreeMap<ConnectionId, (Rank, usize)>) {
        let now = now();
        if now.saturating_sub(self.visited_at) > GAP {
            self.service.notify();
        }
        self.visited_at = now;
        (self.service.endpoint(), &mut self.owners)
    }
}
