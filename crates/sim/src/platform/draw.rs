//! Values drawn from the platform's seed: other ones on each host, the same in every run.

use laneway_stats::SplitMix64;

/// The numbers of one sequence, three for each host and each source of traffic: the first two are
/// the host's, the third is the source's. So none serves twice, and more of the one kind leave the
/// other's as they were.
pub(super) struct Draws {
    hosts: SplitMix64,
    sources: SplitMix64,
}

impl Draws {
    pub fn new(seed: u64) -> Draws {
        let sequence = SplitMix64::new(seed);
        Draws { hosts: sequence.clone(), sources: sequence }
    }

    /// The next host's, each between 0 and 1: for its clock's offset, and for its drift.
    pub fn clock(&mut self) -> [f64; 2] {
        let drawn = [self.hosts.uniform(), self.hosts.uniform()];
        self.hosts.next_u64();
        drawn
    }

    /// The next source's: the seed of its gaps.
    pub fn gaps(&mut self) -> u64 {
        self.sources.next_u64();
        self.sources.next_u64();
        self.sources.next_u64()
    }
}

/// A value of every host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    /// The same on all of them.
    Same(f64),
    /// Each its own, at most so far from 0.
    Within(f64),
}

impl Spread {
    /// The value of a host that has drawn this number between 0 and 1.
    pub fn of(self, drawn: f64) -> f64 {
        match self {
            Spread::Same(value) => value,
            Spread::Within(most) => most * (2.0 * drawn - 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_sources_share_one_sequence_and_no_number() {
        let mut draws = Draws::new(1234567);
        let mut sequence = SplitMix64::new(1234567);
        for _ in 0..3 {
            assert_eq!(draws.clock(), [sequence.uniform(), sequence.uniform()]);
            assert_eq!(draws.gaps(), sequence.next_u64());
        }
    }

    #[test]
    fn a_range_is_filled_evenly() {
        let mut draws = Draws::new(1);
        let of = |_| Spread::Within(2.0).of(draws.clock()[1]);
        let values: Vec<f64> = (0..4000).map(of).collect();
        assert!(values.iter().all(|value| value.abs() <= 2.0));
        for quarter in [-2.0, -1.0, 0.0, 1.0] {
            let inside = values.iter().filter(|value| (quarter..quarter + 1.0).contains(*value));
            let inside = inside.count();
            assert!((900..1100).contains(&inside), "{inside} of 4000 from {quarter}");
        }
        assert_eq!(Spread::Same(-3.0).of(0.7), -3.0);
    }
}
