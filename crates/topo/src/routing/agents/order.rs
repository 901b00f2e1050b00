//! An order of the links in which every message takes later and later ones: so none waits for
//! itself. It can be changed for one more message, unless that closes a credit loop (Pearce and
//! Kelly 2006).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use crate::proof::waits::Waits;
use crate::routing::engines::heights::Heights;
use crate::wiring::graph::Graph;

/// The place of each link, after all that wait for it.
pub(super) struct Order {
    places: Vec<u32>,
    pub waits: Waits,
    /// How many links changes may still look at.
    effort: u64,
    /// The last walk that came by each link, and how many walks there were.
    seen: Vec<u32>,
    walks: u32,
}

/// The number of links whose examination takes some tenths of a second.
const MOST_EFFORT: u64 = 1 << 22;

impl Order {
    /// The links that climb in an order of the switches and then those that descend, as far as what
    /// waits already allows it: then the rest can climb and descend, too. Where links wait in a
    /// credit loop, one of them comes first all the same.
    pub fn new(graph: &Graph, waits: Waits, heights: &Heights) -> Order {
        let keys = keys(graph, heights);
        let mut earlier: Vec<u32> = vec![0; keys.len()];
        for link in 0..keys.len() as u32 {
            waits.after(link).for_each(|next| earlier[next as usize] += 1);
        }
        let mut all: Vec<u32> = (0..keys.len() as u32).collect();
        all.sort_by_key(|&link| keys[link as usize]);
        let is_free = |link: &&u32| earlier[**link as usize] == 0;
        let entry = |link: u32| Reverse((keys[link as usize], link));
        let mut free: BinaryHeap<_> = all.iter().filter(is_free).map(|&link| entry(link)).collect();
        let mut places = vec![UNPLACED; keys.len()];
        let (mut rest, mut place) = (all.iter(), 0);
        loop {
            let is_unplaced = |link: &&u32| places[**link as usize] == UNPLACED;
            let next = match free.pop() {
                Some(Reverse((_, link))) => link,
                None => match rest.find(is_unplaced) {
                    Some(&link) => link,
                    None => break,
                },
            };
            if places[next as usize] != UNPLACED {
                continue;
            }
            places[next as usize] = place;
            place += 1;
            for after in waits.after(next) {
                earlier[after as usize] -= 1;
                if earlier[after as usize] == 0 {
                    free.push(entry(after));
                }
            }
        }
        Order { seen: vec![0; places.len()], places, waits, effort: MOST_EFFORT, walks: 0 }
    }

    /// Lets a link wait for another, if that closes no credit loop.
    pub fn insert(&mut self, link: u32, next: u32) -> bool {
        let (first, last) = (self.place(next), self.place(link));
        if first < last {
            if self.effort == 0 {
                return false;
            }
            let between = first..=last;
            let ahead =
                self.collect(next, &between, |waits, at, near| near.extend(waits.after(at)));
            if self.effort == 0 || ahead.contains(&link) {
                return false;
            }
            let behind =
                self.collect(link, &between, |waits, at, near| near.extend(waits.before(at)));
            self.exchange(behind, ahead);
        }
        self.waits.add_links(link, next);
        true
    }

    /// A link, and what comes from it step by step between some places.
    fn collect(
        &mut self,
        from: u32,
        between: &RangeInclusive<u32>,
        step: impl Fn(&Waits, u32, &mut Vec<u32>),
    ) -> Vec<u32> {
        self.walks += 1;
        self.seen[from as usize] = self.walks;
        let (mut found, mut next, mut near) = (vec![from], vec![from], Vec::new());
        while let Some(link) = next.pop() {
            near.clear();
            step(&self.waits, link, &mut near);
            self.effort = self.effort.saturating_sub(near.len() as u64 + 1);
            for &link in &near {
                let at = link as usize;
                if between.contains(&self.places[at]) && self.seen[at] != self.walks {
                    self.seen[at] = self.walks;
                    found.push(link);
                    next.push(link);
                }
            }
        }
        found
    }

    /// Puts some links before others, on the places that they all have.
    fn exchange(&mut self, mut before: Vec<u32>, mut after: Vec<u32>) {
        before.sort_by_key(|&link| self.place(link));
        after.sort_by_key(|&link| self.place(link));
        before.extend(after);
        let mut places: Vec<u32> = before.iter().map(|&link| self.place(link)).collect();
        places.sort_unstable();
        for (link, place) in before.into_iter().zip(places) {
            self.places[link as usize] = place;
        }
    }

    pub fn place(&self, link: u32) -> u32 {
        self.places[link as usize]
    }
}

const UNPLACED: u32 = u32::MAX;

/// Links that climb by where they begin, those that descend after them, from the top down.
fn keys(graph: &Graph, heights: &Heights) -> Vec<u32> {
    let switches = graph.switches() as u32;
    let mut keys = vec![2 * switches; graph.links.count() as usize];
    for switch in 0..switches {
        for cable in graph.cables(switch) {
            let height = heights.of(switch);
            let key = match heights.is_above(cable.to, switch) {
                true => height,
                false => 2 * switches - 1 - height,
            };
            keys[graph.links.link(switch, cable.port) as usize] = key;
        }
    }
    keys
}
