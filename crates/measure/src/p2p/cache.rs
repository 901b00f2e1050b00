//! Where messages lie: in one buffer that stays in the cache, or in ever new ones that are not.

use std::hint::black_box;

use super::disjoint::Estimate;
use crate::repeat::Rule;

/// Whether the bytes of a message are in the cache before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// The same buffer each time.
    #[default]
    Warm,
    /// March through so many bytes, more than the cache holds: when a place comes again, what was
    /// there has been driven out by what came after.
    Cold { bytes: usize },
}

/// More than the last cache of most machines.
pub const COLD_BYTES: usize = 256 << 20;

/// The buffers of one rank.
pub struct Buffers {
    out: March,
    into: March,
}

impl Buffers {
    pub fn new(cache: Cache, out_bytes: usize, into_bytes: usize) -> Buffers {
        Buffers { out: March::new(cache, out_bytes), into: March::new(cache, into_bytes) }
    }

    /// What to send from and to receive into, in the next repetition.
    pub fn advance(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.out.advance(), self.into.advance())
    }
}

struct March {
    bytes: Vec<u8>,
    step: usize,
    at: usize,
}

impl March {
    fn new(cache: Cache, step: usize) -> March {
        let whole = match cache {
            Cache::Warm => step,
            // A whole number of steps, and two at least.
            Cache::Cold { bytes } => bytes.div_ceil(step.max(1)).max(2).saturating_mul(step),
        };
        // Written once, so that every page is there.
        March { bytes: vec![1; whole], step, at: 0 }
    }

    fn advance(&mut self) -> &mut [u8] {
        let from = if self.at + self.step <= self.bytes.len() { self.at } else { 0 };
        self.at = from + self.step;
        &mut self.bytes[from..from + self.step]
    }
}

/// Seconds that a sample of copies lasts at least: far above what reading a clock costs.
const COPY_SECONDS: f64 = 20e-6;

/// One copy of `size` bytes within this process, the layer under all others; `now` reads a clock.
pub fn memcpy(size: usize, cache: Cache, rule: &Rule, now: &dyn Fn() -> f64) -> Estimate {
    let mut buffers = Buffers::new(cache, size, size);
    let mut series = |copies: u32| {
        let begun = now();
        for _ in 0..copies {
            let (out, into) = buffers.advance();
            black_box(into).copy_from_slice(black_box(out));
        }
        now() - begun
    };
    let mut copies = 1;
    while series(copies) < COPY_SECONDS && copies < 1 << 24 {
        copies *= 2;
    }
    let (begun, mut samples) = (now(), Vec::new());
    loop {
        match rule.wanted(&samples, now() - begun) {
            0 => return Estimate::of(rule, &samples),
            wanted => samples.extend((0..wanted).map(|_| series(copies) / f64::from(copies))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_buffers_march_and_warm_ones_stay() {
        let mut warm = Buffers::new(Cache::Warm, 8, 4);
        let first = warm.advance().0.as_ptr();
        assert_eq!(warm.advance().0.as_ptr(), first);
        let mut cold = Buffers::new(Cache::Cold { bytes: 100 }, 30, 0);
        let places: Vec<usize> = (0..5).map(|_| cold.advance().0.as_ptr() as usize).collect();
        let steps: Vec<usize> = places.iter().map(|place| place - places[0]).collect();
        assert_eq!(steps, [0, 30, 60, 90, 0]);
        assert_eq!(cold.advance().1.len(), 0);
    }

    #[test]
    fn longer_copies_take_longer() {
        let start = std::time::Instant::now();
        let now = || start.elapsed().as_secs_f64();
        let rule = Rule { max_reps: 40, budget: 0.5, ..Rule::default() };
        let [short, long] = [64, 1 << 20].map(|size| memcpy(size, Cache::Warm, &rule, &now).value);
        assert!(short > 0.0 && long > 10.0 * short, "{short} {long}");
    }
}
