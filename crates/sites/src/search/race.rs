//! The race: settings are simulated, the lowest estimate first, each no further than a multiple of
//! the best time so far.

use laneway_coll::Parameter;

use super::climb::FROM_MODEST;
use super::look::Entry;
use super::{EQUAL, NEAR_ENOUGH, Search, Setting};
use crate::choose::{Candidate, Choice, ChoiceError};

/// A setting whose estimate is above so many times the best time is not simulated.
const SLACK: f64 = 1.15;
/// Sums in another order differ by less.
const ROUNDING: f64 = 1.0 + 1e-9;
/// A setting that takes up to so many times the best time may be made better by steps.
const PROMISING: f64 = 1.4;
/// Segments of settings that take this multiple of the best time were cut in vain.
const IN_VAIN: f64 = 1.15;
/// The rounds of the race may take this part of the work together, in tenths.
const PART_OF_RACE: [u64; 3] = [5, 6, 7];
/// The first run of an algorithm may take this part of the work.
const PART_OF_FIRST: u64 = 6;
/// Runs that were not simulated to their end are, if they are this near to the best.
const TO_CONFIRM: f64 = 1.02;
/// So many of them.
const MOST_CONFIRMED: usize = 12;

/// What the race has found so far.
#[derive(Default)]
struct Standing {
    found: Vec<Candidate>,
    /// The least time of each structure.
    structures: Vec<f64>,
}

impl Standing {
    fn best(&self) -> f64 {
        self.found.iter().map(|one| one.time).fold(f64::INFINITY, f64::min)
    }

    fn has(&self, setting: &Setting) -> bool {
        self.found.iter().any(|one| one.algorithm == setting.algorithm)
    }
}

/// The entries in rounds: the most promising of each algorithm, of each structure, and all others.
fn rounds(entries: &[Entry]) -> [Vec<&Entry>; 3] {
    let (mut algorithms, mut structures): (Vec<&str>, Vec<usize>) = Default::default();
    let mut rounds: [Vec<&Entry>; 3] = Default::default();
    for entry in entries {
        let name = entry.setting.algorithm.name;
        let is_new = !structures.contains(&entry.structure);
        let round = match (algorithms.contains(&name), is_new) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        if is_new {
            structures.push(entry.structure);
        }
        if round == 0 {
            algorithms.push(name);
        }
        rounds[round].push(entry);
    }
    rounds
}

impl Search<'_, '_> {
    /// The times of the settings that may be the best, or may lead to it: the most promising of
    /// each algorithm first, then of each structure, then others of the structures that are fast.
    pub(super) fn race(&mut self, entries: Vec<Entry>) -> Result<Vec<Candidate>, ChoiceError> {
        let most = entries.iter().map(|entry| entry.structure).max().unwrap_or(0);
        let structures = vec![f64::INFINITY; most + 1];
        let mut standing = Standing { structures, ..Standing::default() };
        let cap = self.cap;
        for (round, mut all) in rounds(&entries).into_iter().enumerate() {
            self.cap = if round == 0 { cap.min(self.work / PART_OF_FIRST) } else { cap };
            if round == 2 {
                let time = |entry: &&Entry| standing.structures[entry.structure];
                all.sort_by(|one, other| time(one).total_cmp(&time(other)));
            }
            for entry in all {
                self.enter(&mut standing, round, entry)?;
            }
        }
        if standing.found.is_empty() {
            self.fallback = entries.first().cloned();
        }
        Ok(standing.found)
    }

    /// Simulates a setting if it may be the best or lead to it.
    fn enter(
        &mut self,
        standing: &mut Standing,
        round: usize,
        entry: &Entry,
    ) -> Result<(), ChoiceError> {
        let best = standing.best();
        let before = standing.structures[entry.structure];
        let is_wanted = self.all && !standing.has(&entry.setting);
        // Where a bound is known, each algorithm runs once: with another window it may be as fast
        // and demand less.
        let is_first = round == 0 && self.bound.is_some();
        let slack = if is_first { FROM_MODEST } else { SLACK };
        let is_behind = entry.floor > best * ROUNDING
            || entry.estimate > slack * ROUNDING * best
            || round == 2
                && (before > PROMISING * best || self.was_cut_in_vain(&entry.setting, best));
        // Of calls that rest on eager messages, one that needs none is wanted.
        let rests_on_eager = self.bound.is_some() && self.all_are_eager();
        let is_reached = self.reaches_floor(best) && !rests_on_eager && !is_first;
        let is_over = is_reached || self.spent > self.work * PART_OF_RACE[round] / 10;
        if !is_wanted && (is_behind || is_over && best.is_finite()) {
            if round < 2 && !is_behind && !self.reaches_floor(best) && entry.estimate < best {
                self.note_unsearched(&entry.setting);
            }
            return Ok(());
        }
        let limit = match (is_wanted, is_first) {
            (true, _) => f64::INFINITY,
            (_, true) => FROM_MODEST * best,
            _ => PROMISING * best,
        };
        let mut tried = self.attempt(entry.setting, limit)?;
        let setting = entry.setting;
        if self.is_too_much && round < 2 && setting.has(Parameter::Window) {
            // Fewer messages at once are less work.
            self.is_too_much = false;
            tried = self.attempt(setting.with(Parameter::Window, 1), limit)?;
        }
        if let Some(candidate) = tried {
            standing.structures[entry.structure] = before.min(candidate.time);
            standing.found.push(candidate);
        }
        Ok(())
    }

