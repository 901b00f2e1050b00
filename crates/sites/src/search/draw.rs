//! Settings drawn at random: steps end where no single one helps, and a setting that is far away
//! may be better.

use laneway_coll::{Algorithm, Parameter};
use laneway_stats::SplitMix64;

use super::trial::TURNS_OF_LANES;
use super::{GAIN, Search, Setting};
use crate::choose::{Candidate, ChoiceError};

/// The most settings that are drawn.
const DRAWN: usize = 512;
/// Draws may take this part of the work, and this where a bound is known.
const PART_OF_DRAWS: u64 = 2;
const PART_OF_BOUNDED: u64 = 4;
/// Of algorithms that take at most this multiple of the best time.
const NEAR: f64 = 1.5;
/// What rests on eager messages must gain this much.
const MUCH: f64 = 0.97;
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
        // The best of each algorithm that is near the best of all.
        let mut nearest: Vec<Setting> = Vec::new();
        for one in found.iter().filter(|one| one.time <= NEAR * best) {
            let is_new = nearest.iter().all(|other| other.algorithm != one.algorithm);
            if is_new && !one.algorithm.parameters.is_empty() {
                nearest.push(Setting::of(one));
            }
        }
        if nearest.is_empty() || self.reaches(best) {
            return Ok(());
        }
        let part = match self.bound.is_some() {
            true => self.work / PART_OF_BOUNDED,
            false => self.work / PART_OF_DRAWS,
        };
        self.work = self.work.max(self.spent + part);
        let until = self.spent + part;
        self.cap = if self.bound.is_some() { part / 4 } else { part / 6 };
        let mut random = SplitMix64::new(SEED);
        let most = if self.bound.is_some() { DRAWN / 4 } else { DRAWN };
        for number in 0..most {
            if self.is_enough(best) || self.spent >= until {
                break;
            }
            let at = random.index(nearest.len());
            let mut setting = self.drawn(nearest[at].algorithm, &mut random);
            // Three of four keep about half of what the best of the algorithm has.
            if number % 4 > 0 {
                let near = nearest[at];
                let parameters = near.algorithm.parameters.iter().map(|(one, _)| *one);
                let kept = parameters.filter(|_| random.index(2) > 0);
                setting = kept.fold(setting, |one, kept| one.with(kept, near.params.get(kept)));
            }
            // Relays that were drawn fit eager messages, and are slow without.
            let rests_on_eager = self.all_are_eager() && setting.has(Parameter::Stripes);
            let gain = if rests_on_eager { MUCH } else { GAIN };
            if let Some(better) = self.attempt(setting, gain * best)? {
                let reached = self.climbed(better.clone(), until)?;
                best = reached.time;
                nearest[at] = Setting::of(&reached);
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
                    logarithmic(random, whole.div_ceil(self.most_pieces(algorithm)), whole)
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
                Parameter::Own if random.index(4) == 0 => 1000 * random.index(2) as u64,
                Parameter::Own => random.index(1001) as u64,
                Parameter::Fan => {
                    let fans = self.fans();
                    fans.get(random.index(fans.len().max(1))).copied().unwrap_or(0)
                }
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

    /// The most pieces of a block or of a vector that differ for an algorithm.
    fn most_pieces(&self, algorithm: &Algorithm) -> u64 {
        let has_lanes = algorithm.parameters.iter().any(|(one, _)| *one == Parameter::Lanes);
        match (has_lanes, self.shape.vector()) {
            (true, 0) => TURNS_OF_LANES,
            (true, _) => TURNS_OF_LANES * self.largest_site,
            _ => MOST_PIECES,
        }
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
