//! The endpoint of one kind of peers, those of this machine or those of others, kept by a service.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use laneway_connections::{ConnectionId, Endpoint, NetError, Service};
use laneway_core::Rank;

pub(crate) struct Side {
    service: Service,
    /// Whose connection it is, and which of the pair's.
    pub owners: BTreeMap<ConnectionId, (Rank, usize)>,
}

impl Side {
    pub fn start(endpoint: Endpoint) -> Result<Side, NetError> {
        let service = Service::start(endpoint)?;
        Ok(Side { service, owners: BTreeMap::new() })
    }

    /// The endpoint, for the caller alone until it lets go of it.
    pub fn visit(&mut self) -> MutexGuard<'_, Endpoint> {
        self.visit_with_owners().0
    }

    pub fn visit_with_owners(
        &mut self,
    ) -> (MutexGuard<'_, Endpoint>, &mut BTreeMap<ConnectionId, (Rank, usize)>) {
        (self.service.visit(), &mut self.owners)
    }
}
