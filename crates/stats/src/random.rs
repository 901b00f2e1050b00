//! Numbers that look random and depend on a seed alone, so that every result can be had again.

/// The generator splitmix64 (Steele, Lea and Flood 2014): any seed is a good one.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The next number, of 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1 and never one of them, so that it has a logarithm.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// One of `0..count`; 0 where there is nothing to choose from.
    pub fn index(&mut self, count: usize) -> usize {
        // The high half of the product: its bias, count in 2^64, is far below any we could see.
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }

    /// Puts things into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sequence that the authors publish for this seed.
    #[test]
    fn the_sequence_is_splitmix64() {
        let mut draws = SplitMix64::new(1234567);
        let first = [draws.next_u64(), draws.next_u64(), draws.next_u64()];
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn uniform_and_index_keep_their_bounds() {
        let mut draws = SplitMix64::new(7);
        let mut seen = [0; 10];
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let share = draws.uniform();
            assert!(share > 0.0 && share < 1.0);
            sum += share;
            seen[draws.index(10)] += 1;
        }
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02, "{sum}");
        assert!(seen.iter().all(|times| (900..1100).contains(times)), "{seen:?}");
        assert_eq!(draws.index(0), 0);
    }

    #[test]
    fn every_order_comes_equally_often() {
        let mut draws = SplitMix64::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut things = [0, 1, 2];
            draws.shuffle(&mut things);
            *seen.entry(things).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (850..1150).contains(times)), "{seen:?}");
    }
}
