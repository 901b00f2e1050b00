//! The samples behind estimates: noted where they are taken, on the rank that leads a subset, and
//! told to rank 0 in short, or all of them where they are to be kept.

use std::cell::RefCell;

use laneway_core::{Comm, CommError, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::Plan;
use laneway_measure::timing::WARM_UP_CALLS;
use laneway_stats::{Interval, Summary, mean_interval, outliers, sorted, warm_up};

use crate::agree;

/// What the samples of one subset are, in the unit of the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    pub summary: Summary,
    /// First samples that were left out, as the subset had not settled.
    pub warm_up: u32,
    pub outliers: u32,
    /// Student's interval of the mean, where they are too few for another.
    pub student: Option<Interval>,
    /// In the order they were taken; none where they are not kept.
    pub samples: Vec<f64>,
}

/// Numbers before the samples.
const NUMBERS: usize = 13;

impl Noted {
    /// Of all calls of a subset, the first of which warm up; none where they do not tell.
    fn of(rule: &Rule, keep: bool, calls: &[f64]) -> Option<Noted> {
        let samples = calls.get(WARM_UP_CALLS as usize..)?;
        // As the lab does it: a series that was to have a given length is taken as it is.
        let fixed = rule.min_reps == rule.max_reps;
        let skipped = if fixed { 0 } else { warm_up(samples) };
        let settled = &samples[skipped..];
        let few = rule.interval(settled).is_none();
        Some(Noted {
            summary: Summary::of(settled)?,
            warm_up: skipped as u32,
            outliers: outliers(&sorted(settled)) as u32,
            student: if few { mean_interval(settled, rule.level()) } else { None },
            samples: if keep { settled.to_vec() } else { Vec::new() },
        })
    }

    fn numbers(&self) -> Vec<f64> {
        let Summary { count, mean, stddev, min, max, median, p99 } = self.summary;
        let (skipped, outliers) = (f64::from(self.warm_up), f64::from(self.outliers));
        let none = Interval { low: f64::NAN, high: f64::NAN, level: f64::NAN };
        let Interval { low, high, level } = self.student.unwrap_or(none);
        let head = [count as f64, mean, stddev, min, max, median, p99, skipped, outliers];
        let kept = self.samples.len() as f64;
        [&head[..], &[low, high, level, kept], &self.samples].concat()
    }

    /// The first of some numbers, and the rest.
    fn from(numbers: &[f64]) -> Option<(Option<Noted>, &[f64])> {
        let (head, rest) = numbers.split_at_checked(NUMBERS)?;
        let (summary, others) = head.split_at_checked(7)?;
        let &[count, mean, stddev, min, max, median, p99] = summary else { return None };
        let &[skipped, outliers, low, high, level, kept] = others else { return None };
        let (samples, rest) = rest.split_at_checked(kept as usize)?;
        let count = count as usize;
        let noted = Noted {
            summary: Summary { count, mean, stddev, min, max, median, p99 },
            warm_up: skipped as u32,
            outliers: outliers as u32,
            student: (!low.is_nan()).then_some(Interval { low, high, level }),
            samples: samples.to_vec(),
        };
        Some(((count > 0).then_some(noted), rest))
    }
}

/// Notes what a lab does, on each rank.
pub struct Notes {
    rule: Rule,
    keep: bool,
    /// The calls of the subset that this rank leads now, and the numbers of those before.
    own: RefCell<(Vec<f64>, Vec<f64>)>,
}

impl Notes {
    pub fn new(rule: Rule, keep: bool) -> Notes {
        Notes { rule, keep, own: RefCell::default() }
    }

    /// Before each round, and after the last: in one a rank leads one subset at most.
    pub fn close(&self) {
        let (calls, closed) = &mut *self.own.borrow_mut();
        if !calls.is_empty() {
            let noted = Noted::of(&self.rule, self.keep, calls);
            closed.extend(noted.map_or(vec![0.0; NUMBERS], |noted| noted.numbers()));
            calls.clear();
        }
    }

    /// The figure of one call, on the leader.
    pub fn note(&self, figure: f64) {
        self.own.borrow_mut().0.push(figure);
    }

    /// Collective: what is noted of each subset, in the order of the plan; on rank 0.
    pub fn collect(&self, comm: &dyn Comm, plan: &Plan) -> Result<Vec<Option<Noted>>, CommError> {
        self.close();
        let own: Vec<u8> = self.own.take().1.iter().flat_map(|n| n.to_le_bytes()).collect();
        let number = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
        let all = agree::collect(comm, &own)?;
        let all: Vec<Vec<f64>> =
            all.iter().map(|bytes| bytes.chunks(8).map(number).collect()).collect();
        if comm.rank() != 0 {
            return Ok(Vec::new());
        }
        // A leader tells of its subsets in the order of the rounds.
        let mut left: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let next = |subset: &[Rank]| {
            let own = &mut left[subset[0] as usize];
            let (noted, rest) = Noted::from(own)?;
            *own = rest;
            noted
        };
        Ok(plan.subsets().map(next).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_arrives() {
        let rule = Rule::fixed(3);
        let calls = [9.0, 8.0, 1.0, 2.0, 6.0];
        let kept = Noted::of(&rule, true, &calls).expect("samples");
        assert_eq!((kept.summary.count, kept.summary.median, kept.warm_up), (3, 2.0, 0));
        assert_eq!(kept.samples, [1.0, 2.0, 6.0]);
        assert!(kept.student.is_some_and(|i| i.low < 3.0 && 3.0 < i.high && i.level == 0.95));
        assert_eq!(Noted::of(&Rule::fixed(7), true, &[1.0; 9]).and_then(|n| n.student), None);
        let short = Noted::of(&rule, false, &calls).expect("samples");
        let sent = [short.numbers(), vec![0.0; NUMBERS], kept.numbers()].concat();
        let (first, rest) = Noted::from(&sent).expect("the first");
        let (second, rest) = Noted::from(rest).expect("one that tells nothing");
        let (third, rest) = Noted::from(rest).expect("the last");
        assert_eq!((first, second, third), (Some(short), None, Some(kept)));
        assert_eq!((rest.len(), Noted::from(rest)), (0, None));
        assert_eq!(Noted::of(&rule, true, &[1.0, 2.0, f64::NAN]), None);
        assert_eq!(Noted::of(&rule, true, &[1.0]), None);
    }
}
