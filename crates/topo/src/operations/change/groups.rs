//! Which destinations change together, so that no links come to form a credit loop.
//!
//! All at once, if the table after each of their steps has no credit loop; otherwise one half and
//! then the other, and so on to single destinations. One that would close a credit loop is tried
//! again when others have changed.

use super::{Ends, apply, steps_of};
use crate::proof::prove::prove;
use crate::routing::table::Table;
use crate::wiring::Wiring;

/// Entries that are looked at in the search, about: some ten seconds.
const MOST_EFFORT: u64 = 1 << 29;

/// Groups that are tried one after another: each has a few steps, and a step is a whole table.
const MOST_GROUPS: usize = 64;

/// The effort of a search for a credit loop per link, in entries.
const EFFORT_OF_LINK: u64 = 16;

/// The destinations that differ, in groups that change one after another. What closes a credit loop
/// wherever it was tried, or is too much to try, is the last one.
pub(super) fn groups(wiring: &dyn Wiring, from: &Table, to: &Table) -> Vec<Vec<u32>> {
    let differs = |&destination: &u32| {
        let at = destination as usize;
        (0..to.switches()).any(|switch| from.row_of(switch)[at] != to.row_of(switch)[at])
    };
    let mut left: Vec<u32> = (0..to.destinations()).filter(differs).collect();
    let (groups, now) = (Vec::new(), from.clone());
    let mut search = Search { wiring, groups, now, to, effort: MOST_EFFORT };
    loop {
        let later = search.change(&left);
        if later.len() == left.len() {
            break;
        }
        left = later;
    }
    search.groups.extend((!left.is_empty()).then_some(left));
    search.groups
}

struct Search<'a> {
    wiring: &'a dyn Wiring,
    /// The groups that are found already, and the table after them.
    groups: Vec<Vec<u32>>,
    now: Table,
    to: &'a Table,
    /// What is left of [`MOST_EFFORT`].
    effort: u64,
}

impl Search<'_> {
    /// Changes what it can of some destinations, and gives back those that close a credit loop now.
    fn change(&mut self, some: &[u32]) -> Vec<u32> {
        if some.is_empty() || self.effort == 0 || self.groups.len() == MOST_GROUPS {
            return some.to_vec();
        }
        let steps = steps_of(self.wiring, Ends::Hosts, (&self.now, self.to), some);
        let is_free = steps.iter().all(|step| {
            apply(&mut self.now, step);
            self.is_free()
        });
        if is_free {
            self.groups.push(some.to_vec());
            return Vec::new();
        }
        for change in steps.iter().flatten() {
            self.now.set(change.switch, change.destination, change.from);
        }
        if some.len() == 1 {
            return some.to_vec();
        }
        let (one, other) = some.split_at(some.len() / 2);
        let mut later = self.change(one);
        later.extend(self.change(other));
        later
    }

    /// Whether the table that there is now has no credit loop, as far as there is effort left to
    /// know.
    fn is_free(&mut self) -> bool {
        let links: u32 = (0..self.to.switches()).map(|switch| self.wiring.ports(switch)).sum();
        let entries = u64::from(self.to.destinations()) * u64::from(self.to.switches());
        let left = self.effort.checked_sub(EFFORT_OF_LINK * u64::from(links) + entries);
        self.effort = left.unwrap_or(0);
        left.is_some() && prove(self.wiring, &self.now).credit_loop.is_empty()
    }
}
