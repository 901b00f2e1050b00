//! Instants on a grid of picoseconds.
//!
//! The same moment reached by other sums differs by rounding, and an order that rounding decides
//! would make an operation take another time when it begins later. On the grid such moments are
//! one, and sums and differences of instants are exact: whatever happens takes the same time
//! whenever it begins.

/// Grid points in a second.
const PER_SECOND: f64 = 1e12;
/// Numbers from here on have no fraction left.
const WHOLE: f64 = (1u64 << 52) as f64;

/// The nearest instant of the grid; beyond an hour or so, where numbers are coarser, the time
/// itself.
#[inline]
pub(crate) fn instant(seconds: f64) -> f64 {
    let point = seconds * PER_SECOND;
    if point < WHOLE { ((point + WHOLE) - WHOLE) / PER_SECOND } else { seconds }
}

/// The instant a number of seconds after another.
#[inline]
pub(crate) fn after(time: f64, seconds: f64) -> f64 {
    instant(time + instant(seconds))
}

/// The seconds from one instant to another.
#[inline]
pub(crate) fn between(from: f64, to: f64) -> f64 {
    instant(to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_the_same_at_any_time() {
        for start in [0.0, 0.3, 17.123_456_789, 3000.7] {
            let start = instant(start);
            let end = after(start, 1.0 / 3.0);
            assert_eq!(between(start, end), instant(1.0 / 3.0));
            assert_eq!(after(after(start, 1e-6), 2e-6), after(start, 3e-6));
        }
    }

    #[test]
    fn sums_in_another_order_are_one_instant() {
        assert_eq!(instant(0.1 + 0.2), instant(0.3));
        assert_eq!(instant(0.0), 0.0);
        assert_eq!(instant(1.0), 1.0);
        assert_eq!(instant(1e9 + 0.25), 1e9 + 0.25);
        assert_eq!(instant(f64::INFINITY), f64::INFINITY);
        let late = 20.0 + 1e-6 * 3.0 + 1e-6 * 7.0;
        assert_eq!(instant(late), instant(20.0 + 1e-5));
        assert!((instant(1.234_567_890_123_4) - 1.234_567_890_123_4).abs() <= 0.5e-12);
    }
}
