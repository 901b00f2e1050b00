//! The samples behind estimates: noted where they are taken, on the rank that leads a subset, and
//! sent to rank 0 in short, or all of them where they are to be kept.

use std::cell::RefCell;

use laneway_core::{Comm, CommError, Rank, talk};
use laneway_stats::{Summary, outliers, sorted};

use super::super::plan::Plan;
use crate::Rule;
use crate::talk::{bytes_of, numbers_of};

/// What the samples of one subset are, in the unit of the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    pub summary: Summary,
    /// First samples that were left out, as the subset had not settled.
    pub warm_up: u32,
    pub outliers: u32,
    /// In the order they were taken; empty if they are not kept.
    pub samples: Vec<f64>,
}

/// Numbers before the samples.
const NUMBERS: usize = 10;

impl Samples {
    /// `None` if they give nothing.
    pub fn of(rule: &Rule, keep: bool, samples: &[f64]) -> Option<Samples> {
        let skipped = rule.warm_up(samples);
        let settled = &samples[skipped..];
        Some(Samples {
            summary: Summary::of(settled)?,
            warm_up: skipped as u32,
            outliers: outliers(&sorted(settled)) as u32,
            samples: if keep { settled.to_vec() } else { Vec::new() },
        })
    }

    fn numbers(&self) -> Vec<f64> {
        let Summary { count, mean, stddev, min, max, median, p99 } = self.summary;
        let (skipped, outliers) = (f64::from(self.warm_up), f64::from(self.outliers));
        let head = [count as f64, mean, stddev, min, max, median, p99, skipped, outliers];
        let kept = self.samples.len() as f64;
        [&head[..], &[kept], &self.samples].concat()
    }

    /// The first of some numbers, and the rest.
    fn from(numbers: &[f64]) -> Option<(Option<Samples>, &[f64])> {
        let (head, rest) = numbers.split_at_checked(NUMBERS)?;
        let (summary, others) = head.split_at_checked(7)?;
        let &[count, mean, stddev, min, max, median, p99] = summary else { return None };
        let &[skipped, outliers, kept] = others else { return None };
        let (samples, rest) = rest.split_at_checked(kept as usize)?;
        let count = count as usize;
        let known = Samples {
            summary: Summary { count, mean, stddev, min, max, median, p99 },
            warm_up: skipped as u32,
            outliers: outliers as u32,
            samples: samples.to_vec(),
        };
        Some(((count > 0).then_some(known), rest))
    }
}

/// Notes what a lab does, on each rank.
pub struct Notes {
    rule: Rule,
    keep: bool,
    /// The numbers of the subsets that this rank has led.
    own: RefCell<Vec<f64>>,
}

impl Notes {
    pub fn new(rule: Rule, keep: bool) -> Notes {
        Notes { rule, keep, own: RefCell::default() }
    }

    /// The samples of a subset, on its leader.
    pub fn note(&self, samples: &[f64]) {
        let known = Samples::of(&self.rule, self.keep, samples);
        let numbers = known.map_or(vec![0.0; NUMBERS], |known| known.numbers());
        self.own.borrow_mut().extend(numbers);
    }

    /// Collective: what is noted of each subset, in the order of the plan; on rank 0.
    pub fn collect(&self, comm: &dyn Comm, plan: &Plan) -> Result<Vec<Option<Samples>>, CommError> {
        let all = talk::gather(comm, &bytes_of(&self.own.take()))?;
        let all: Vec<Vec<f64>> = all.iter().map(|bytes| numbers_of(bytes)).collect();
        if comm.rank() != 0 {
            return Ok(Vec::new());
        }
        // A leader tells of its subsets in the order of the rounds.
        let mut left: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let next = |subset: &[Rank]| {
            let own = &mut left[subset[0] as usize];
            let (known, rest) = Samples::from(own)?;
            *own = rest;
            known
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
        let samples = [1.0, 2.0, 6.0];
        let kept = Samples::of(&rule, true, &samples).expect("samples");
        assert_eq!((kept.summary.count, kept.summary.median, kept.warm_up), (3, 2.0, 0));
        assert_eq!(kept.samples, [1.0, 2.0, 6.0]);
        let short = Samples::of(&rule, false, &samples).expect("samples");
        let sent = [short.numbers(), vec![0.0; NUMBERS], kept.numbers()].concat();
        let (first, rest) = Samples::from(&sent).expect("the first");
        let (second, rest) = Samples::from(rest).expect("one that tells nothing");
        let (third, rest) = Samples::from(rest).expect("the last");
        assert_eq!((first, second, third), (Some(short), None, Some(kept)));
        assert_eq!((rest.len(), Samples::from(rest)), (0, None));
        assert_eq!(Samples::of(&rule, true, &[f64::NAN]), None);
        assert_eq!(Samples::of(&rule, true, &[]), None);
    }
}
