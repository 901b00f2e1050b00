//! What limits flows between sites besides cards: connections, ways and uplinks, as few of them as
//! explain all that was measured.

use std::collections::{BTreeMap, BTreeSet};

use laneway_measure::sites::{End, Found};

use super::cards::Direction;
use super::loads::{Load, Loads, Part, Passing};

/// The parts that are full in some row.
pub(super) struct Shared(BTreeSet<Part>);

impl Shared {
    /// Flows that one part alone explains show it; of what is left, the part that explains the most
    /// is taken, again and again.
    pub fn of(found: &Found, loads: &Loads, cards: &[[Direction; 2]]) -> Shared {
        let mut open: Vec<Vec<Part>> = Vec::new();
        for row in &loads.rows {
            for flow in row.flows.iter().filter(|flow| !flow.is_local()) {
                if !is_full_at_cards(loads, cards, row, flow) {
                    open.push(candidates(found, loads, row, flow));
                }
            }
        }
        let is_shared = loads.is_all_full(found);
        if !is_shared {
            open.iter_mut().for_each(|parts| parts.retain(|part| *part != Part::All));
        }
        // Of what is not explained at all, nothing can be said.
        open.retain(|parts| !parts.is_empty());
        let mut shown: BTreeSet<Part> = BTreeSet::new();
        if is_shared {
            shown.insert(Part::All);
        }
        loop {
            open.retain(|parts| !parts.iter().any(|part| shown.contains(part)));
            let single = open.iter().find(|parts| parts.len() == 1).map(|parts| parts[0]);
            let Some(part) = single.or_else(|| commonest(&open)) else { break };
            shown.insert(part);
        }
        Shared(shown)
    }

    /// The rate of a part, where it was seen to limit anything.
    pub fn rate(&self, loads: &Loads, part: Part) -> Option<f64> {
        self.0.contains(&part).then(|| loads.most(part))
    }
}

/// Whether a card explains what a flow has.
fn is_full_at_cards(loads: &Loads, cards: &[[Direction; 2]], row: &Load, flow: &Passing) -> bool {
    let is_full = |host: usize, end: End| {
        let own = &cards[host][end as usize];
        match own.wan {
            None => loads.may_be_full(row, flow, Part::Card(host, end)),
            Some(_) => own.wan_was_full && loads.may_be_full(row, flow, Part::Wan(host, end)),
        }
    };
    is_full(flow.from, End::From) || is_full(flow.to, End::To)
}

/// What else may limit it; between two sites their uplinks are the way.
fn candidates(found: &Found, loads: &Loads, row: &Load, flow: &Passing) -> Vec<Part> {
    let [from, to] = flow.sites;
    let mut parts = vec![Part::Connection(from, to), Part::Way(from, to), Part::All];
    if found.sites.len() > 2 {
        parts.extend([Part::Uplink(from, End::From), Part::Uplink(to, End::To)]);
    }
    parts.retain(|part| loads.may_be_full(row, flow, *part));
    parts
}

/// The part that explains the most; the first in order of equals.
fn commonest(open: &[Vec<Part>]) -> Option<Part> {
    let mut counts: BTreeMap<Part, usize> = BTreeMap::new();
    for part in open.iter().flatten() {
        *counts.entry(*part).or_default() += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(part, _)| part)
}
