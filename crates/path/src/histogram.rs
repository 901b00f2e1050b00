//! How often something took how long, in steps of two.

use crate::Nanos;

/// The first limit; each of the others is twice the one before.
const FIRST: Nanos = 8_000;

/// A histogram of times: up to 8 us, 16 us and so on to 4.2 s, and longer ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many were longer than the limit before and not longer than this one; the last count has
    /// no limit.
    pub counts: [u64; Histogram::STEPS],
    /// The sum of all.
    pub sum: Nanos,
}

impl Histogram {
    /// The number of counts.
    pub const STEPS: usize = 21;

    /// The upper limit of a count; `None` for the last.
    pub fn limit(step: usize) -> Option<Nanos> {
        (step + 1 < Histogram::STEPS).then(|| FIRST << step)
    }

    /// Counts one time.
    pub fn count(&mut self, time: Nanos) {
        let eights = time.max(1).div_ceil(FIRST);
        let step = eights.next_power_of_two().trailing_zeros() as usize;
        self.counts[step.min(Histogram::STEPS - 1)] += 1;
        self.sum += time;
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_below_its_limit() {
        for (time, step) in [(0, 0), (8_000, 0), (8_001, 1), (16_000, 1), (4_194_304_000, 19)] {
            let mut seen = Histogram::default();
            seen.count(time);
            assert_eq!(seen.counts.iter().position(|count| *count == 1), Some(step), "{time}");
            assert!(Histogram::limit(step).is_some_and(|limit| time <= limit), "{time}");
        }
        let mut seen = Histogram::default();
        seen.count(u64::from(u32::MAX) * 1000);
        assert_eq!((seen.counts[20], Histogram::limit(20)), (1, None));
        seen.add(&seen.clone());
        assert_eq!((seen.counts[20], seen.sum), (2, 2 * u64::from(u32::MAX) * 1000));
    }
}
