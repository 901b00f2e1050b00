//! What a setting takes: simulated to its end, or a first part of it and the rest at its steady
//! rate.

use laneway_coll::{Algorithm, Parameter, Params};
use laneway_core::{Round, Schedule, Shape};
use laneway_sim::{Effort, Network, Outcome, SimError, Simulation};

use super::{Search, Setting};
use crate::choose::{Candidate, ChoiceError, Sites};
use crate::load::{self, Load};

/// Algorithms with lanes cut what a lane carries into at most so many pieces.
pub(super) const TURNS_OF_LANES: u64 = 16;
/// The least number of turns of a part of a run before its rate is taken as steady.
const FIRST_TURNS: u64 = 6;
/// The least number of turns from which the rate is taken.
const STEADY_TURNS: u64 = 6;
/// A run that is less than this part of the work is simulated to its end.
const PART_OF_WHOLE: u64 = 40;
/// A longer part of a run is this many times as long as the one before it.
const LONGER: u64 = 4;
/// The rates of two parts of a run that differ by less are steady.
const STEADY: f64 = 0.005;
/// The units of the simulator's work for a step.
pub(super) const WORK_OF_STEP: u64 = 6;
/// The units of work to write a step and to read it.
pub(super) const WORK_OF_READING: u64 = 1;
/// Steps of a schedule that are counted to guess the rest.
const SAMPLED_RANKS: u32 = 4;

/// A setting that was tried, and what it takes if it ended within the limit.
pub(super) struct Tried {
    pub(super) setting: Setting,
    limit: f64,
    pub(super) found: Option<Candidate>,
    /// The work that was too little for it; 0 if it was enough.
    too_little: u64,
}

impl Tried {
    /// None if it did not end within the limit.
    pub(super) fn time(&self) -> Option<f64> {
        self.found.as_ref().map(|found| found.time)
    }

    /// Whether it was a part of a run of this algorithm.
    pub(super) fn is_part_of(&self, algorithm: &Algorithm) -> bool {
        let is_part = self.found.as_ref().is_none_or(|found| found.part_of_run);
        is_part && self.setting.algorithm == algorithm
    }
}

/// A schedule that was simulated to its end, or until a limit.
pub(super) struct WholeRun {
    fingerprint: u64,
    coarse: f64,
    limit: f64,
    /// None if it takes longer.
    outcome: Option<Outcome>,
}

/// The end of a simulation.
pub(super) enum Run {
    Done(Outcome),
    /// It takes longer than allowed, at the platform or in the simulator.
    Late,
    Spent,
}

/// A vector that is sent in turns: pieces for all lanes, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// With the segment that pieces really have.
    pub params: Params,
    /// Bytes of a turn.
    pub bytes: u64,
    pub count: u64,
}

impl Search<'_, '_> {
    /// A setting's time, if it serves the call and takes at most this number of seconds.
    pub(super) fn attempt(&mut self, setting: Setting, seconds: f64) -> Attempt {
        let allowed = self.left().min(self.cap);
        self.is_too_much = false;
        let setting = match self.turns(&setting) {
            Some(Turns { params, .. }) => Setting { params, ..setting },
            None => setting,
        };
        if let Some(tried) = self.tried.iter().rev().find(|tried| tried.setting == setting) {
            let is_more = tried.too_little > 0 && allowed >= 2 * tried.too_little;
            if tried.found.is_some() || tried.limit >= seconds && !is_more {
                return Ok(tried.found.clone().filter(|found| found.time <= seconds));
            }
        }
        if let Some(found) = self.found_with_other_windows(&setting) {
            return Ok(Some(found).filter(|found| found.time <= seconds));
        }
        let is_trusted = !self.distrusted.contains(&setting.algorithm.name);
        let found = match self.turns(&setting) {
            Some(turns) if turns.count > 1 && is_trusted => {
                self.attempt_turns(setting, turns, seconds)?
            }
            _ => self.attempt_whole(setting, seconds)?,
        };
        if let Some(found) = &found {
            self.note_free_window(&setting, found.time);
        }
        let too_little = if self.is_too_much { allowed } else { 0 };
        self.tried.push(Tried { setting, limit: seconds, found: found.clone(), too_little });
        Ok(found.filter(|found| found.time <= seconds))
    }

