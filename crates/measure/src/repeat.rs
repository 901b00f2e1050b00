//! When there are enough samples: the MPIBlib paper's rule, or a sequential one on the median.

use laneway_stats::{
    Interval, dependent_interval, enough, mean_interval, median, next_look, sequential_interval,
    sorted, student_error, warm_up,
};

use crate::flags;

/// Samples that an interval of the median at 95 % needs at least.
pub const LEAST_SAMPLES: u32 = 6;

/// Repetitions at most where a budget is to end a point: as many samples as memory is for.
pub const MOST_REPS: u32 = 10_000_000;

/// What is estimated, and how near it must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// paper: mpiblib 3: the mean, until t(1 - alpha/2, n - 1) s / sqrt(n) <= alpha times the mean.
    Mean {
        /// The error that is allowed, as a part of the mean, and 1 less the interval's level.
        alpha: f64,
    },
    /// The median, until half its distribution-free interval is at most so much of it.
    Median {
        /// Half the interval, as a part of the median.
        precision: f64,
        /// How surely the interval holds the true median: between 0 and 1.
        level: f64,
    },
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The estimate, and the precision at which it stops.
    pub aim: Aim,
    /// Repetitions at least, whatever the precision.
    pub min_reps: u32,
    /// Repetitions at most.
    pub max_reps: u32,
    /// Seconds that a point may take; the first samples are taken whatever they take.
    pub budget: f64,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            aim: Aim::Median { precision: 0.01, level: 0.95 },
            min_reps: LEAST_SAMPLES,
            max_reps: 1000,
            budget: 5.0,
        }
    }
}

impl Rule {
    /// As in the paper's functions.
    pub fn paper(min_reps: u32, max_reps: u32, alpha: f64) -> Rule {
        Rule { aim: Aim::Mean { alpha }, min_reps, max_reps, budget: f64::INFINITY }
    }

    /// Exactly `reps` repetitions.
    pub fn fixed(reps: u32) -> Rule {
        let budget = f64::INFINITY;
        Rule { min_reps: reps, max_reps: reps, budget, ..Rule::default() }
    }

    /// With this number of seconds for a point, which end it and not a number of repetitions.
    pub fn with_budget(self, seconds: f64) -> Rule {
        Rule { budget: seconds, max_reps: self.max_reps.max(MOST_REPS), ..self }
    }

    /// Why it cannot be followed, if it cannot.
    pub fn objection(&self) -> Option<String> {
        let part = match self.aim {
            Aim::Mean { alpha } => alpha,
            Aim::Median { precision, level } if level > 0.0 && level < 1.0 => precision,
            Aim::Median { level, .. } => {
                return Some(format!("the level {level} is not between 0 and 1"));
            }
        };
        let Rule { min_reps, max_reps, budget, .. } = self;
        if *min_reps == 0 {
            return Some("the number of repetitions must be above 0".into());
        }
        if min_reps > max_reps {
            return Some(format!("at least {min_reps} and at most {max_reps} repetitions"));
        }
        if !(part > 0.0 && part < 1.0) {
            return Some(format!("the precision {part} is not between 0 and 1"));
        }
        let has_time = *budget > 0.0;
        (!has_time).then(|| format!("the budget of {budget} s is not above 0"))
    }

    /// The level of the interval.
    pub fn level(&self) -> f64 {
        match self.aim {
            Aim::Mean { alpha } => 1.0 - alpha,
            Aim::Median { level, .. } => level,
        }
    }

    /// Whether the number of repetitions is given, so that no aim ends it sooner.
    pub fn is_fixed(&self) -> bool {
        self.min_reps == self.max_reps
    }

    /// Whether the samples have a say in how many there are.
    pub(crate) fn varies(&self) -> bool {
        !self.is_fixed()
    }

    /// Whether it is our rule, which looks at the median while samples come.
    pub(crate) fn may_stop_early(&self) -> bool {
        self.varies() && matches!(self.aim, Aim::Median { .. })
    }

    /// How many more samples to take, after `spent` seconds; 0 if it is enough.
    pub fn wanted(&self, samples: &[f64], spent: f64) -> u32 {
        self.wanted_of(samples, 1.0, spent)
    }

