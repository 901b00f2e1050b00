//! When the next samples of a point are taken: soon, or spread over time.
//!
//! Others' traffic comes in bursts, and a series of samples within one burst has seen one
//! thing many times. So the first samples lie at random instants over half a second. If they agree,
//! that is all. If not, the pauses between them are shortened while neighbours are not on the same
//! side of the median more often than chance would have it, and doubled where they are. They stay
//! well above the operation: its own traffic holds up that of others, which the next sample would
//! meet more often than a call does that comes alone.

use laneway_stats::{median, next_look};

use crate::pace::Pace;
use crate::repeat::Rule;

/// Seconds over which the first samples lie, and the part of the budget at most.
pub(crate) const SPREAD: f64 = 0.5;
const SPREAD_PART: f64 = 0.25;
/// A pause is at least this multiple of the operation, else as long as between the first samples.
const LEAST_PAUSE: f64 = 24.0;
/// Neighbours agree too often beyond this number of standard deviations of chance.
const TOO_OFTEN: f64 = 1.5;

/// Samples that differ visibly are at least this number: enough to see what is rare.
const SURE: u32 = 11;
/// And this number is taken in any case where ranks read one clock: then only samples make a
/// bound wide, and six that are equal may be the lesser half of all calls once in a hundred times.
const AGREEING: u32 = 7;
/// Or as many as those that differ, where they take no more seconds than this altogether.
const CHEAP: f64 = 0.02;
const VISIBLY: f64 = 1e-4;

/// A real machine has good and bad spells: at least this number of batches, of this number of
/// samples, sees some of them.
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
    /// All ranks read the same.
    pub one_clock: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    /// Seconds between samples, on average; none before the first.
    pause: Option<f64>,
    seed: u64,
}

impl Spread {
    pub fn new() -> Spread {
        Spread { pause: None, seed: 0 }
    }

    /// The next batch; one of no repetitions where there are enough.
    pub fn next(&mut self, rule: &Rule, evidence: &Evidence) -> Pace {
        let Evidence { samples, spent, effect, .. } = *evidence;
        let wanted = rule.wanted_of(samples, effect, spent);
        if evidence.real || !rule.may_stop_early() {
            return Pace::dense(self.wanted_really(rule, evidence, wanted));
        }
        self.seed += 1;
        let (seed, have) = (self.seed, samples.len() as u32);
        let longest = SPREAD.min(SPREAD_PART * rule.budget) / f64::from(rule.least());
        let seconds = f64::from(SURE) * median(samples).unwrap_or(0.0);
        let least = match (evidence.one_clock, seconds <= CHEAP) {
            (true, true) => SURE,
            (true, false) => AGREEING,
            (false, _) => 0,
        };
        let least = least.min(rule.max_reps).max(rule.least());
        if have >= least && have < SURE && vary(samples) && rule.max_reps > SURE {
            return Pace { count: SURE - have, pause: longest, seed };
        }
        if have < least {
            // The first batch only tells how long the operation takes.
            let first = self.pause.is_none();
            self.pause = Some(longest);
            return if first {
                Pace::dense(1)
            } else {
                Pace { count: wanted.max(least - have), pause: longest, seed }
            };
        }
        if wanted == 0 {
            return Pace::dense(0);
        }
        let shortest = longest.min(LEAST_PAUSE * median(samples).unwrap_or(0.0));
        let pause = self.pause.unwrap_or(longest).max(shortest);
        let adapted = if agree_too_often(evidence, pause) { 2.0 * pause } else { pause / 4.0 };
        let pause = adapted.clamp(shortest, longest);
        self.pause = Some(pause);
        // No batch goes far beyond the budget.
        let each = spent / f64::from(have) + pause;
        let affordable = ((rule.budget - spent) / each).max(1.0) as u32;
        let look = next_look(samples.len()) as u32 - have;
        Pace { count: look.min(affordable).min(rule.max_reps - have), pause, seed }
    }