    /// Simulates a setting to its end.
    pub(super) fn attempt_whole(&mut self, setting: Setting, seconds: f64) -> Attempt {
        let Some(schedule) = self.schedule(self.shape, &setting)? else { return Ok(None) };
        let steps = guess_steps(&*schedule);
        self.spent += WORK_OF_READING * steps;
        if steps * WORK_OF_STEP / 2 > self.left().min(self.cap) {
            self.note_unsearched(&setting);
            return Ok(None);
        }
        let load = self.load(&*schedule);
        if load.time > seconds {
            return Ok(None);
        }
        let is_same = |run: &&WholeRun| {
            run.fingerprint == load.fingerprint
                && run.coarse == self.coarse
                && (run.outcome.is_some() || run.limit >= seconds)
        };
        if let Some(run) = self.runs.iter().find(is_same) {
            let outcome = run.outcome.as_ref().filter(|outcome| outcome.finish <= seconds);
            return Ok(outcome.map(|outcome| candidate(&setting, outcome, run.coarse)));
        }
        let name = setting.algorithm.name;
        let known = self.work_of_messages.iter_mut().find(|one| one.0 == name);
        let least = known.map_or(0.0, |known| known.1) * load.messages as f64;
        if least > self.left().min(self.cap) as f64 {
            self.note_unsearched(&setting);
            return Ok(None);
        }
        let before = self.spent;
        let run = self.run_on(self.sites, &*schedule, seconds)?;
        if let Run::Done(outcome) = &run {
            let each = (self.spent - before) as f64 / outcome.messages.max(1) as f64;
            match self.work_of_messages.iter_mut().find(|one| one.0 == name) {
                Some(known) => known.1 = known.1.min(each),
                None => self.work_of_messages.push((name, each)),
            }
        }
        let (coarse, fingerprint, limit) = (self.coarse, load.fingerprint, seconds);
        match run {
            Run::Done(mut outcome) => {
                let found = candidate(&setting, &outcome, coarse);
                outcome.per_rank = Vec::new();
                let outcome = Some(outcome);
                self.runs.push(WholeRun { fingerprint, coarse, limit, outcome });
                Ok(Some(found))
            }
            Run::Late => {
                self.runs.push(WholeRun { fingerprint, coarse, limit, outcome: None });
                Ok(None)
            }
            Run::Spent => {
                self.note_unsearched(&setting);
                Ok(None)
            }
        }
    }

    /// Simulates the first turns, and once more with some turns more: the difference is what the
    /// others take.
    fn attempt_turns(&mut self, setting: Setting, turns: Turns, seconds: f64) -> Attempt {
        let [first, second] = self.parts(&setting, &turns);
        let part = Setting { params: turns.params, ..setting };
        if turns.count <= first + second {
            return self.attempt_whole(setting, seconds);
        }
        let shape = self.part(turns, first);
        let Some(schedule) = self.schedule(&shape, &part)? else { return Ok(None) };
        let whole = guess_steps(&*schedule) * WORK_OF_STEP * turns.count / first;
        if whole < self.work / PART_OF_WHOLE {
            return self.attempt_whole(setting, seconds);
        }
        if guess_steps(&*schedule) * WORK_OF_STEP > self.left() {
            self.note_unsearched(&setting);
            return Ok(None);
        }
        let load = self.load(&*schedule);
        let busy = load.busy / first as f64;
        if busy * turns.count as f64 > seconds {
            return Ok(None);
        }
        let Run::Done(one) = self.run_on(self.sites, &*schedule, seconds)? else {
            return Ok(None);
        };
        let shape = self.part(turns, second);
        let Some(schedule) = self.schedule(&shape, &part)? else { return Ok(None) };
        let (steady, rest) = ((second - first) as f64, (turns.count - first) as f64);
        let most = one.finish + (seconds - one.finish) * steady / rest;
        let Run::Done(two) = self.run_on(self.sites, &*schedule, most * 1.0001)? else {
            return Ok(None);
        };
        let messages = (two.messages - one.messages.min(two.messages)) as f64;
        if (messages / steady * first as f64 / one.messages as f64 - 1.0).abs() > 0.05 {
            // It is not cut into turns.
            return self.attempt_whole(setting, seconds);
        }
        let parts = [(first, &one), (second, &two)];
        Ok(Some(continued(&setting, parts, turns.count, busy)))
    }

