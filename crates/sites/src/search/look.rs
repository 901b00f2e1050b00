//! The first look: every algorithm with a few values of each parameter, and what each setting is
//! estimated to take.

use laneway_coll::{Algorithm, Parameter, algorithms};
use laneway_core::Stage;
use laneway_sim::Network;

use super::trial::{Run, Turns, WORK_OF_READING, WORK_OF_STEP, guess_steps};
use super::{Search, Setting};
use crate::choose::ChoiceError;

/// A lane's part of a vector is cut into at most so many segments.
const MOST_SEGMENTS: u64 = 1 << 10;
/// A setting that is this near to the lowest estimate may have longer segments instead.
const LONGER: f64 = 1.01;
/// A schedule of more steps than this is not read.
const MOST_STEPS: u64 = 6_000_000;
/// A turn may be at most this part of the work.
const PART_OF_TURN: u64 = 12;
/// A setting of which only the least time is known is estimated to take so many times as long.
const OF_FLOOR: f64 = 1.15;
/// The shortest turn of more lanes is taken to be as long as that of fewer.
const FEW_LANES: u64 = 2;
/// A call is short if its busiest part is busy for at most this multiple of the longest latency.
const SHORT: f64 = 2.0;
/// No window is estimated to be longer than this.
const MOST_WINDOW: u64 = 512;

/// A setting, and about how many seconds it takes.
#[derive(Clone)]
pub(super) struct Entry {
    pub setting: Setting,
    pub estimate: f64,
    /// It cannot take less; 0 if that is unknown.
    pub floor: f64,
    /// Settings of one structure differ in windows and segments alone.
    pub structure: usize,
}

/// One turn: how long it takes alone, and how long it occupies the busiest part.
#[derive(Clone, Copy)]
struct Turn {
    segment: f64,
    time: f64,
    busy: f64,
    messages: u64,
}

