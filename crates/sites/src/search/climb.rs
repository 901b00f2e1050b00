//! Steps from the fastest settings: one parameter at a time, and two at once where no single step
//! helps.

use laneway_coll::Parameter;

use super::{GAIN, Search, Setting};
use crate::choose::{Candidate, ChoiceError};

/// Settings that steps begin at.
const MOST_STARTS: usize = 4;
/// Of one algorithm.
const MOST_OF_ONE: usize = 2;
/// A start is at most so many times as slow as the best.
const FROM: f64 = 1.4;
/// The same where a setting that reaches the bound is known, and one that demands less is looked
/// for: a window alone may make the difference.
pub(super) const FROM_MODEST: f64 = 4.0;
/// The rest of a run may differ so much from what its first part foretells.
const MISLEADING: f64 = 0.01;
/// Pieces that a lane carries, or of a block, where more may help than the search has work for.
const PIECES: [u64; 2] = [4, 16];
/// Pairs of steps are tried for algorithms with at most so many parameters.
const FEW_PARAMETERS: usize = 4;

/// Whether two settings of an algorithm differ in windows, segments and lanes at most.
fn is_like(one: &Candidate, other: &Candidate) -> bool {
    let is_step =
        |parameter| matches!(parameter, Parameter::Window | Parameter::Segment | Parameter::Lanes);
    let parameters = one.algorithm.parameters.iter().map(|(parameter, _)| *parameter);
    let mut structure = parameters.filter(|parameter| !is_step(*parameter));
    structure.all(|parameter| one.params.get(parameter) == other.params.get(parameter))
}

impl Search<'_, '_> {
    /// Adds what steps from the fastest settings lead to.
    pub(super) fn climb(&mut self, found: &mut Vec<Candidate>) -> Result<(), ChoiceError> {
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        let fastest =
            |found: &[Candidate]| found.iter().map(|one| one.time).fold(f64::INFINITY, f64::min);
        if self.reaches(fastest(found)) {
            self.climb_modest(found)?;
        }
        let mut starts: Vec<Candidate> = Vec::new();
        for one in found.iter() {
            let of_it = starts.iter().filter(|other| other.algorithm == one.algorithm);
            let is_like = |other: &Candidate| is_like(other, one);
            let is_new = !of_it.clone().any(is_like) && of_it.count() < MOST_OF_ONE;
            if is_new && starts.len() < MOST_STARTS {
                starts.push(one.clone());
            }
        }
        let begun = self.spent;
        let share = self.left() / 2;
        for (number, start) in starts.into_iter().enumerate() {
            let best = fastest(found);
            if start.time > FROM * best || self.is_enough(best) {
                break;
            }
            // The first start has half of the work, the second half of the rest.
            let until = match number {
                0 => begun + share,
                1 => begun + share + share / 2,
                _ => self.work,
            };
            let start = self.checked(start)?;
            if start.time <= FROM * best {
                let reached = self.climbed(start.clone(), until)?;
                found.push(reached);
            }
            found.push(start);
        }
        let best = fastest(found);
        if let Some(one) = found.iter().position(|one| one.time == best) {
            let fewer = self.with_fewer(found[one].clone())?;
            found.push(fewer);
        }
        Ok(())
    }

    /// The best setting with the shortest segments that its algorithm may have, which are too much
    /// work for the search itself, and steps from there.
    pub(super) fn cut_finer(&mut self, found: &mut Vec<Candidate>) -> Result<(), ChoiceError> {
        let Some(best) = found.iter().min_by(|a, b| a.time.total_cmp(&b.time)).cloned() else {
            return Ok(());
        };
        let setting = Setting::of(&best);
        let is_cut = setting.has(Parameter::Segment) && setting.has(Parameter::Lanes);
        if !is_cut || setting.has(Parameter::Stripes) || self.reaches(best.time) {
            return Ok(());
        }
        let whole = match self.shape.vector() {
            0 => self.shape.blocks().longest(self.shape.ranks),
            vector => vector.div_ceil(self.lanes(&setting)),
        };
        self.work = self.work.max(self.spent) + self.work;
        self.cap = self.left();
        let mut finer = best;
        for pieces in PIECES {
            let segment = whole.div_ceil(pieces).max(1);
            if segment >= setting.params.segment() || self.is_spent() {
                continue;
            }
            let step = setting.with(Parameter::Segment, segment);
            match self.attempt(step, GAIN * finer.time)? {
                Some(better) => finer = better,
                None => break,
            }
        }
        if Setting::of(&finer) != setting {
            let until = self.spent + self.left() / 2;
            let reached = self.climbed(finer.clone(), until)?;
            found.extend([finer, reached]);
        }
        Ok(())
    }

    /// Where a setting reaches the bound: steps of other algorithms that demand less, until one of
    /// them reaches it too. Simulated links share fairly what real ones may lose.
    fn climb_modest(&mut self, found: &mut Vec<Candidate>) -> Result<(), ChoiceError> {
        let best = found.iter().map(|one| one.time).fold(f64::INFINITY, f64::min);
        let mut firsts: Vec<Candidate> = Vec::new();
        for one in found.iter().filter(|one| one.time <= FROM_MODEST * best) {
            if firsts.iter().all(|first| first.algorithm != one.algorithm) {
                firsts.push(one.clone());
            }
        }
        firsts.sort_by_key(Candidate::demand);
        for first in firsts {
            let until = self.spent + self.left() / 4;
            let reached = self.climbed(first, until)?;
            if self.reaches(reached.time) {
                let fewer = self.with_fewer(reached)?;
                found.push(fewer);
                break;
            }
            found.push(reached);
        }
        Ok(())
    }

