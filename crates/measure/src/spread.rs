//! When the next samples of a point are taken: soon, or spread over time.
//!
//! Others' traffic comes in bursts, and whoever takes all samples within one burst has seen one
//! thing many times. So the first samples lie at random instants over half a second. If they agree,
//! that is all. If not, some are taken in pairs: where the two of a pair agree more often than
//! chance would have it, samples that follow each other directly are worth little, and from then on
//! single ones are taken at random instants; else ever more of them directly after each other.

use laneway_stats::{median, next_look};

use crate::pace::Pace;
use crate::repeat::Rule;

/// Seconds over which the first samples lie, and the part of the budget at most.
pub(crate) const SPREAD: f64 = 0.5;
const SPREAD_PART: f64 = 0.25;
/// Seconds between single samples, on average, where direct successors agree too often.
const APART: f64 = 0.04;
/// Samples in pairs to find that out.
const IN_PAIRS: u32 = 12;
const LARGEST_GROUP: u32 = 64;
/// In groups of so many, fewer pauses are enough.
const LARGE_GROUP: u32 = 8;
/// Samples nearer than so many times the longest one followed each other directly.
const DIRECTLY: f64 = 3.0;

/// A real machine has good and bad spells: so many batches at least, of so many samples, see some
/// of them.
const REAL_BATCHES: u32 = 10;
const REAL_SAMPLES: u32 = 30;

/// What is known when the next batch is planned; on rank 0.
pub(crate) struct Evidence<'a> {
    pub samples: &'a [f64],
    /// When each began.
    pub at: &'a [f64],
    /// By how much they say less than independent ones.
    pub effect: f64,
    /// Seconds, pauses included.
    pub spent: f64,
    pub batches: u32,
    pub real: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    group: u32,
    seed: u64,
}

impl Spread {
    pub fn new() -> Spread {
        Spread { group: 1, seed: 0 }
    }

    /// The next batch; one of no repetitions where there are enough.
    pub fn next(&mut self, rule: &Rule, evidence: &Evidence) -> Pace {
        let Evidence { samples, spent, effect, .. } = *evidence;
        let wanted = rule.wanted_of(samples, effect, spent);
        if evidence.real || !rule.may_stop_early() {
            return Pace::dense(self.wanted_really(rule, evidence, wanted));
        }
        self.seed += 1;
        let seed = self.seed;
        let have = samples.len() as u32;
        let spread = SPREAD.min(SPREAD_PART * rule.budget);
        if have < rule.least() {
            let pause = if seed == 1 { 0.0 } else { spread / f64::from(rule.least()) };
            return Pace { count: wanted, group: 1, pause, seed };
        }
        if wanted == 0 {
            return Pace::dense(0);
        }
        let pause = APART.min(spread / f64::from(rule.least()));
        if agree_too_often(evidence) {
            self.group = 1;
        } else {
            self.group = (2 * self.group).min(LARGEST_GROUP);
        }
        let look = next_look(samples.len()) as u32 - have;
        let count = if self.group == 2 { look.max(IN_PAIRS) } else { look };
        let pause = if self.group >= LARGE_GROUP { pause / 4.0 } else { pause };
        let pace = Pace { count, group: self.group, pause, seed };
        // No batch goes far beyond the budget.
        let each = spent / f64::from(have) + pause / f64::from(self.group);
        let affordable = ((rule.budget - spent) / each).max(1.0) as u32;
        pace.shortened(affordable.min(rule.max_reps - have))
    }

    /// On a real machine a batch is a visit, between those of other points.
    fn wanted_really(&self, rule: &Rule, evidence: &Evidence, wanted: u32) -> u32 {
        let have = evidence.samples.len() as u32;
        let more =
            evidence.batches < REAL_BATCHES && evidence.spent < rule.budget && have < rule.max_reps;
        match evidence.real && rule.varies() {
            true if more => wanted.max(REAL_SAMPLES).min(rule.max_reps - have),
            // Of samples that agree with each other, those of another visit say more.
            true if evidence.effect > 1.0 => wanted.min(REAL_SAMPLES / 3),
            _ => wanted,
        }
    }
}

