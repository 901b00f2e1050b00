//! What the intervals of measured points take for granted.

use laneway_stats::Interval;

use super::plan::Assume;
use crate::Point;
use crate::clock::Bound;

/// A bound that reaches beyond its interval by less than this part of the time says nothing new.
const WORTH_TELLING: f64 = 0.01;

/// What is compared of a point, or of one that another launch has measured; all in one unit.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The time.
    pub estimate: f64,
    /// Where it lies if ways take as long out as back.
    pub interval: Option<Interval>,
    /// Where it lies in any case.
    pub bound: Option<Bound>,
    /// What the clocks of all ranks leave uncertain.
    pub clock_error: f64,
}

impl From<&Point> for Bounded {
    fn from(point: &Point) -> Bounded {
        let Point { estimate, interval, bound, clock_error, .. } = *point;
        Bounded { estimate, interval, bound, clock_error }
    }
}

impl Bounded {
    /// By how much the bound reaches beyond the interval, as a part of the time.
    fn beyond(&self) -> Option<f64> {
        let (interval, bound) = (self.interval?, self.bound?);
        Some((interval.low - bound.low).max(bound.high - interval.high) / self.estimate)
    }
}

/// How intervals are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// They assume nothing but that no message arrives before it leaves.
    AssumingNothing,
    /// They assume that ways take as long out as back, and that makes a difference.
    AssumingSymmetry,
}

/// What a reader of these points should know of their intervals; `None` if ranks share a clock, or
/// if there are no points.
pub fn reading(assume: Assume, points: &[Bounded]) -> Option<Reading> {
    if assume == Assume::None {
        return (!points.is_empty()).then_some(Reading::AssumingNothing);
    }
    let widest = points.iter().filter_map(Bounded::beyond).fold(0.0, f64::max);
    let differs = widest > WORTH_TELLING && points.iter().any(|point| point.clock_error > 0.0);
    differs.then_some(Reading::AssumingSymmetry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(low: f64, high: f64, clock_error: f64) -> Bounded {
        let interval = Some(Interval { low: 99.0, high: 101.0, level: 0.95 });
        Bounded { estimate: 100.0, interval, bound: Some(Bound { low, high }), clock_error }
    }

    #[test]
    fn a_bound_is_explained_where_it_says_something_new() {
        let read = |point: Bounded| reading(Assume::Symmetric, &[point]);
        assert_eq!(read(point(99.0, 101.0, 0.0)), None);
        assert_eq!(read(point(98.5, 101.5, 0.1)), None);
        assert_eq!(read(point(40.0, 101.0, 0.1)), Some(Reading::AssumingSymmetry));
        assert_eq!(read(point(40.0, 101.0, 0.0)), None);
        let all = [point(99.0, 101.0, 0.0)];
        assert_eq!(reading(Assume::None, &all), Some(Reading::AssumingNothing));
        assert_eq!(reading(Assume::Symmetric, &[]), None);
    }
}
