//! Sets of links that wait for each other, each link for every other one of its set.

use super::Waits;
use crate::routing::Hop;

/// A link's set is not known yet.
const NONE: u32 = u32::MAX;

impl Waits {
    /// A credit loop of each set of links that wait for each other, but not of sets that do so over
    /// there alone.
    pub fn credit_loops_beside(&self, known: &Waits) -> Vec<Vec<Hop>> {
        let sets = self.sets();
        let mut credit_loops = Vec::new();
        let mut is_reported = vec![false; sets.len()];
        for link in 0..sets.len() as u32 {
            let set = sets[link as usize];
            let is_in = |other: u32| sets[other as usize] == set;
            if !is_reported[set as usize] && self.waits_more(link, known, is_in) {
                is_reported[set as usize] = true;
                credit_loops.push(self.round(link, is_in));
            }
        }
        credit_loops
    }

    /// For every link the number of its set: the strongly connected components (Tarjan 1972).
    fn sets(&self) -> Vec<u32> {
        let count = self.links.count() as usize;
        let (mut sets, mut found) = (vec![NONE; count], vec![NONE; count]);
        let mut lowest = vec![0; count];
        let (mut open, mut number) = (Vec::new(), 0);
        for begin in 0..count as u32 {
            if found[begin as usize] != NONE {
                continue;
            }
            let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
            let mut next = Some(begin);
            loop {
                if let Some(link) = next.take() {
                    (found[link as usize], lowest[link as usize]) = (number, number);
                    number += 1;
                    open.push(link);
                    path.push((link, self.after(link).collect()));
                }
                let Some((link, after)) = path.last_mut() else { break };
                let at = *link as usize;
                match after.pop() {
                    Some(other) if found[other as usize] == NONE => next = Some(other),
                    Some(other) if sets[other as usize] == NONE => {
                        lowest[at] = lowest[at].min(found[other as usize]);
                    }
                    Some(_) => {}
                    None => {
                        if lowest[at] == found[at] {
                            while let Some(member) = open.pop() {
                                sets[member as usize] = at as u32;
                                if member as usize == at {
                                    break;
                                }
                            }
                        }
                        path.pop();
                        if let Some((before, _)) = path.last() {
                            let before = *before as usize;
                            lowest[before] = lowest[before].min(lowest[at]);
                        }
                    }
                }
            }
        }
        sets
    }
}
