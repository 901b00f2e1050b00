//! What a setting takes: simulated to its end, or a first part of it and the rest at its steady
//! rate.

use laneway_coll::{Algorithm, Parameter, Params};
use laneway_core::{Round, Schedule, Shape};
use laneway_sim::{Effort, Network, Outcome, SimError, Simulation};

use super::{Search, Setting};
use crate::choose::{Candidate, ChoiceError, Sites};
use crate::load::{self, Load};

/// Algorithms with lanes cut what a lane carries into at most so many pieces.
const TURNS_OF_LANES: u64 = 16;
/// A part of a run has at least so many turns before its rate is taken as steady.
const FIRST_TURNS: u64 = 6;
/// And so many for the rate.
const STEADY_TURNS: u64 = 6;
/// A run that is less than this part of the work is simulated to its end.
const PART_OF_WHOLE: u64 = 40;
/// A window longer than this is not waited for.
const MOST_WINDOW: u64 = 24;
/// A step is about so many units of the simulator's work.
pub(super) const WORK_OF_STEP: u64 = 6;
/// Steps of a schedule that are counted to guess the rest.
const SAMPLED_RANKS: u32 = 4;

/// A setting that was tried, and what it takes if it ended within the limit.
pub(super) struct Tried {
    setting: Setting,
    limit: f64,
    found: Option<Candidate>,
    /// The work that was too little for it; 0 if it was enough.
    too_little: u64,
}

impl Tried {
    /// Whether it was a part of a run of this algorithm.
    pub(super) fn is_part_of(&self, algorithm: &Algorithm) -> bool {
        let is_part = self.found.as_ref().is_none_or(|found| found.part_of_run);
        is_part && self.setting.algorithm == algorithm
    }
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
    /// A setting's time, if it serves the call and takes at most so many seconds.
    pub(super) fn attempt(&mut self, setting: Setting, seconds: f64) -> Attempt {
        let allowed = self.left().min(self.cap);
        self.is_too_much = false;
        if let Some(tried) = self.tried.iter().rev().find(|tried| tried.setting == setting) {
            let is_more = tried.too_little > 0 && allowed >= 2 * tried.too_little;
            if tried.found.is_some() || tried.limit >= seconds && !is_more {
                return Ok(tried.found.clone().filter(|found| found.time <= seconds));
            }
        }
        let is_trusted = !self.distrusted.contains(&setting.algorithm.name);
        let found = match self.turns(&setting) {
            Some(turns) if turns.count > 1 && is_trusted => {
                self.attempt_turns(setting, turns, seconds)?
            }
            _ => self.attempt_whole(setting, seconds)?,
        };
        let too_little = if self.is_too_much { allowed } else { 0 };
        self.tried.push(Tried { setting, limit: seconds, found: found.clone(), too_little });
        Ok(found.filter(|found| found.time <= seconds))
    }

    /// Simulates a setting to its end.
    pub(super) fn attempt_whole(&mut self, setting: Setting, seconds: f64) -> Attempt {
        let Some(schedule) = self.schedule(self.shape, &setting)? else { return Ok(None) };
        let steps = guess_steps(&*schedule);
        self.spent += steps / 16;
        if steps * WORK_OF_STEP / 2 > self.left().min(self.cap) {
            self.note_unsearched(&setting);
            return Ok(None);
        }
        if seconds.is_finite() && self.load(&*schedule).time > seconds {
            return Ok(None);
        }
        match self.run_on(self.sites, &*schedule, seconds)? {
            Run::Done(outcome) => Ok(Some(candidate(&setting, &outcome))),
            Run::Late => Ok(None),
            Run::Spent => {
                self.note_unsearched(&setting);
                Ok(None)
            }
        }
    }

    /// Simulates the first turns, and once more with some turns more: the difference is what the
    /// others take.
    fn attempt_turns(&mut self, setting: Setting, turns: Turns, seconds: f64) -> Attempt {
        // A turn of lanes has many pieces.
        let few = if setting.has(Parameter::Lanes) { 2 } else { 1 };
        let first = (FIRST_TURNS / few).max(self.waits(&turns) + 2);
        let second = first + (STEADY_TURNS / few).max(self.waits(&turns));
        let part = Setting { params: turns.params, ..setting };
        if turns.count <= first + second {
            return self.attempt_whole(setting, seconds);
        }
        let shapes = [first, second].map(|count| self.part(turns, count));
        let Some(schedule) = self.schedule(&shapes[0], &part)? else { return Ok(None) };
        let whole = guess_steps(&*schedule) * WORK_OF_STEP * turns.count / first;
        if whole < self.work / PART_OF_WHOLE {
            return self.attempt_whole(setting, seconds);
        }
        if guess_steps(&*schedule) * WORK_OF_STEP > self.left() {
            self.note_unsearched(&setting);
            return Ok(None);
        }
        let load = self.load(&*schedule);
        if load.busy * turns.count as f64 / first as f64 > seconds {
            return Ok(None);
        }
        let Run::Done(one) = self.run_on(self.sites, &*schedule, seconds)? else {
            return Ok(None);
        };
        let Some(schedule) = self.schedule(&shapes[1], &part)? else { return Ok(None) };
        let steady = (second - first) as f64;
        let rest = (turns.count - first) as f64;
        let most = one.finish + (seconds - one.finish) * steady / rest;
        let Run::Done(two) = self.run_on(self.sites, &*schedule, most * 1.0001)? else {
            return Ok(None);
        };
        let messages = (two.messages - one.messages.min(two.messages)) as f64;
        if (messages / steady * first as f64 / one.messages as f64 - 1.0).abs() > 0.05 {
            // It is not cut into turns.
            return self.attempt_whole(setting, seconds);
        }
        let grown = |one: f64, two: f64| two + (two - one) / steady * (rest - steady);
        // In the long run no part is faster than the busiest one, which may have waited until now:
        // the time is between the least and what follows from the turns so far.
        let least = load.busy * turns.count as f64 / first as f64;
        let least = grown(one.finish, two.finish).max(least);
        let busy = load.busy / first as f64;
        let most = two.finish + (rest - steady) * busy;
        let time = (least + most.max(least)) / 2.0;
        let bytes = grown(one.bytes as f64, two.bytes as f64) as u64;
        let messages = grown(one.messages as f64, two.messages as f64) as u64;
        let Setting { algorithm, params } = setting;
        let part_of_run = true;
        Ok(Some(Candidate {
            algorithm,
            params,
            time,
            bytes,
            messages,
            part_of_run,
            unconfirmed: false,
        }))
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
            false => u64::from(turns.params.window()).clamp(1, MOST_WINDOW),
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
        let simulation = Simulation::new(sites.platform).placed(&sites.hosts);
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

fn candidate(setting: &Setting, outcome: &Outcome) -> Candidate {
    let Outcome { finish: time, bytes, messages, .. } = *outcome;
    let Setting { algorithm, params } = *setting;
    Candidate { algorithm, params, time, bytes, messages, part_of_run: false, unconfirmed: false }
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