    /// On a real machine a batch is a visit, between those of other points.
    fn wanted_really(&self, rule: &Rule, evidence: &Evidence, wanted: u32) -> u32 {
        let have = evidence.samples.len() as u32;
        let more =
            evidence.batches < REAL_BATCHES && evidence.spent < rule.budget && have < rule.max_reps;
        match evidence.real && rule.varies() && more {
            true => wanted.max(REAL_SAMPLES).min(rule.max_reps - have),
            false => wanted,
        }
    }
}

/// Seconds until the next visit on a real machine, after `visits`: the first ones see some of its
/// time.
pub(crate) fn until_next_visit(rule: &Rule, visits: u32) -> f64 {
    let spread = rule.may_stop_early() && visits < REAL_BATCHES;
    let seconds = SPREAD.min(SPREAD_PART * rule.budget) / f64::from(REAL_BATCHES);
    if spread { seconds } else { 0.0 }
}

/// Whether samples differ by more than rounding and clocks make them.
fn vary(samples: &[f64]) -> bool {
    let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.iter().copied().fold(0.0, f64::max);
    most - least > VISIBLY * most
}

/// Whether samples that lie nearer to each other than twice such a pause are on the same side of
/// the median more often than chance would have it.
fn agree_too_often(evidence: &Evidence, pause: f64) -> bool {
    let Some(middle) = median(evidence.samples) else { return false };
    let side = |sample: f64| (sample > middle) as i32 - (sample < middle) as i32;
    let (mut pairs, mut agreeing) = (0, 0);
    for (samples, at) in evidence.samples.windows(2).zip(evidence.at.windows(2)) {
        let together = side(samples[0]) * side(samples[1]);
        if at[1] - at[0] < 2.0 * pause + samples[0] && together != 0 {
            pairs += 1;
            agreeing += together;
        }
    }
    f64::from(agreeing) > TOO_OFTEN * f64::from(pairs).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_stats::SplitMix64;

    fn evidence<'a>(samples: &'a [f64], at: &'a [f64], spent: f64) -> Evidence<'a> {
        Evidence { samples, at, effect: 1.0, spent, batches: 1, real: false, one_clock: false }
    }

    #[test]
    fn the_first_samples_lie_apart_and_are_enough_if_they_agree() {
        let (rule, mut spread) = (Rule::default(), Spread::new());
        let first = spread.next(&rule, &evidence(&[], &[], 0.0));
        assert_eq!(first, Pace::dense(1));
        let second = spread.next(&rule, &evidence(&[1.0], &[0.0], 0.1));
        assert_eq!(second.count, 5);
        assert!(5.0 * second.pause > 0.4, "{second:?}");
        let at: Vec<f64> = (0..6).map(f64::from).collect();
        assert_eq!(spread.next(&rule, &evidence(&[1.0; 6], &at, 0.6)).count, 0);
        let one_clock = Evidence { one_clock: true, ..evidence(&[1.0; 6], &at, 0.6) };
        assert_eq!(spread.next(&rule, &one_clock).count, 1);
    }

    /// The pause of a series whose state lasts for `lasting` seconds, after eight looks.
    fn pause(lasting: f64) -> f64 {
        let (rule, mut spread) = (Rule::default(), Spread::new());
        let mut random = SplitMix64::new(5);
        let (mut samples, mut at, mut now, mut until) = (Vec::new(), Vec::new(), 0.0, 0.0);
        let (mut state, mut pause) = (0.0, 0.0);
        for _ in 0..10 {
            let pace = spread.next(&rule, &evidence(&samples, &at, now / 10.0));
            pause = pace.pause;
            for repetition in 0..pace.count {
                now += 1e-4 + pace.pause_before(repetition);
                if now > until {
                    state = random.uniform();
                    until = now + lasting;
                }
                samples.push(1e-4 + state * 1e-4);
                at.push(now);
            }
        }
        pause
    }

    #[test]
    fn pauses_are_as_long_as_bursts_need_and_no_longer() {
        assert!(pause(0.1) > 0.03, "{}", pause(0.1));
        assert!(pause(0.0) < 0.01, "{}", pause(0.0));
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
