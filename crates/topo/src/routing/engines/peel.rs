//! An order of the switches, from low to high, in which given ways climb and then descend.
//!
//! A turn between two neighbours at a switch that stands below both is not legal
//! (`heights.rs`). So a switch can be the lowest of all that are left if no way turns there
//! between two of those, and it can still be when others have gone: whichever goes first, an
//! order is found where there is one. What is left must stay connected, so that one switch comes to
//! stand above all; that may depend on who goes first, and orders are tried that differ in it.

use std::cmp::Reverse;

use laneway_stats::SplitMix64;

use super::heights::Heights;
use super::turns::Turns;
use crate::wiring::Switch;
use crate::wiring::graph::{Cable, Graph};

/// An order, and how many turns are not legal in it.
pub(crate) struct Peeled {
    pub heights: Heights,
    pub spoilt: u64,
}

/// Takes away the lowest switch, again and again. Where every one has turns that this spoils, it is
/// one with the fewest; of equals one that spoils few of some other turns, which need not be legal.
/// Which goes first of what is left is another in every attempt.
pub(crate) fn peel(graph: &Graph, turns: &Turns, others: Option<&Turns>, attempt: u64) -> Peeled {
    let (switches, first) = (graph.switches(), first(graph, attempt));
    let mut peel = Peel { graph, is_left: vec![true; switches] };
    let price = |turns: &Turns| (0..switches as Switch).map(|at| peel.spoilt(turns, at)).collect();
    let mut spoilt: Vec<u64> = price(turns);
    let mut minor: Vec<u64> = others.map_or(vec![0; switches], price);
    let (mut heights, mut all_spoilt) = (vec![0; switches], 0);
    for height in 0..switches as u32 {
        let mut left: Vec<Switch> = (0..switches as Switch).collect();
        left.retain(|&at| peel.is_left[at as usize]);
        left.sort_by_key(|&at| {
            (spoilt[at as usize], minor[at as usize], first[at as usize], Reverse(at))
        });
        let spare = left.iter().copied().find(|&at| peel.is_spare(at));
        let Some(lowest) = spare.or(left.first().copied()) else { break };
        heights[lowest as usize] = height;
        all_spoilt += spoilt[lowest as usize];
        peel.is_left[lowest as usize] = false;
        for cable in graph.cables(lowest) {
            let turned = |turns: &Turns| {
                let left = peel.cables(cable.to).filter(|other| other.to != lowest);
                let turns = left.map(|other| turns.between(cable.to, cable.its, other.port));
                turns.map(u64::from).sum::<u64>()
            };
            if peel.is_left[cable.to as usize] {
                spoilt[cable.to as usize] -= turned(turns);
                minor[cable.to as usize] -= others.map_or(0, turned);
            }
        }
    }
    Peeled { heights: Heights::by(&heights).with_one_top(), spoilt: all_spoilt }
}

struct Peel<'a> {
    graph: &'a Graph,
    is_left: Vec<bool>,
}

impl Peel<'_> {
    /// Cables to switches that are left.
    fn cables(&self, switch: Switch) -> impl Iterator<Item = &Cable> + '_ {
        let cables = self.graph.cables(switch).iter();
        cables.filter(|cable| self.is_left[cable.to as usize])
    }

    /// Turns at a switch between two others that are left.
    fn spoilt(&self, turns: &Turns, switch: Switch) -> u64 {
        let pairs = self.cables(switch).flat_map(|one| {
            let others = self.cables(switch).filter(|other| other.to > one.to);
            others.map(|other| turns.between(switch, one.port, other.port))
        });
        pairs.map(u64::from).sum()
    }

    /// Whether the others that are left stay connected without this switch: whether its neighbours
    /// find each other.
    fn is_spare(&self, switch: Switch) -> bool {
        let mut asked: Vec<Switch> = self.cables(switch).map(|cable| cable.to).collect();
        asked.sort_unstable();
        asked.dedup();
        let Some(&begin) = asked.first() else { return true };
        let mut seen = vec![false; self.is_left.len()];
        (seen[switch as usize], seen[begin as usize]) = (true, true);
        let (mut missing, mut next) = (asked.len() - 1, vec![begin]);
        while let Some(at) = next.pop().filter(|_| missing > 0) {
            for cable in self.cables(at) {
                if !std::mem::replace(&mut seen[cable.to as usize], true) {
                    missing -= usize::from(asked.binary_search(&cable.to).is_ok());
                    next.push(cable.to);
                }
            }
        }
        missing == 0
    }
}

/// The switches in an order of each attempt.
fn first(graph: &Graph, attempt: u64) -> Vec<u32> {
    let away = graph.distances(graph.leaves());
    match attempt {
        0 => away,
        1 => away.iter().map(|&far| u32::MAX - far).collect(),
        seed => {
            let mut drawn: Vec<u32> = (0..graph.switches() as u32).collect();
            SplitMix64::new(seed).shuffle(&mut drawn);
            drawn
        }
    }
}