    /// Where the whole run is too much work: parts of it that are longer and longer, until the rate
    /// of one is that of the part before.
    pub(super) fn attempt_longer(&mut self, setting: Setting) -> Attempt {
        let Some(turns) = self.turns(&setting) else { return Ok(None) };
        let part = Setting { params: turns.params, ..setting };
        let mut count = self.parts(&setting, &turns)[1];
        let mut before: Option<(u64, Outcome)> = None;
        let mut found: Option<Candidate> = None;
        let mut rate = f64::NAN;
        while count < turns.count {
            let Some(schedule) = self.schedule(&self.part(turns, count), &part)? else { break };
            if guess_steps(&*schedule) * WORK_OF_STEP > self.left().min(self.cap) {
                break;
            }
            let busy = self.load(&*schedule).busy / count as f64;
            let Run::Done(run) = self.run_on(self.sites, &*schedule, f64::INFINITY)? else { break };
            if let Some((fewer, earlier)) = &before {
                let parts = [(*fewer, earlier), (count, &run)];
                found = Some(continued(&setting, parts, turns.count, busy));
                let new = (run.finish - earlier.finish) / (count - fewer) as f64;
                if (new / rate - 1.0).abs() < STEADY {
                    break;
                }
                rate = new;
            }
            before = Some((count, run));
            count *= LONGER;
        }
        Ok(found)
    }

    /// The turns of two parts of a run whose difference is the steady rate.
    fn parts(&self, setting: &Setting, turns: &Turns) -> [u64; 2] {
        // A turn of lanes has many pieces.
        let few = if setting.has(Parameter::Lanes) { 2 } else { 1 };
        let first = (FIRST_TURNS / few).max(self.waits(turns).saturating_add(2));
        [first, first.saturating_add((STEADY_TURNS / few).max(self.waits(turns)))]
    }

    /// A vector of the first turns.
    pub(super) fn part(&self, turns: Turns, count: u64) -> Shape {
        let mut shape = self.shape.clone();
        shape.layout = laneway_core::Layout::Vector(turns.bytes * count);
        shape
    }

    /// The turns after which a window is full, if messages wait for their receivers.
    fn waits(&self, turns: &Turns) -> u64 {
        match turns.params.segment() <= self.sites.platform.eager_bytes() {
            true => 1,
            false => u64::from(turns.params.window()).max(1),
        }
    }

    /// The lanes of a setting; one where it has none.
    pub(super) fn lanes(&self, setting: &Setting) -> u64 {
        match u64::from(setting.params.lanes()) {
            _ if !setting.has(Parameter::Lanes) => 1,
            0 => self.largest_site,
            lanes => lanes.min(self.largest_site),
        }
    }

    /// The turns of a setting; none if it does not cut a vector into segments.
    pub(super) fn turns(&self, setting: &Setting) -> Option<Turns> {
        let (vector, params) = (self.shape.vector(), setting.params);
        let element = u64::from(self.shape.element);
        if vector == 0 || !setting.has(Parameter::Segment) || params.segment() == 0 {
            return None;
        }
        let (has_lanes, lanes) = (setting.has(Parameter::Lanes), self.lanes(setting));
        let least = if has_lanes { vector.div_ceil(TURNS_OF_LANES * lanes) } else { 1 };
        let segment = params.segment().clamp(least, vector.max(least));
        let segment = segment.next_multiple_of(element);
        let bytes = segment.saturating_mul(lanes);
        let params = params.with(Parameter::Segment, segment);
        Some(Turns { params, bytes, count: vector.div_ceil(bytes) })
    }