    /// The same of samples that are worth `1 / effect` as many independent ones.
    pub fn wanted_of(&self, samples: &[f64], effect: f64, spent: f64) -> u32 {
        let have = samples.len() as u32;
        let least = self.least();
        if have < least {
            return least - have;
        }
        if have >= self.max_reps || self.may_stop(samples, effect) || spent >= self.budget {
            return 0;
        }
        // To the next count that is looked at; and no batch goes far beyond the budget, also where
        // the machine becomes slower in it.
        let each = (spent / f64::from(have.max(1))).max(1e-9);
        let left = (self.budget - spent).min(self.budget / 8.0);
        let affordable = (left / each).max(1.0) as u32;
        let look = u32::try_from(next_look(samples.len())).unwrap_or(u32::MAX);
        (look - have).min(self.max_reps - have).min(affordable)
    }

    /// Whether the samples are near enough, and not by luck.
    fn may_stop(&self, samples: &[f64], effect: f64) -> bool {
        let by_luck = match self.aim {
            Aim::Mean { .. } => false,
            Aim::Median { precision, level } => enough(samples, level, precision, effect).is_none(),
        };
        !by_luck && self.is_reached_of(samples, effect)
    }

    /// The median has no interval below this.
    pub(crate) fn least(&self) -> u32 {
        match self.aim {
            _ if self.is_fixed() => self.min_reps,
            Aim::Mean { .. } => self.min_reps,
            Aim::Median { .. } => self.min_reps.max(LEAST_SAMPLES.min(self.max_reps)),
        }
    }

    /// Whether the samples are as near as was asked for.
    pub fn is_reached(&self, samples: &[f64]) -> bool {
        self.is_reached_of(samples, 1.0)
    }

    /// The same of samples that are worth `1 / effect` as many independent ones.
    pub fn is_reached_of(&self, samples: &[f64], effect: f64) -> bool {
        match self.aim {
            Aim::Mean { alpha } => self.error(samples).is_some_and(|error| error <= alpha),
            Aim::Median { precision, .. } => {
                let half = self.own_interval(samples, effect).map(|i| (i.high - i.low) / 2.0);
                half.is_some_and(|half| half <= precision * self.estimate(samples).abs())
            }
        }
    }

    /// The estimate: mean or median.
    pub fn estimate(&self, samples: &[f64]) -> f64 {
        match self.aim {
            Aim::Mean { .. } => samples.iter().sum::<f64>() / samples.len().max(1) as f64,
            Aim::Median { .. } => median(samples).unwrap_or(f64::NAN),
        }
    }

    /// Its interval; where the samples are too few for that of the median, Student's of the mean.
    pub fn interval(&self, samples: &[f64]) -> Option<Interval> {
        self.interval_of(samples, 1.0)
    }

    /// The same of samples that are worth `1 / effect` as many independent ones. Where they are
    /// worth too few, all of them lie in it, and its level says how little that is.
    pub fn interval_of(&self, samples: &[f64], effect: f64) -> Option<Interval> {
        self.own_interval(samples, effect).or_else(|| mean_interval(samples, self.level()))
    }