    /// A start of which only a part was simulated, simulated to its end, or for longer if that is
    /// too much work. Where the part misled, no other part of this algorithm is believed.
    fn checked(&mut self, start: Candidate) -> Result<Candidate, ChoiceError> {
        if !start.part_of_run {
            return Ok(start);
        }
        let setting = Setting::of(&start);
        let whole = match self.attempt_whole(setting, f64::INFINITY)? {
            Some(whole) => whole,
            None => match self.attempt_longer(setting)? {
                Some(longer) => longer,
                None => return Ok(start),
            },
        };
        if (whole.time / start.time - 1.0).abs() > MISLEADING {
            self.distrusted.push(whole.algorithm.name);
            self.tried.retain(|tried| !tried.is_part_of(whole.algorithm));
        }
        Ok(whole)
    }

    /// Steps while one helps.
    pub(super) fn climbed(
        &mut self,
        mut best: Candidate,
        until: u64,
    ) -> Result<Candidate, ChoiceError> {
        loop {
            let before = best.time;
            // Shorter segments are more work than other steps.
            let is_segment = |parameter: &Parameter| *parameter == Parameter::Segment;
            let parameters = best.algorithm.parameters.iter().map(|(parameter, _)| *parameter);
            let segments = parameters.clone().filter(is_segment);
            for parameter in parameters.filter(|one| !is_segment(one)).chain(segments) {
                best = self.stepped(best, parameter, until)?;
            }
            if best.time < GAIN * before {
                continue;
            }
            if self.is_enough(best.time) || self.spent >= until {
                return Ok(best);
            }
            best = self.stepped_twice(best, until)?;
            if best.time >= GAIN * before {
                return Ok(best);
            }
        }
    }

    /// Steps of one parameter, while one helps.
    fn stepped(
        &mut self,
        mut best: Candidate,
        parameter: Parameter,
        until: u64,
    ) -> Result<Candidate, ChoiceError> {
        loop {
            let setting = Setting::of(&best);
            let mut next: Option<Candidate> = None;
            for value in self.steps(&setting, parameter) {
                if self.is_enough(best.time) || self.spent >= until {
                    return Ok(next.unwrap_or(best));
                }
                let limit = GAIN * next.as_ref().map_or(best.time, |one| one.time);
                next = self.attempt(setting.with(parameter, value), limit)?.or(next);
                if let Some(scaled) = self.with_as_many_pieces(&setting, parameter, value) {
                    let limit = GAIN * next.as_ref().map_or(best.time, |one| one.time);
                    next = self.attempt(scaled, limit)?.or(next);
                }
            }
            match next {
                Some(better) => best = better,
                None => return Ok(best),
            }
        }
    }

    /// Other lanes with as many pieces in each of them.
    fn with_as_many_pieces(
        &self,
        setting: &Setting,
        parameter: Parameter,
        value: u64,
    ) -> Option<Setting> {
        let is_cut = parameter == Parameter::Lanes && setting.has(Parameter::Segment);
        if !is_cut || self.shape.vector() == 0 {
            return None;
        }
        let step = setting.with(parameter, value);
        let each = |one: &Setting| self.shape.vector().div_ceil(self.lanes(one)).max(1);
        let pieces = each(setting).div_ceil(setting.params.segment().max(1));
        Some(step.with(Parameter::Segment, each(&step).div_ceil(pieces)))
    }

    /// Two steps at once, of any two parameters.
    fn stepped_twice(&mut self, best: Candidate, until: u64) -> Result<Candidate, ChoiceError> {
        let parameters: Vec<_> =
            best.algorithm.parameters.iter().filter(|(one, _)| *one != Parameter::Order).collect();
        if parameters.len() > FEW_PARAMETERS {
            return Ok(best);
        }
        let setting = Setting::of(&best);
        for (at, (first, _)) in parameters.iter().enumerate() {
            for (second, _) in &parameters[at + 1..] {
                for a in self.steps(&setting, *first).into_iter().take(4) {
                    let stepped = setting.with(*first, a);
                    for b in self.steps(&stepped, *second).into_iter().take(4) {
                        if self.spent >= until {
                            return Ok(best);
                        }
                        let both = stepped.with(*second, b);
                        if let Some(better) = self.attempt(both, GAIN * best.time)? {
                            return Ok(better);
                        }
                    }
                }
            }
        }
        Ok(best)
    }

    /// As few transfers under way as are as fast.
    fn with_fewer(&mut self, mut best: Candidate) -> Result<Candidate, ChoiceError> {
        // Settings that fit a relay need all that they have under way.
        let setting = Setting::of(&best);
        if setting.has(Parameter::Stripes) {
            return Ok(best);
        }
        let equal = f64::max(super::NEAR_ENOUGH * self.least, best.time / GAIN);
        for parameter in [Parameter::Window, Parameter::Near, Parameter::Lanes] {
            let setting = Setting::of(&best);
            if !setting.has(parameter) {
                continue;
            }
            let most = setting.params.get(parameter);
            for value in self.windows() {
                if !(1..most).contains(&value) || self.is_spent() {
                    continue;
                }
                if let Some(other) = self.attempt(setting.with(parameter, value), equal)? {
                    best = other;
                    break;
                }
            }
        }
        Ok(best)
    }
}