    /// A schedule, if the algorithm serves the call.
    pub(super) fn schedule(
        &mut self,
        shape: &Shape,
        setting: &Setting,
    ) -> Result<Option<Box<dyn Schedule>>, ChoiceError> {
        match self.sites.schedule(shape, setting.algorithm, &setting.params) {
            Ok(schedule) => Ok(Some(schedule)),
            Err(ChoiceError::Unserved(why)) => {
                if !self.refusals.contains(&why) {
                    self.refusals.push(why);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What a schedule takes at least.
    pub(super) fn load(&mut self, schedule: &dyn Schedule) -> Load {
        let load = load::load(self.sites.platform, &self.sites.hosts, schedule);
        self.spent += load.messages / 4;
        load
    }

    pub(super) fn run_on(
        &mut self,
        sites: &Sites,
        schedule: &dyn Schedule,
        seconds: f64,
    ) -> Result<Run, ChoiceError> {
        self.simulated += 1;
        let effort = Effort::new(self.left().min(self.cap).max(1));
        let simulation = Simulation::new(sites.platform).placed(&sites.hosts).coarse(self.coarse);
        let outcome = simulation.within(seconds).effort(&effort).run(schedule);
        self.spent += effort.spent();
        match outcome {
            Ok(outcome) => Ok(Run::Done(outcome)),
            Err(SimError::Limit { .. }) => Ok(Run::Late),
            Err(SimError::Effort { .. }) => Ok(Run::Spent),
            Err(error) => Err(ChoiceError::Call(error.to_string())),
        }
    }

    /// Units of work that are left.
    pub(super) fn left(&self) -> u64 {
        self.work.saturating_sub(self.spent)
    }

    pub(super) fn note_unsearched(&mut self, setting: &Setting) {
        self.is_too_much = true;
        let name = setting.algorithm.name;
        if !self.unsearched.contains(&name) {
            self.unsearched.push(name);
        }
    }
}

fn candidate(setting: &Setting, outcome: &Outcome, coarse: f64) -> Candidate {
    let Outcome { finish: time, bytes, messages, .. } = *outcome;
    let Setting { algorithm, params } = *setting;
    let (part_of_run, unconfirmed, is_coarse) = (false, false, coarse > 0.0);
    Candidate { algorithm, params, time, bytes, messages, part_of_run, unconfirmed, is_coarse }
}

/// A run of `count` turns, from two of its parts and the turns of each, and the seconds for which a
/// turn occupies the busiest part of the network.
fn continued(
    setting: &Setting,
    [(first, one), (second, two)]: [(u64, &Outcome); 2],
    count: u64,
    busy: f64,
) -> Candidate {
    let Setting { algorithm, params } = *setting;
    let (steady, rest) = ((second - first) as f64, (count - second) as f64);
    let grown = |one: f64, two: f64| two + (two - one) / steady * rest;
    // In the long run no part is faster than the busiest one, which may have waited until now: the
    // time is between the least and what follows from the turns so far.
    let least = grown(one.finish, two.finish).max(busy * count as f64);
    let most = two.finish + rest * busy;
    let time = (least + most.max(least)) / 2.0;
    let bytes = grown(one.bytes as f64, two.bytes as f64) as u64;
    let messages = grown(one.messages as f64, two.messages as f64) as u64;
    let (part_of_run, unconfirmed, is_coarse) = (true, false, false);
    Candidate { algorithm, params, time, bytes, messages, part_of_run, unconfirmed, is_coarse }
}

/// About how many steps a schedule has: those of a few ranks, as if all had as many.
pub(super) fn guess_steps(schedule: &dyn Schedule) -> u64 {
    let ranks = schedule.ranks();
    let sampled = ranks.min(SAMPLED_RANKS);
    let mut out = Round::default();
    let mut steps = 0;
    for number in 0..sampled {
        let rank = (u64::from(number) * u64::from(ranks) / u64::from(sampled)) as u32;
        for lane in 0..schedule.lanes(rank) {
            let rounds = schedule.rounds(rank, lane);
            if rounds == 0 {
                continue;
            }
            out.steps.clear();
            schedule.round(rank, lane, rounds / 2, &mut out);
            steps += rounds.saturating_mul(out.steps.len() as u64);
        }
    }
    steps.saturating_mul(u64::from(ranks)) / u64::from(sampled.max(1))
}

type Attempt = Result<Option<Candidate>, ChoiceError>;
