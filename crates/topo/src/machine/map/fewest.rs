//! Whether a fabric can be a planned one with few wrong cables: a quick no, never a wrong one.
//!
//! However the switches are laid on planned ones, a switch has no more cables in their place than
//! it has, or the planned one has. And the planned squares do not vanish with a few cables: a
//! fabric by formula has many ways over two cables between a few pairs of switches, one of chance
//! has a few ways between many pairs.

use super::structure::Shape;

/// Counts of a fabric that change little with a few cables.
pub struct Counts {
    /// Hosts of each switch and cables to other switches, the most first.
    hosts: Vec<u32>,
    cables: Vec<u32>,
}

impl Counts {
    pub fn of(shape: &Shape) -> Counts {
        let mut hosts = shape.hosts.clone();
        let cables = shape.beside.iter().map(|beside| beside.iter().map(|at| at.1).sum());
        let mut cables: Vec<u32> = cables.collect();
        for all in [&mut hosts, &mut cables] {
            all.sort_unstable_by(|one, other| other.cmp(one));
        }
        Counts { hosts, cables }
    }

    /// All cables, those to hosts too.
    pub fn total(&self) -> usize {
        let sum = |all: &[u32]| all.iter().map(|&count| count as usize).sum::<usize>();
        sum(&self.hosts) + sum(&self.cables) / 2
    }

    /// Cables of one fabric that the other lacks, at least, whichever has more.
    pub fn fewest(&self, other: &Counts) -> usize {
        // No other pairing of numbers has more in common than the largest with the largest.
        let common = |one: &[u32], other: &[u32]| {
            one.iter().zip(other).map(|(one, other)| *one.min(other) as usize).sum::<usize>()
        };
        let in_place = common(&self.hosts, &other.hosts) + common(&self.cables, &other.cables) / 2;
        self.total().max(other.total()) - in_place
    }
}

/// The squares of a fabric: two ways over two cables each between the same two switches.
pub struct Squares {
    /// Ordered pairs of ways between all ordered pairs of switches.
    all: u64,
    /// Ordered pairs of switches with many ways between them, and all those ways.
    pairs: u64,
    ways: u64,
    /// In how many of those ways each cable is, the most first.
    of_cable: Vec<u64>,
}

impl Squares {
    pub fn of(shape: &Shape) -> Squares {
        let beside = &shape.beside;
        let (mut sum, mut squares) = (0, 0);
        each_ways(shape, |_, ways| {
            for &ways in ways.iter().filter(|&&ways| ways > 0) {
                sum += u64::from(ways);
                squares += u64::from(ways) * u64::from(ways);
            }
        });
        // Many are at least half of what a way has beside it in the mean, itself too.
        let many = squares.div_ceil(2 * sum.max(1)).max(1) as u32;
        let (mut pairs, mut all_ways) = (0, 0);
        // By switch, and each other beside it: the many ways that start with such a cable.
        let mut starting: Vec<Vec<u64>> = Vec::with_capacity(beside.len());
        each_ways(shape, |from, ways| {
            for &ways in ways.iter().filter(|&&ways| ways >= many) {
                pairs += 1;
                all_ways += u64::from(ways);
            }
            let starting_here = |&(middle, _): &(usize, u32)| {
                let next = beside[middle].iter().filter(|&&(to, _)| ways[to] >= many);
                next.map(|&(_, cables)| u64::from(cables)).sum()
            };
            starting.push(beside[from].iter().map(starting_here).collect());
        });
        let mut of_cable = Vec::new();
        for (one, others) in beside.iter().enumerate() {
            for (&(other, cables), here) in others.iter().zip(&starting[one]) {
                let back = beside[other].binary_search_by_key(&one, |&(at, _)| at);
                let there = back.map_or(0, |back| starting[other][back]);
                // The ways back end with it. A cable from a switch to itself has both ends here.
                let count = if one == other { cables.div_ceil(2) } else { cables };
                if one <= other {
                    of_cable.extend((0..count).map(|_| 2 * (here + there)));
                }
            }
        }
        of_cable.sort_unstable_by(|one, other| other.cmp(one));
        Squares { all: squares - sum, pairs, ways: all_ways, of_cable }
    }

    /// Squares that are left after any loss of `count` cables, at least: those of the ways that
    /// must be left, which are fewest where all pairs have the same number of ways.
    fn left(&self, lost: usize) -> u64 {
        let ways = self.ways.saturating_sub(self.of_cable.iter().take(lost).sum());
        let more = u128::from(ways.saturating_sub(self.pairs));
        // Less than `all`.
        (u128::from(ways) * more / u128::from(self.pairs.max(1))) as u64
    }

    /// Whether each may lack at most `most` cables of the other.
    pub fn can_be(&self, other: &Squares, most: usize) -> bool {
        self.left(most) <= other.all && other.left(most) <= self.all
    }
}

/// For each switch the ways over two cables to each other one.
fn each_ways(shape: &Shape, mut look: impl FnMut(usize, &[u32])) {
    let beside = &shape.beside;
    let mut ways = vec![0; beside.len()];
    for from in 0..beside.len() {
        ways.fill(0);
        for &(middle, first) in &beside[from] {
            for &(to, second) in &beside[middle] {
                ways[to] += first * second;
            }
        }
        ways[from] = 0;
        look(from, &ways);
    }
}

