//! Where messages lie: in one buffer that stays in the cache, or in ever new ones that are not.

use std::hint::black_box;

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

    /// What to send from and to receive into next.
    pub fn advance(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.out.advance(), self.into.advance())
    }
}

/// Processors fetch what follows as well, but not across pages: each place is in pages of its own.
const PAGE: usize = 4096;
/// A line and the neighbour that is fetched with it.
const LINES: usize = 128;

struct March {
    bytes: Vec<u8>,
    size: usize,
    /// From one place to the next; none where there is one.
    stride: usize,
    /// Where in its pages a place begins, this time through.
    first: usize,
    next: usize,
}

impl March {
    fn new(cache: Cache, size: usize) -> March {
        let (stride, whole) = match cache {
            Cache::Warm => (0, size),
            Cache::Cold { bytes } => {
                let stride = size.div_ceil(PAGE).max(1).saturating_mul(PAGE);
                (stride, bytes.div_ceil(stride).max(2).saturating_mul(stride))
            }
        };
        // Written once, so that every page is there.
        March { bytes: vec![1; whole], size, stride, first: 0, next: 0 }
    }

    fn advance(&mut self) -> &mut [u8] {
        if self.next + self.size > self.bytes.len() {
            // Short messages leave most of a page out: the next time through takes other lines, so
            // that a line comes again only after all bytes of the march.
            self.first += self.size.next_multiple_of(LINES).max(LINES);
            if self.first + self.size > self.stride {
                self.first = 0;
            }
            self.next = self.first;
        }
        let from = self.next;
        self.next += self.stride;
        &mut self.bytes[from..from + self.size]
    }
}

/// Seconds that a sample of copies lasts at least: far above what reading a clock costs.
const COPY_SECONDS: f64 = 20e-6;

/// Samples of one copy of `size` bytes within this process, the layer under all others; `now` reads
/// a clock.
pub fn memcpy(size: usize, cache: Cache, rule: &Rule, now: &dyn Fn() -> f64) -> Vec<f64> {
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
            0 => return samples,
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
        let mut cold = Buffers::new(Cache::Cold { bytes: 9000 }, 30, 0);
        let places: Vec<usize> = (0..7).map(|_| cold.advance().0.as_ptr() as usize).collect();
        let steps: Vec<usize> = places.iter().map(|place| place - places[0]).collect();
        assert_eq!(steps, [0, 4096, 8192, 128, 4224, 8320, 256]);
        assert_eq!(cold.advance().1.len(), 0);
        // Every line of it is somebody's place before the first comes again.
        let (mut cold, mut seen) = (March::new(Cache::Cold { bytes: 9000 }, 8), Vec::new());
        (0..96).for_each(|_| seen.push(cold.advance().as_ptr()));
        assert_eq!(cold.advance().as_ptr(), seen[0]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 3 * 4096 / LINES);
        let mut long = March::new(Cache::Cold { bytes: 100 }, 5000);
        let places: Vec<usize> = (0..3).map(|_| long.advance().as_ptr() as usize).collect();
        assert_eq!([places[1] - places[0], places[2] - places[0]], [8192, 0]);
    }

    #[test]
    fn longer_copies_take_longer() {
        let start = std::time::Instant::now();
        let now = || start.elapsed().as_secs_f64();
        let rule = Rule { max_reps: 40, budget: 0.5, ..Rule::default() };
        let [short, long] =
            [64, 1 << 20].map(|size| rule.estimate(&memcpy(size, Cache::Warm, &rule, &now)));
        assert!(short > 0.0 && long > 10.0 * short, "{short} {long}");
    }
}
