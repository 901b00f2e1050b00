//! Connections that want to be looked at at some time, whatever arrives.
//!
//! Each has one entry at most, which may be earlier than what it wants by now: most answers come in
//! time. The first entry is put where it belongs when it is looked at.

use std::collections::BTreeSet;

use laneway_path::Nanos;

use super::{Endpoint, mark};
use crate::end::End;

/// When, and which connection.
pub(super) type Due = BTreeSet<(Nanos, u32)>;

/// A connection wants something else than before.
pub(super) fn enter(due: &mut Due, end: &mut End, index: u32, at: Option<Nanos>) {
    due.remove(&(end.looked_at, index));
    end.looked_at = at.unwrap_or(Nanos::MAX);
    due.extend(at.map(|at| (at, index)));
}

impl Endpoint {
    /// Whether something may have to be done now, whatever has arrived.
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        let comes = self.due.first().is_some_and(|(at, _)| *at <= now);
        let asks = self.waiting > 0 && self.carriers.next_at().is_some_and(|at| at <= now);
        comes || asks || !self.opening.is_empty() || self.turns.is_overdue(now)
    }

    /// The first time at which a connection wants to be looked at, by what it wants now.
    pub(super) fn first_due(&mut self) -> Option<Nanos> {
        loop {
            let (at, index) = *self.due.first()?;
            let end = self.ends.get_mut(index as usize).and_then(Option::as_mut)?;
            let wants = end.next_timeout();
            if wants.is_some_and(|wants| wants <= at) {
                return Some(at);
            }
            enter(&mut self.due, end, index, wants);
        }
    }

    /// Connections whose time has come.
    pub(super) fn look_at_due(&mut self, now: Nanos) {
        while let Some(&(at, index)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, index));
            let Some(end) = self.ends.get_mut(index as usize).and_then(Option::as_mut) else {
                continue;
            };
            end.looked_at = Nanos::MAX;
            mark(end, index, &mut self.dirty);
        }
    }
}