impl Search<'_, '_> {
    /// All settings of the first look, the lowest estimate first.
    pub(super) fn look(&mut self, stage: &Stage) -> Result<Vec<Entry>, ChoiceError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut number = 0;
        for algorithm in algorithms(self.shape.collective) {
            if !self.gains_by(algorithm) {
                self.refusals.push("third sites gain nothing".into());
                stage.step();
                continue;
            }
            let (refused, before) = (self.refusals.len(), entries.len());
            let structures = self.structures(algorithm);
            for &structure in &structures {
                let found = match self.turns(&structure) {
                    Some(_) => self.look_at_turns(structure)?,
                    None => self.look_at_whole(structure)?,
                };
                number += 2;
                for entry in found {
                    let entry = Entry { structure: number + entry.structure, ..entry };
                    let is_new = |other: &Entry| other.setting != entry.setting;
                    if entries.iter().all(is_new) {
                        entries.push(entry);
                    }
                }
            }
            if entries.len() == before && self.refusals.len() == refused {
                structures.first().iter().for_each(|one| self.note_unsearched(one));
            }
            stage.step();
        }
        if entries.is_empty() && self.unsearched.is_empty() {
            return Err(ChoiceError::Unserved(self.refusals.join("; ")));
        }
        entries.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        let floors = entries.iter().map(|entry: &Entry| entry.floor);
        self.lowest_floor = floors.fold(f64::INFINITY, f64::min);
        Ok(entries)
    }

    /// The settings of an algorithm that differ in more than windows and segments.
    fn structures(&self, algorithm: &'static Algorithm) -> Vec<Setting> {
        let usual = self.scaled(Setting { algorithm, params: algorithm.defaults() });
        // The parameters of relays fit each other, or not.
        if let Some(params) = self.fitting(algorithm, usual.params) {
            return vec![self.scaled(Setting { algorithm, params }), usual];
        }
        let mut all = vec![usual];
        for (parameter, _) in algorithm.parameters {
            let is_whole = matches!(parameter, Parameter::Segment | Parameter::Window);
            if is_whole || *parameter == Parameter::Near {
                continue;
            }
            let mut values = self.first_values(*parameter);
            // Of algorithms with other structures, other orders are for steps.
            if *parameter == Parameter::Order {
                let has = |other| algorithm.parameters.iter().any(|(one, _)| *one == other);
                let most = match () {
                    () if has(Parameter::Lanes) => 0,
                    () if has(Parameter::Radix) => 1,
                    () => u64::MAX,
                };
                values.retain(|value| *value <= most);
            }
            values.push(usual.params.get(*parameter));
            // All lanes come last: what is known of a few helps with them.
            let is_all = |value: u64| *parameter == Parameter::Lanes && value == 0;
            values.sort_unstable_by_key(|value| if is_all(*value) { u64::MAX } else { *value });
            values.dedup();
            let more = all.iter().flat_map(|one| values.iter().map(|v| one.with(*parameter, *v)));
            all = more.collect();
        }
        all
    }

    /// With segments that do not cut blocks into too many pieces.
    fn scaled(&self, setting: Setting) -> Setting {
        if self.shape.vector() > 0 || !setting.has(Parameter::Segment) {
            return setting;
        }
        setting.with(Parameter::Segment, setting.params.segment().max(self.least_segment()))
    }

    /// The windows and segments of an algorithm that has to be read as a whole.
    fn look_at_whole(&mut self, structure: Setting) -> Result<Vec<Entry>, ChoiceError> {
        let Some(schedule) = self.schedule(self.shape, &structure)? else { return Ok(Vec::new()) };
        let steps = guess_steps(&*schedule);
        self.spent += WORK_OF_READING * steps;
        if steps > MOST_STEPS || steps / 4 > self.left() {
            self.note_unsearched(&structure);
            return Ok(vec![Entry {
                setting: structure,
                estimate: f64::MAX,
                floor: 0.0,
                structure: 0,
            }]);
        }
        let load = self.load(&*schedule);
        let floor = load.time;
        let is_short = load.busy <= SHORT * self.farthest;
        // Latencies and waiting add to it.
        let estimate = floor * OF_FLOOR;
        let mut settings = vec![structure];
        for parameter in [Parameter::Window, Parameter::Near, Parameter::Segment] {
            // Relays have segments that fit.
            let fits = structure.has(Parameter::Stripes);
            if !structure.has(parameter) || fits {
                continue;
            }
            let mut values = match parameter {
                Parameter::Segment => self.first_segments(&structure),
                _ => self.first_values(parameter),
            };
            match parameter {
                // Short messages wait for each other in a narrow window.
                Parameter::Window if is_short => values.reverse(),
                Parameter::Window => values.rotate_left(1),
                Parameter::Near => values.insert(0, structure.params.get(parameter)),
                _ => {}
            }
            let with = |value: &u64| {
                let value = *value;
                settings.iter().map(move |one| one.with(parameter, value)).collect::<Vec<_>>()
            };
            settings = values.iter().flat_map(with).collect();
        }
        // Some long messages need a wide window, and of most it is too much work: such settings
        // race for themselves.
        let widest = u64::from(self.shape.ranks);
        let entry = |setting: Setting| {
            let is_wide =
                setting.has(Parameter::Window) && setting.params.get(Parameter::Window) == widest;
            let structure = usize::from(is_wide && !is_short);
            Entry { setting, estimate, floor, structure }
        };
        Ok(settings.into_iter().map(entry).collect())
    }

    /// All that a lane carries at once, or in a few pieces.
    fn first_segments(&self, structure: &Setting) -> Vec<u64> {
        let whole = match self.shape.vector() {
            0 => self.shape.blocks().longest(self.shape.ranks).max(1),
            vector => structure.params.segment().min(vector),
        };
        let mut segments: Vec<u64> = [1, 4, 16].map(|pieces| whole.div_ceil(pieces)).to_vec();
        segments.dedup();
        segments
    }

    /// The segments and windows of an algorithm that sends a vector in turns.
    fn look_at_turns(&mut self, structure: Setting) -> Result<Vec<Entry>, ChoiceError> {
        let whole = structure.with(Parameter::Segment, u64::MAX);
        let Some(Turns { bytes, params, .. }) = self.turns(&whole) else { return Ok(Vec::new()) };
        let lanes = (bytes / params.segment().max(1)).max(1);
        let each = self.shape.vector().div_ceil(lanes);
        let finest = (each / MOST_SEGMENTS).max(1);
        let cuts = [finest, each.div_ceil(4)].map(|one| structure.with(Parameter::Segment, one));
        if self.is_cut_otherwise(&cuts[0])? {
            return self.look_at_whole(structure.with(Parameter::Segment, each));
        }
        let Some(coarse) = self.turn(cuts[1])? else { return Ok(Vec::new()) };
        let fine = match self.shortest.filter(|one| one.0 == structure.algorithm.name) {
            // Latencies are those of fewer lanes, and a turn of many lanes is much work.
            Some((_, time)) if lanes > FEW_LANES => {
                Turn { segment: 0.0, time: time.min(coarse.time), busy: 0.0, ..coarse }
            }
            _ => {
                let Some(fine) = self.turn(cuts[0])? else { return Ok(Vec::new()) };
                self.shortest = Some((structure.algorithm.name, fine.time));
                fine
            }
        };
        let most = 64 * self.work / super::WORK * 1024;
        let halves = (0..64).map(|k| each >> k).take_while(|segment| *segment >= finest.max(1));
        let all: Vec<(u64, f64, Turn)> = halves
            .map(|segment| {
                let turn = fine.or(&coarse, segment as f64);
                let count = each.div_ceil(segment.max(1)) as f64;
                let too_many = count * turn.messages as f64 > most as f64;
                let time = turn.time + (count - 1.0) * turn.busy;
                (segment, if too_many { f64::INFINITY } else { time }, turn)
            })
            .collect();
        let best = all.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
        let Some(at) = all.iter().position(|one| one.1 <= LONGER * best) else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for at in [at, at + 2, at.saturating_sub(2)] {
            let Some(&(segment, time, turn)) = all.get(at).filter(|one| one.1.is_finite()) else {
                continue;
            };
            let setting = structure.with(Parameter::Segment, segment);
            let floor = turn.busy * (each / segment.max(1)) as f64;
            for window in self.first_windows(&setting, turn.busy) {
                let setting = setting.with(Parameter::Window, window);
                let turns = each.div_ceil(segment.max(1));
                let waits = match segment > self.sites.platform.eager_bytes() {
                    true => (turns / window.max(1)) as f64 * self.farthest,
                    false => 0.0,
                };
                let estimate = time.max(waits);
                entries.push(Entry { setting, estimate, floor, structure: 0 });
            }
        }
        Ok(entries)
    }

    /// The usual window, and the one that keeps the busiest part busy over the longest latency.
    fn first_windows(&self, setting: &Setting, busy: f64) -> Vec<u64> {
        let usual = u64::from(setting.params.window());
        if !setting.has(Parameter::Window) {
            return vec![usual];
        }
        if busy <= 0.0 {
            return vec![usual];
        }
        let fits = 2 + (self.farthest / busy).ceil().min(MOST_WINDOW as f64) as u64;
        if fits <= usual { vec![usual] } else { vec![fits, usual] }
    }

    /// Whether two turns of a setting are not twice as many messages as one.
    fn is_cut_otherwise(&mut self, setting: &Setting) -> Result<bool, ChoiceError> {
        let Some(turns) = self.turns(setting) else { return Ok(true) };
        let setting = Setting { params: turns.params, ..*setting };
        let mut counts = [0, 0];
        for (count, found) in [1, 2].into_iter().zip(&mut counts) {
            let shape = self.part(turns, count);
            let Some(schedule) = self.schedule(&shape, &setting)? else { return Ok(false) };
            *found = guess_steps(&*schedule);
        }
        Ok(counts[1] * 2 < counts[0] * 3)
    }

    /// One turn of a setting, simulated.
    fn turn(&mut self, setting: Setting) -> Result<Option<Turn>, ChoiceError> {
        let Some(turns) = self.turns(&setting) else { return Ok(None) };
        let setting = Setting { params: turns.params, ..setting };
        let shape = self.part(turns, 1);
        let Some(schedule) = self.schedule(&shape, &setting)? else { return Ok(None) };
        if guess_steps(&*schedule) * WORK_OF_STEP > self.work / PART_OF_TURN {
            return Ok(None);
        }
        let load = self.load(&*schedule);
        let time = match self.run_on(self.sites, &*schedule, f64::INFINITY)? {
            Run::Done(outcome) => outcome.finish,
            // Too much work: about the latencies of fewer lanes, and the busiest part.
            _ => load.time + self.shortest.map_or(0.0, |(_, time)| time),
        };
        let (segment, messages) = (turns.params.segment() as f64, load.messages);
        Ok(Some(Turn { segment, time, busy: load.busy, messages }))
    }
}

impl Turn {
    /// The turn with a segment between those of two others.
    fn or(&self, other: &Turn, segment: f64) -> Turn {
        if other.segment <= self.segment {
            return *self;
        }
        let part = (segment - self.segment) / (other.segment - self.segment);
        let between = |a: f64, b: f64| (a + part * (b - a)).max(0.0);
        Turn {
            segment,
            time: between(self.time, other.time),
            busy: between(self.busy, other.busy),
            messages: other.messages,
        }
    }
}
