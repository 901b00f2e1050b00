//! Detours that spread the load, for the price of some native ways that still work.
//!
//! The order that spoils no native way (see [`crate::reroute`]) lets detours pass few switches, and
//! those are then full. Another order lets them pass many: lowest are the switches to which the
//! legal way was lost, and every other switch is as high as it is far from them. On the
//! mesh, where those are the switches of one vertex, detours pass any layer of any other vertex,
//! and what is spoilt are the ways within a vertex by the one edge switch towards the lowest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use laneway_core::Observer;

use crate::routing::Routing;
use crate::routing::engines::column::{Column, Look};
use crate::routing::engines::heights::Heights;
use crate::routing::reroute::Native;
use crate::routing::table::Table;
use crate::wiring::fabric::Fabric;
use crate::wiring::graph::Graph;
use crate::wiring::{Switch, Wiring};

/// How often every detour is chosen.
const ROUNDS: u32 = 6;

/// The table of a damaged fabric whose fullest link carries least, of those that we know to make;
/// where several are equal, the one that changes least.
pub fn spread(whole: &dyn Wiring, routing: &dyn Routing, damaged: &Fabric) -> Table {
    spread_observed(whole, routing, damaged, &())
}

/// The same, with progress reports.
pub fn spread_observed(
    whole: &dyn Wiring,
    routing: &dyn Routing,
    damaged: &Fabric,
    observer: &dyn Observer,
) -> Table {
    let native = Native::for_hosts(whole, routing, observer);
    let left = Graph::of(damaged);
    if !native.knows(&left) {
        return native.reroute_observed(damaged, observer);
    }
    let mut best = native.carefully(&left, ROUNDS, observer);
    for low in lows(&left, &Heights::from_leaves(native.graph())) {
        for heights in [native.heights_above(&left, low.clone()), native.heights_by(low)] {
            let other = native.detour(&left, &heights, ROUNDS, observer);
            if other.whole && other.heaviest() < best.heaviest() {
                best = other;
            }
        }
    }
    native.complete(damaged, &best.table, observer)
}

/// Sets of switches such that every pair that has lost its legal way has one end in the set.
fn lows(left: &Graph, plain: &Heights) -> Vec<BTreeSet<Switch>> {
    let pairs = disconnected(left, plain);
    let partners = |of: Switch, pairs: &[(Switch, Switch)]| -> BTreeSet<Switch> {
        pairs.iter().filter(|pair| pair.0 == of).map(|pair| pair.1).collect()
    };
    let cover = |first: Switch, itself: bool| {
        let (mut low, mut left) = (BTreeSet::new(), pairs.clone());
        let mut next = Some(first);
        while let Some(switch) = next {
            match itself {
                true => low.extend([switch]),
                false => low.extend(partners(switch, &left)),
            }
            left.retain(|pair| !low.contains(&pair.0) && !low.contains(&pair.1));
            next = most_parted(&left);
        }
        low
    };
    let Some(first) = most_parted(&pairs) else { return Vec::new() };
    // The other side of the same damage is as good a beginning.
    let second = partners(first, &pairs).into_iter().next().unwrap_or(first);
    vec![cover(first, false), cover(second, false), cover(first, true)]
}

/// The switch with most partners.
fn most_parted(pairs: &[(Switch, Switch)]) -> Option<Switch> {
    let mut partners: BTreeMap<Switch, usize> = BTreeMap::new();
    pairs.iter().for_each(|pair| *partners.entry(pair.0).or_default() += 1);
    let most = partners.into_iter().max_by_key(|&(switch, count)| (count, Reverse(switch)));
    most.map(|(switch, _)| switch)
}

/// Pairs of switches with hosts that are connected, but not by a legal way.
fn disconnected(left: &Graph, plain: &Heights) -> Vec<(Switch, Switch)> {
    let pieces = left.pieces();
    let mut column = Column::new(left, plain);
    let mut pairs = Vec::new();
    for to in left.leaves() {
        column.begin(to, 0);
        column.complete(&mut [], Look::Blind);
        let connected = left.leaves().filter(|&from| pieces[from as usize] == pieces[to as usize]);
        let unknown = connected.filter(|&from| !column.knows(from));
        pairs.extend(unknown.map(|from| (from, to)));
    }
    pairs
}