/// Seconds between two visits on a real machine, so that all of them see some of its time.
pub(crate) fn between_visits(rule: &Rule) -> f64 {
    if rule.may_stop_early() {
        SPREAD.min(SPREAD_PART * rule.budget) / f64::from(REAL_BATCHES)
    } else {
        0.0
    }
}

/// Whether samples that followed each other directly lie on the same side of the median more often
/// than two standard deviations of chance.
fn agree_too_often(evidence: &Evidence) -> bool {
    let Some(middle) = median(evidence.samples) else { return false };
    let longest = evidence.samples.iter().copied().fold(0.0, f64::max);
    let side = |sample: f64| (sample > middle) as i32 - (sample < middle) as i32;
    let (mut pairs, mut agreeing) = (0, 0);
    for (samples, at) in evidence.samples.windows(2).zip(evidence.at.windows(2)) {
        let together = side(samples[0]) * side(samples[1]);
        if at[1] - at[0] < DIRECTLY * longest && together != 0 {
            pairs += 1;
            agreeing += together;
        }
    }
    f64::from(agreeing) > 2.0 * f64::from(pairs).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    fn evidence<'a>(samples: &'a [f64], at: &'a [f64], spent: f64) -> Evidence<'a> {
        Evidence { samples, at, effect: 1.0, spent, batches: 1, real: false }
    }

    #[test]
    fn the_first_samples_lie_apart_and_are_enough_if_they_agree() {
        let (rule, mut spread) = (Rule::default(), Spread::new());
        let first = spread.next(&rule, &evidence(&[], &[], 0.0));
        assert_eq!((first.count, first.group, first.pause), (6, 1, 0.0));
        let second = spread.next(&rule, &evidence(&[1.0], &[0.0], 0.1));
        assert_eq!((second.count, second.group), (5, 1));
        assert!(5.0 * second.pause > 0.4, "{second:?}");
        let at: Vec<f64> = (0..6).map(f64::from).collect();
        assert_eq!(spread.next(&rule, &evidence(&[1.0; 6], &at, 0.6)).count, 0);
    }

    /// What group a series is taken in that changes every so many samples.
    fn group(lasting: usize) -> u32 {
        let (rule, mut spread) = (Rule::default(), Spread::new());
        let mut random = SplitMix64::new(5);
        let (mut samples, mut at, mut now) = (Vec::new(), Vec::new(), 0.0);
        let mut state = 0.0;
        for batch in 0..6 {
            let pace = match batch {
                0 => Pace { count: 6, group: 1, pause: 0.08, seed: 1 },
                _ => spread.next(&rule, &evidence(&samples, &at, 0.2)),
            };
            for repetition in 0..pace.count {
                let apart = pace.pause_before(repetition) > 0.0;
                now += if apart { 0.05 } else { 0.001 };
                if apart || samples.len() % lasting == 0 {
                    state = random.uniform();
                }
                samples.push(1e-3 + state * 1e-3);
                at.push(now);
            }
        }
        spread.group
    }

    #[test]
    fn samples_that_agree_are_taken_singly_and_others_in_ever_larger_groups() {
        assert_eq!(group(1000), 1);
        assert!(group(1) >= 16, "{}", group(1));
    }

    #[test]
    fn an_exact_number_is_taken_at_once() {
        let mut spread = Spread::new();
        assert_eq!(spread.next(&Rule::fixed(40), &evidence(&[], &[], 0.0)), Pace::dense(40));
        let paper = Rule::paper(5, 100, 0.05);
        assert_eq!(spread.next(&paper, &evidence(&[], &[], 0.0)).pause, 0.0);
    }

    #[test]
    fn a_real_machine_is_visited_often() {
        let (rule, mut spread) = (Rule::default(), Spread::new());
        let real = |batches| Evidence { batches, real: true, ..evidence(&[1.0; 60], &[], 0.1) };
        assert_eq!(spread.next(&rule, &real(2)), Pace::dense(30));
        assert_eq!(spread.next(&rule, &real(10)), Pace::dense(0));
    }
}
