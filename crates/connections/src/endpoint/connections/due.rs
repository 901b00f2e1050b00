//! Connections that want to be looked at at some time, whatever arrives.
//!
//! Each has one entry at most, which may be earlier than what it wants by now: most answers come in
//! time. The first entry is put where it belongs when it is looked at.

use std::collections::BTreeSet;

use laneway_path::Nanos;

use super::end::End;

/// Times and places, the earliest first.
#[derive(Default)]
pub(super) struct Due(BTreeSet<(Nanos, u32)>);

impl Due {
    /// A connection wants something else than before.
    pub fn enter(&mut self, end: &mut End, index: u32, at: Option<Nanos>) {
        self.0.remove(&(end.looked_at, index));
        end.looked_at = at.unwrap_or(Nanos::MAX);
        self.0.extend(at.map(|at| (at, index)));
    }

    /// The earliest entry.
    pub fn first(&self) -> Option<(Nanos, u32)> {
        self.0.first().copied()
    }

    pub fn remove(&mut self, at: Nanos, index: u32) {
        self.0.remove(&(at, index));
    }
}