    /// The flag of a figure by its number of samples: one has no interval, a few have Student's
    /// in place of the median's.
    pub fn caution(&self, count: u32) -> Option<&'static str> {
        match count {
            0 => None,
            1 => Some(flags::SINGLE),
            _ if self.own_interval(&vec![1.0; count as usize], 1.0).is_none() => {
                Some(flags::STUDENT)
            }
            _ => None,
        }
    }

    /// First samples that do not count, as what is measured had not settled. A series that was to
    /// have a given length is taken as it is.
    pub fn warm_up(&self, samples: &[f64]) -> usize {
        if self.is_fixed() { 0 } else { warm_up(samples) }
    }

    fn own_interval(&self, samples: &[f64], effect: f64) -> Option<Interval> {
        match self.aim {
            Aim::Mean { alpha } => mean_interval(samples, 1.0 - alpha),
            Aim::Median { level, .. } if self.is_fixed() => {
                dependent_interval(&sorted(samples), level, effect)
            }
            Aim::Median { level, .. } => sequential_interval(&sorted(samples), level, effect),
        }
    }

    /// The paper's error a: half the interval of the mean over the mean.
    pub fn error(&self, samples: &[f64]) -> Option<f64> {
        match self.aim {
            Aim::Mean { alpha } => student_error(samples, alpha),
            Aim::Median { .. } => {
                let interval = self.interval(samples)?;
                Some((interval.high - interval.low) / 2.0 / self.estimate(samples).abs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_known_after_six_samples() {
        let rule = Rule::default();
        assert_eq!(rule.wanted(&[], 0.0), 6);
        assert_eq!(rule.wanted(&[2.0; 6], 1.0), 0);
        assert!(rule.is_reached(&[2.0; 6]));
        assert!(!rule.is_reached(&[2.0; 5]));
    }

    #[test]
    fn a_fixed_count_is_taken_whatever_comes() {
        let rule = Rule::fixed(40);
        assert_eq!(rule.wanted(&[], 0.0), 40);
        assert_eq!(rule.wanted(&[1.0; 30], 1e9), 10);
        assert_eq!(rule.wanted(&[1.0; 40], 0.0), 0);
        assert_eq!(Rule::fixed(1).wanted(&[1.0], 0.0), 0);
    }

    #[test]
    fn noise_takes_more_and_the_budget_ends_it() {
        let rule = Rule { max_reps: 100, ..Rule::default() };
        let noisy: Vec<f64> = (0..10).map(|i| 1.0 + f64::from(i % 5)).collect();
        assert_eq!(rule.wanted(&noisy, 0.1), 3);
        assert_eq!(rule.wanted(&noisy, 4.9), 1);
        assert_eq!(rule.wanted(&noisy, 5.0), 0);
        assert!(!rule.is_reached(&noisy));
    }

    #[test]
    fn a_narrow_interval_between_two_looks_does_not_stop_it() {
        let rule = Rule { aim: Aim::Median { precision: 0.03, level: 0.95 }, ..Rule::default() };
        let mut samples: Vec<f64> = (0..9).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(rule.wanted(&samples, 0.1), 4);
        samples.extend([104.0; 3]);
        assert!(rule.is_reached(&samples));
        assert_eq!(rule.wanted(&samples, 0.1), 1);
        samples.push(104.0);
        assert_eq!(rule.wanted(&samples, 0.1), 0);
    }

    #[test]
    fn an_interval_pays_for_the_looks() {
        let samples: Vec<f64> = (0..9).map(f64::from).collect();
        let width = |rule: Rule| rule.interval(&samples).expect("an interval").half_width();
        assert!(width(Rule::default()) > width(Rule::fixed(9)));
    }

    #[test]
    fn few_samples_have_students_interval() {
        let rule = Rule::fixed(5);
        let samples = [1.8, 1.9, 2.0, 2.1, 2.2];
        let interval = rule.interval(&samples).expect("an interval");
        // t(0.975, 4) = 2.776445; s = 0.1581139.
        assert!((interval.half_width() - 0.196_324_3).abs() < 1e-6, "{interval:?}");
        let students: Vec<u32> =
            (0..9).filter(|&count| rule.caution(count) == Some("student")).collect();
        assert_eq!(students, [2, 3, 4, 5]);
        assert_eq!([0, 1, 6].map(|count| rule.caution(count)), [None, Some("single"), None]);
        assert_eq!(Rule::paper(2, 9, 0.05).caution(3), None);
    }

    #[test]
    fn the_papers_rule_is_that_of_the_paper() {
        // t(0.975, 4) = 2.776445; s = 0.1581139; half = 0.1963243; mean 2.
        let samples = [1.8, 1.9, 2.0, 2.1, 2.2];
        let rule = Rule::paper(5, 100, 0.05);
        let error = rule.error(&samples).expect("an error");
        assert!((error - 0.098_162_2).abs() < 1e-6, "{error}");
        assert!(!rule.is_reached(&samples) && rule.wanted(&samples, 0.0) > 0);
        let rule = Rule::paper(5, 100, 0.2);
        assert!(rule.is_reached(&samples));
    }

    #[test]
    fn rules_that_cannot_be_followed_are_refused() {
        assert_eq!(Rule::default().objection(), None);
        assert!(Rule::fixed(0).objection().is_some());
        assert!(Rule::paper(5, 4, 0.1).objection().is_some());
        assert!(Rule::paper(5, 10, 0.0).objection().is_some());
        assert!(Rule { budget: 0.0, ..Rule::default() }.objection().is_some());
    }
}
