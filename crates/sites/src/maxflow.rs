//! The most that flows through a network of capacities, and the cut that stops more: Dinic's
//! algorithm on floating-point numbers.
//!
//! Numbers may be infinite where some other capacity on every way is not. Rounding can hide a cut
//! whose excess is smaller than itself, and no more: the caller adds up the cut's capacities.

/// What is left of a capacity that is smaller by this part is nothing.
const TINY: f64 = 1e-14;

const NONE: u32 = u32::MAX;

/// Nodes and arcs; every arc is followed by its way back.
#[derive(Clone, Debug, Default)]
pub struct MaxFlow {
    /// The first arc that leaves each node.
    first: Vec<u32>,
    /// The next arc that leaves the same node.
    next: Vec<u32>,
    to: Vec<u32>,
    /// What more an arc can carry.
    left: Vec<f64>,
    /// Less than this is nothing.
    tiny: Vec<f64>,
    /// Arcs from the source to each node; [`NONE`] where no arc with room leads.
    level: Vec<u32>,
    /// The arc of each node that is tried next.
    trial: Vec<u32>,
    queue: Vec<u32>,
}

impl MaxFlow {
    pub fn new(nodes: usize) -> MaxFlow {
        let none = vec![NONE; nodes];
        MaxFlow { first: none.clone(), level: none.clone(), trial: none, ..MaxFlow::default() }
    }

    /// Adds an arc without capacity; the first is number 0.
    pub fn arc(&mut self, from: usize, to: usize) {
        for (from, to) in [(from, to), (to, from)] {
            self.next.push(self.first[from]);
            self.first[from] = self.to.len() as u32;
            self.to.push(to as u32);
        }
        self.left.resize(self.to.len(), 0.0);
        self.tiny.resize(self.to.len(), 0.0);
    }

    /// Gives every arc its capacity, and forgets what flowed.
    pub fn reset(&mut self, capacities: impl Iterator<Item = f64>) {
        for (arc, capacity) in capacities.enumerate() {
            let tiny = if capacity.is_finite() { capacity * TINY } else { 0.0 };
            self.left[2 * arc..2 * arc + 2].copy_from_slice(&[capacity, 0.0]);
            self.tiny[2 * arc..2 * arc + 2].fill(tiny);
        }
    }

    /// Fills the network; returns what flows.
    pub fn fill(&mut self, source: usize, sink: usize) -> f64 {
        let mut sum = 0.0;
        while self.measure(source, sink) {
            self.trial.copy_from_slice(&self.first);
            loop {
                let pushed = self.push(source as u32, sink as u32, f64::INFINITY);
                if pushed == 0.0 {
                    break;
                }
                sum += pushed;
            }
        }
        sum
    }

    /// Whether more could flow to a node after [`MaxFlow::fill`]: it is on the source's side.
    pub fn reaches(&self, node: usize) -> bool {
        self.level[node] != NONE
    }

    fn has_room(&self, arc: usize) -> bool {
        self.left[arc] > self.tiny[arc]
    }

    /// Counts arcs from the source; true where the sink is reached.
    fn measure(&mut self, source: usize, sink: usize) -> bool {
        self.level.fill(NONE);
        self.level[source] = 0;
        self.queue.clear();
        self.queue.push(source as u32);
        let mut done = 0;
        while let Some(&node) = self.queue.get(done) {
            done += 1;
            let mut arc = self.first[node as usize];
            while arc != NONE {
                let to = self.to[arc as usize];
                if self.has_room(arc as usize) && self.level[to as usize] == NONE {
                    self.level[to as usize] = self.level[node as usize] + 1;
                    self.queue.push(to);
                }
                arc = self.next[arc as usize];
            }
        }
        self.level[sink] != NONE
    }

    /// Pushes up to `most` from a node to the sink, each arc a level further.
    fn push(&mut self, node: u32, sink: u32, most: f64) -> f64 {
        if node == sink {
            return most;
        }
        let mut sum = 0.0;
        while self.trial[node as usize] != NONE {
            let arc = self.trial[node as usize] as usize;
            let to = self.to[arc];
            let further = self.level[to as usize] == self.level[node as usize].wrapping_add(1);
            if further && self.has_room(arc) {
                let pushed = self.push(to, sink, (most - sum).min(self.left[arc]));
                self.left[arc] -= pushed;
                self.left[arc ^ 1] += pushed;
                sum += pushed;
                if sum >= most {
                    return sum;
                }
            }
            self.trial[node as usize] = self.next[arc];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_network_has_its_known_flow_and_cut() {
        // 0 to 5; the least cut is {0, 1, 2, 4} with 12 + 7 + 4.
        let arcs = [
            (0, 1, 16.0),
            (0, 2, 13.0),
            (1, 3, 12.0),
            (2, 1, 4.0),
            (2, 4, 14.0),
            (3, 2, 9.0),
            (3, 5, 20.0),
            (4, 3, 7.0),
            (4, 5, 4.0),
        ];
        let mut network = MaxFlow::new(6);
        for (from, to, _) in arcs {
            network.arc(from, to);
        }
        for scale in [1.0, 3e-9, 7e9] {
            network.reset(arcs.iter().map(|arc| arc.2 * scale));
            let flow = network.fill(0, 5);
            assert!((flow / scale - 23.0).abs() < 1e-12, "{flow}");
            let near: Vec<usize> = (0..6).filter(|node| network.reaches(*node)).collect();
            assert_eq!(near, [0, 1, 2, 4]);
        }
    }

    #[test]
    fn infinite_arcs_carry_what_the_others_allow() {
        let mut network = MaxFlow::new(4);
        for (from, to) in [(0, 1), (1, 2), (2, 3), (0, 2)] {
            network.arc(from, to);
        }
        network.reset([f64::INFINITY, 2.0, 5.0, f64::INFINITY].into_iter());
        assert_eq!(network.fill(0, 3), 5.0);
        assert!(network.reaches(2) && !network.reaches(3));
    }
}
