//! What happened and was not polled yet; events of paths are kept for a thread as well.

use std::collections::VecDeque;

use laneway_path::Event;

use super::{ConnectionId, Endpoint, Notice, What};

#[derive(Default)]
pub(super) struct Notices {
    queue: VecDeque<Notice>,
    /// Events of paths for a thread that asked for them.
    observed: Option<Vec<Notice>>,
}

impl Notices {
    pub fn push(&mut self, connection: ConnectionId, what: What) {
        let notice = Notice { connection, what };
        if let Some(observed) = self.observed.as_mut().filter(|_| is_of_path(&notice.what)) {
            observed.push(notice.clone());
        }
        self.queue.push_back(notice);
    }

    pub fn pop(&mut self) -> Option<Notice> {
        self.queue.pop_front()
    }

    /// The first notice of a connection.
    pub fn take_first_of(&mut self, connection: ConnectionId) -> Option<Notice> {
        let at = self.queue.iter().position(|notice| notice.connection == connection)?;
        self.queue.remove(at)
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes all that wait; [`Notices::put_back`] gives them their place again.
    pub fn set_aside(&mut self) -> VecDeque<Notice> {
        std::mem::take(&mut self.queue)
    }

    pub fn put_back(&mut self, before: VecDeque<Notice>) {
        let new = std::mem::replace(&mut self.queue, before);
        self.queue.extend(new);
    }
}

/// Whether it is an event of a path, and not of a message.
fn is_of_path(what: &What) -> bool {
    use Event::{Armed, Failed, Migrated, Unhealthy, Wanted};
    matches!(
        what,
        What::Event(
            Armed { .. } | Migrated { .. } | Unhealthy { .. } | Wanted { .. } | Failed { .. }
        )
    )
}

impl Endpoint {
    /// From now on events of paths are kept for a thread as well.
    pub(crate) fn observe(&mut self) {
        self.notices.observed.get_or_insert_default();
    }

    pub(crate) fn has_observed(&self) -> bool {
        self.notices.observed.as_ref().is_some_and(|observed| !observed.is_empty())
    }

    pub(crate) fn take_observed(&mut self) -> Vec<Notice> {
        self.notices.observed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }
}
