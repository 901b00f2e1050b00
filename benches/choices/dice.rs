//! Random numbers by seed in the forms that the generators need.

use laneway_stats::SplitMix64;

/// A source of draws; equal seeds give equal draws.
pub struct Dice(SplitMix64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(SplitMix64::new(seed))
    }

    /// Between two numbers, on a logarithmic scale.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }

    /// A whole number from `least` to `most`, on a logarithmic scale; `least` is at least 1.
    pub fn whole(&mut self, least: u64, most: u64) -> u64 {
        let most = most.max(least);
        (self.log(least as f64, most as f64 + 1.0) as u64).clamp(least, most)
    }

    pub fn is(&mut self, chance: f64) -> bool {
        self.0.uniform() < chance
    }

    /// One of `0..count`; 0 where `count` is 0.
    pub fn index(&mut self, count: usize) -> usize {
        self.0.index(count)
    }

    /// One of some values, of which there is at least one.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.index(values.len())]
    }

    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        self.0.shuffle(values);
    }
}

/// The least prime that is not below a number.
pub fn prime_from(number: u64) -> u64 {
    let is_prime =
        |n: u64| n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (number..).find(|&n| is_prime(n)).unwrap_or(number)
}