    /// Whether longer segments than these have cost time, with any window and lanes.
    fn was_cut_in_vain(&self, setting: &Setting, best: f64) -> bool {
        if !setting.has(Parameter::Segment) || self.shape.vector() > 0 {
            return false;
        }
        let segment = |one: &Setting| one.params.get(Parameter::Segment);
        let whole = self.shape.blocks().longest(self.shape.ranks);
        let is_like = |other: &Setting| {
            [Parameter::Fan, Parameter::Order]
                .into_iter()
                .all(|parameter| other.params.get(parameter) == setting.params.get(parameter))
        };
        self.tried.iter().any(|tried| {
            let other = &tried.setting;
            let is_between = segment(other) < whole && segment(other) >= segment(setting);
            let is_slow = tried.time().is_none_or(|time| time > IN_VAIN * best);
            other.algorithm == setting.algorithm && is_like(other) && is_between && is_slow
        })
    }

    /// Whether no setting of the first look can be much better.
    fn reaches_floor(&self, time: f64) -> bool {
        time <= NEAR_ENOUGH * self.least.max(self.lowest_floor)
    }

    /// The choice where every simulation is too much work: the lowest estimate.
    pub(super) fn unsimulated(mut self) -> Result<Choice, ChoiceError> {
        let Some(Entry { setting, estimate, .. }) = self.fallback.take() else {
            return Err(ChoiceError::Unserved(self.refusals.join("; ")));
        };
        let Setting { algorithm, params } = setting;
        let schedule = self.sites.schedule(self.shape, algorithm, &params)?;
        let load = self.load(&*schedule);
        let time = estimate.min(load.time.max(0.0));
        let (bytes, messages) = (0, load.messages);
        let best = Candidate {
            algorithm,
            params,
            time,
            bytes,
            messages,
            part_of_run: true,
            unconfirmed: true,
            is_coarse: false,
        };
        self.note_unsearched(&setting);
        let Search { bound, simulated, unsearched, spent: work, .. } = self;
        Ok(Choice { all: vec![best.clone()], best, bound, simulated, work, unsearched })
    }

    /// Simulates the best exactly and to their end, and the best of each algorithm, where the work
    /// allows it.
    pub(super) fn confirm(&mut self, found: &mut Vec<Candidate>) -> Result<(), ChoiceError> {
        // The work of the search itself is over.
        self.work = self.spent + self.work / 2;
        self.coarse = 0.0;
        self.tried.clear();
        self.work_of_messages.clear();
        for _ in 0..MOST_CONFIRMED {
            found.sort_by(|a, b| a.time.total_cmp(&b.time));
            let Some(best) = found.first().map(|one| one.time) else { break };
            let near = found.iter_mut().filter(|one| one.time <= TO_CONFIRM * best);
            let is_estimate =
                |one: &&mut Candidate| one.is_coarse || one.part_of_run && !one.unconfirmed;
            let Some(one) = near.into_iter().find(is_estimate) else { break };
            let before = (one.time, one.part_of_run, one.algorithm);
            self.confirm_one(one)?;
            let (time, was_part, algorithm) = before;
            let ratio = one.time / time;
            if one.time <= EQUAL * best && was_part {
                break;
            }
            // Other parts mislead as much.
            let parts = found.iter_mut().filter(|one| was_part && one.part_of_run);
            for part in parts.filter(|one| one.algorithm == algorithm && !one.unconfirmed) {
                part.time *= ratio;
            }
        }
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut known: Vec<&str> = Vec::new();
        for one in found.iter_mut() {
            let is_first = !known.contains(&one.algorithm.name);
            known.push(one.algorithm.name);
            if is_first && one.is_coarse {
                self.confirm_one(one)?;
            }
        }
        // What is left of the coarse ones is slower than others of its algorithm.
        found.retain(|one| !one.is_coarse);
        Ok(())
    }

    /// Simulates a setting exactly and to its end, or else a longer part of it.
    fn confirm_one(&mut self, one: &mut Candidate) -> Result<(), ChoiceError> {
        let setting = Setting::of(one);
        if let Some(whole) = self.attempt_whole(setting, f64::INFINITY)? {
            *one = whole;
            return Ok(());
        }
        if let Some(longer) = self.attempt_longer(setting)? {
            *one = longer;
        }
        (one.part_of_run, one.unconfirmed, one.is_coarse) = (true, true, false);
        Ok(())
    }
}
