//! Settings drawn at random: steps end where no single one helps, and a setting that is far away
//! may be better.

use laneway_coll::{Algorithm, Parameter};
use laneway_stats::SplitMix64;

use super::{GAIN, Search, Setting};
use crate::choose::{Candidate, ChoiceError};

/// The number of settings that are drawn.
const DRAWN: usize = 128;
/// Draws may take this part of the work.
const PART_OF_DRAWS: u64 = 4;
/// Of algorithms that take at most this multiple of the best time.
const NEAR: f64 = 1.5;
/// Draws are the same in every run.
const SEED: u64 = 34;
/// The most pieces of a lane, or of a block, that are drawn.
const MOST_PIECES: u64 = 1 << 10;
/// Parts of a block by helpers of their own.
const MOST_STRIPES: u64 = 64;

impl Search<'_, '_> {
    /// Adds drawn settings that are better than the best, and what steps from them lead to.
    pub(super) fn draw(&mut self, found: &mut Vec<Candidate>) -> Result<(), ChoiceError> {
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        let Some(mut best) = found.first().map(|one| one.time) else { return Ok(()) };
        let mut algorithms: Vec<&'static Algorithm> = Vec::new();
        // Relays that were drawn fit eager messages, and are slow without.
        let is_free =
            |one: &Candidate| !self.all_are_eager() || one.get(Parameter::Stripes).is_none();
        for one in found.iter().filter(|one| one.time <= NEAR * best && is_free(one)) {
            let is_new = !algorithms.contains(&one.algorithm);
            if is_new && !one.algorithm.parameters.is_empty() {
                algorithms.push(one.algorithm);
            }
        }
        if algorithms.is_empty() || self.reaches(best) {
            return Ok(());
        }
        let part = self.work / PART_OF_DRAWS;
        self.work = self.work.max(self.spent + part);
        let until = self.spent + part;
        self.cap = part / 4;
        let mut random = SplitMix64::new(SEED);
        let mut nearest = found.first().map(Setting::of);
        for number in 0..DRAWN {
            if self.is_enough(best) || self.spent >= until {
                break;
            }
            // Every second one keeps about half of what the best has.
            let near = nearest.filter(|one| number % 2 > 0 && algorithms.contains(&one.algorithm));
            let setting = match near {
                Some(near) => {
                    let drawn = self.drawn(near.algorithm, &mut random);
                    let parameters = near.algorithm.parameters.iter().map(|(one, _)| *one);
                    let kept = parameters.filter(|_| random.index(2) > 0);
                    kept.fold(drawn, |one, kept| one.with(kept, near.params.get(kept)))
                }
                None => self.drawn(algorithms[random.index(algorithms.len())], &mut random),
            };
            if let Some(better) = self.attempt(setting, GAIN * best)? {
                let reached = self.climbed(better.clone(), until)?;
                best = reached.time;
                nearest = Some(Setting::of(&reached));
                found.extend([better, reached]);
            }
        }
        Ok(())
    }

    /// Any setting of an algorithm.
    fn drawn(&self, algorithm: &'static Algorithm, random: &mut SplitMix64) -> Setting {
        let mut setting = Setting { algorithm, params: algorithm.defaults() };
        for (parameter, _) in algorithm.parameters {
            let value = match parameter {
                Parameter::Segment => {
                    let whole = self.longest();
                    logarithmic(random, whole.div_ceil(MOST_PIECES), whole)
                }
                Parameter::Window => logarithmic(random, 1, 2 * u64::from(self.shape.ranks)),
                Parameter::Radix => logarithmic(random, 2, u64::from(self.shape.ranks).max(2)),
                Parameter::Lanes if random.index(3) > 0 => {
                    logarithmic(random, 1, self.largest_site)
                }
                Parameter::Near if random.index(3) > 0 => {
                    logarithmic(random, 1, u64::from(self.shape.ranks))
                }
                Parameter::Lanes | Parameter::Near => 0,
                Parameter::Own => random.index(1001) as u64,
                Parameter::Stripes => logarithmic(random, 1, MOST_STRIPES),
                _ => {
                    let values = self.first_values(*parameter);
                    values.get(random.index(values.len().max(1))).copied().unwrap_or(0)
                }
            };
            setting = setting.with(*parameter, value);
        }
        setting
    }

    /// Bytes of the longest block, or of the vector.
    fn longest(&self) -> u64 {
        match self.shape.vector() {
            0 => self.shape.blocks().longest(self.shape.ranks).max(1),
            vector => vector,
        }
    }
}

/// Any number between two, small ones as often as large ones.
fn logarithmic(random: &mut SplitMix64, least: u64, most: u64) -> u64 {
    let (low, high) = (least as f64, most.max(least) as f64 + 1.0);
    let value = low * (high / low).powf(random.uniform());
    (value as u64).clamp(least, most.max(least))
}
