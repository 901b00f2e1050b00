//! Events of paths, kept for a thread beside the polling program.

use laneway_path::Event;

use super::{Endpoint, Notice, What};

pub(super) type Observed = Vec<Notice>;

impl Endpoint {
    /// From now on events of paths are kept for a thread as well.
    pub(crate) fn observe(&mut self) {
        self.observed.get_or_insert_default();
    }

    pub(crate) fn has_observed(&self) -> bool {
        self.observed.as_ref().is_some_and(|observed| !observed.is_empty())
    }

    pub(crate) fn take_observed(&mut self) -> Vec<Notice> {
        self.observed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }
}

/// Keeps a notice if it is about a path and not about a message.
pub(super) fn keep(observed: &mut Option<Observed>, notice: &Notice) {
    use Event::{Armed, Failed, Migrated, Unhealthy, Wanted};
    let Some(observed) = observed else { return };
    let What::Event(event) = &notice.what else { return };
    if matches!(
        event,
        Armed { .. } | Migrated { .. } | Unhealthy { .. } | Wanted { .. } | Failed { .. }
    ) {
        observed.push(notice.clone());
    }
}