#[cfg(test)]
mod tests {
    use laneway_stats::SplitMix64;

    use super::*;
    use crate::topologies::{KINDS, topology};
    use crate::wiring::fabric::{Fabric, Part};
    use crate::wiring::{End, Port, Switch, Wiring};

    /// One end of each cable, those to hosts too.
    fn cables(plan: &dyn Wiring) -> Vec<(Switch, Port)> {
        let ports = |switch| (0..plan.ports(switch) as Port).map(move |port| (switch, port));
        let is_first = |&(switch, port): &(Switch, Port)| match plan.end(switch, port) {
            End::Switch(other, its) => (switch, port) < (other, its),
            end => end != End::Nothing,
        };
        (0..plan.switches()).flat_map(ports).filter(is_first).collect()
    }

    /// A fabric with a number of its cables cut, drawn from all or the first of those that remain,
    /// and another one plugged in somewhere for every second.
    fn damaged(plan: &dyn Wiring, lost: usize, at_random: bool, draws: &mut SplitMix64) -> Fabric {
        let (mut fabric, mut cables) = (Fabric::of(plan), cables(plan));
        let mut free = Vec::new();
        for cut in 0..lost {
            let at = if at_random { draws.index(cables.len()) } else { 0 };
            let place = cables.remove(at);
            if let End::Switch(other, its) = fabric.end(place.0, place.1) {
                free.extend([place, (other, its)]);
            }
            fabric.fail(Part::Link(place.0, place.1));
            if cut % 2 == 0 && free.len() > 1 {
                let one = free.swap_remove(draws.index(free.len()));
                let other = free.swap_remove(draws.index(free.len()));
                fabric.plug(one, End::Switch(other.0, other.1)).expect("both are free");
            }
        }
        fabric
    }

    #[test]
    fn no_is_never_said_to_fewer_differences() {
        let mut draws = SplitMix64::new(3);
        for kind in KINDS {
            for d in [2, 4, 6] {
                let plan = (kind.build)(d);
                let planned = Shape::of(&*plan);
                let (counts, squares) = (Counts::of(&planned), Squares::of(&planned));
                for part in [0, 2, 4, 8, 20, 100] {
                    let lost = counts.total().checked_div(part).unwrap_or(0);
                    for at_random in [false, true] {
                        let found = Shape::of(&damaged(&*plan, lost, at_random, &mut draws));
                        let fewest = Counts::of(&found).fewest(&counts);
                        assert!(fewest <= lost, "{} {lost}", plan.spec());
                        let can_be = Squares::of(&found).can_be(&squares, lost);
                        assert!(can_be, "{} {lost}", plan.spec());
                    }
                }
            }
        }
    }

    /// A square of four switches, two of its cables double: by hand.
    #[test]
    fn squares_are_counted() {
        let mut ring = Fabric::default();
        for switch in 0..4 {
            ring.add_switch(&format!("s{switch}"), 4).expect("few ports");
        }
        for at in 0..4 {
            ring.plug((at, 0), End::Switch((at + 1) % 4, 1)).expect("free");
        }
        let squares = Squares::of(&Shape::of(&ring));
        // Two ways between each of two pairs, in both directions; each cable is in half of them.
        assert_eq!((squares.all, squares.pairs, squares.ways), (8, 4, 8));
        assert_eq!(squares.of_cable, vec![4; 4]);
        assert_eq!([0, 1, 2].map(|lost| squares.left(lost)), [8, 0, 0]);
        ring.plug((0, 2), End::Switch(1, 3)).expect("free");
        ring.plug((2, 2), End::Switch(3, 3)).expect("free");
        let squares = Squares::of(&Shape::of(&ring));
        assert_eq!((squares.all, squares.pairs, squares.ways), (48, 4, 16));
        assert_eq!(squares.of_cable, vec![8, 8, 4, 4, 4, 4]);
    }

    /// Every count of a fabric of chance may be right but that of its squares.
    #[test]
    fn cables_that_lead_anywhere_have_too_few_squares() {
        let mut draws = SplitMix64::new(7);
        for spec in ["mlfm:d=18", "fat-tree-3:d=10", "fat-tree-3-max:d=10", "fat-tree-3-half:d=20"]
        {
            let plan = topology(spec).expect(spec);
            let mut chance = Fabric::of(&*plan);
            let mut ends = Vec::new();
            let mut places = cables(&*plan);
            places.retain(|&(switch, port)| matches!(plan.end(switch, port), End::Switch(..)));
            for &(switch, port) in &places {
                ends.push(plan.end(switch, port));
                chance.fail(Part::Link(switch, port));
            }
            for place in places {
                let end = ends.swap_remove(draws.index(ends.len()));
                if !matches!(end, End::Switch(other, _) if other == place.0) {
                    chance.plug(place, end).expect("free");
                }
            }
            let (found, planned) = (Shape::of(&chance), Shape::of(&*plan));
            let counts = Counts::of(&planned);
            let most = counts.total() / 10;
            assert!(Counts::of(&found).fewest(&counts) <= most, "{spec}");
            assert!(!Squares::of(&found).can_be(&Squares::of(&planned), most), "{spec}");
        }
    }
}
