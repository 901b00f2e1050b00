//! The fastest schedule for a call on a platform: candidates are simulated, and the best is taken.
//!
//! A closed formula knows one algorithm on one kind of network. Simulating a schedule of 64 ranks
//! takes a fraction of a millisecond, and knows what shares what. Every algorithm of the registry
//! is tried as it is; those that look promising are tuned, one parameter at a time until no step
//! helps. Where a lower bound is known, those that move the fewest bytes come first, and who
//! reaches it ends the search; elsewhere the fastest come first, until enough was simulated. Of two
//! that are equally fast, the one that asks less of hosts and network is better where the simulator
//! is wrong.

use std::fmt;

use laneway_coll::{Algorithm, Parameter, Params, algorithms};
use laneway_core::{Collective, Placement, Schedule, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{HostId, Network, Outcome, SimError, Simulation};

use crate::bound::{self, Bound, BoundError};

/// What is so much above the bound need not be made better.
const NEAR_ENOUGH: f64 = 1.005;
/// What is so much slower than the best as it is, is not tuned.
const PROMISING: f64 = 3.0;
/// A step of tuning must gain so much.
const GAIN: f64 = 0.999;
/// Candidates this near to each other count as equally fast.
const EQUAL: f64 = 1.005;
/// So many times all parameters are gone through.
const SWEEPS: usize = 3;
/// Blocks are cut into at most so many pieces.
const MOST_PIECES: u64 = 16;
/// Or, where they fit the eager limit, into so many.
const MOST_EAGER: u64 = 64;
/// Hundredths that a root without a card for other sites sends across itself.
const USUAL_SHARE: u64 = 10;
/// When so many messages were simulated, nothing is tuned any more.
const MOST_MESSAGES: u64 = 60_000;

/// An algorithm with its parameters, and what the simulator says it takes.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub algorithm: &'static Algorithm,
    pub params: Params,
    /// Seconds.
    pub time: f64,
    /// What all ranks send, relays included.
    pub bytes: u64,
    pub messages: u64,
}

impl Candidate {
    /// The name with its parameters.
    pub fn spelled(&self) -> String {
        self.algorithm.spelled(&self.params)
    }

    /// What it asks of hosts and network: bytes, messages, and how many sends of a rank may be
    /// under way at once, which is all of them where nothing limits it. Simulated links part fairly
    /// whatever comes; real ones lose packets when too much comes at once.
    fn demand(&self) -> (u64, u64, u64) {
        (self.bytes, self.messages, self.get(Parameter::Window).unwrap_or(u64::MAX))
    }

    /// A parameter's value, if it has one.
    pub fn get(&self, parameter: Parameter) -> Option<u64> {
        let known = self.algorithm.parameters.iter().any(|(one, _)| *one == parameter);
        known.then(|| self.params.get(parameter))
    }
}

/// What was chosen, what else was tried, and what nothing can beat.
#[derive(Clone, Debug)]
pub struct Choice {
    pub best: Candidate,
    /// The best setting of each algorithm that was found, the fastest first.
    pub all: Vec<Candidate>,
    /// None for collectives without one.
    pub bound: Option<Bound>,
    /// How many schedules were simulated.
    pub simulated: u32,
}

/// Why there is no choice.
#[derive(Clone, Debug, PartialEq)]
pub enum ChoiceError {
    /// No algorithm serves the call.
    Nobody(String),
    Bound(BoundError),
    /// The platform or the call makes no sense.
    Call(String),
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoiceError::Nobody(why) => write!(f, "no algorithm serves this call: {why}"),
            ChoiceError::Bound(error) => error.fmt(f),
            ChoiceError::Call(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ChoiceError {}

/// Where ranks are, and the platform that they are on: makes choices for calls.
#[derive(Clone, Debug)]
pub struct Sites<'a> {
    platform: &'a Platform,
    hosts: Vec<HostId>,
    placement: Placement,
}

impl<'a> Sites<'a> {
    /// Rank r is on host `hosts[r]`.
    pub fn new(platform: &'a Platform, hosts: Vec<HostId>) -> Result<Sites<'a>, ChoiceError> {
        let count = platform.hosts();
        if let Some(host) = hosts.iter().find(|host| **host >= count) {
            let what = format!("a rank on host {host}, and the platform has {count} hosts");
            return Err(ChoiceError::Call(what));
        }
        let placement = platform.placement(&hosts);
        Ok(Sites { platform, hosts, placement })
    }

    /// One rank on each host.
    pub fn one_each(platform: &'a Platform) -> Sites<'a> {
        let hosts: Vec<HostId> = (0..platform.hosts()).collect();
        let placement = platform.placement(&hosts);
        Sites { platform, hosts, placement }
    }

    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What no scatter or gather can beat; none for other collectives, and for platforms that are
    /// no sites with links between them.
    pub fn bound(&self, shape: &Shape) -> Result<Option<Bound>, ChoiceError> {
        let Ok(layout) = self.platform.layout() else { return Ok(None) };
        let blocks = || -> Vec<u64> {
            let blocks = shape.blocks();
            (0..shape.ranks).map(|rank| blocks.len(rank)).collect()
        };
        let found = match shape.collective.family() {
            Collective::Scatter => bound::scatter(&layout, &self.hosts, shape.root, &blocks()),
            Collective::Gather => bound::gather(&layout, &self.hosts, shape.root, &blocks()),
            _ => return Ok(None),
        };
        found.map(Some).map_err(ChoiceError::Bound)
    }

    /// The schedule of an algorithm here.
    pub fn schedule(
        &self,
        shape: &Shape,
        algorithm: &Algorithm,
        params: &Params,
    ) -> Result<Box<dyn Schedule>, ChoiceError> {
        let schedule = algorithm.placed(shape, params, &self.placement);
        schedule.map_err(|refusal| ChoiceError::Nobody(refusal.0))
    }

    /// What an algorithm does and takes here, in the simulator.
    pub fn simulate(
        &self,
        shape: &Shape,
        algorithm: &Algorithm,
        params: &Params,
    ) -> Result<Outcome, ChoiceError> {
        let outcome = self.simulate_within(shape, algorithm, params, f64::INFINITY)?;
        outcome.ok_or_else(|| ChoiceError::Call("it never ends".into()))
    }

    /// Nothing where it takes longer than so many seconds: the rest is not simulated then.
    fn simulate_within(
        &self,
        shape: &Shape,
        algorithm: &Algorithm,
        params: &Params,
        seconds: f64,
    ) -> Result<Option<Outcome>, ChoiceError> {
        let schedule = self.schedule(shape, algorithm, params)?;
        let simulation = Simulation::new(self.platform).placed(&self.hosts).within(seconds);
        match simulation.run(&*schedule) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(SimError::Limit { .. }) => Ok(None),
            Err(error) => Err(ChoiceError::Call(error.to_string())),
        }
    }

    /// The fastest algorithm for a call, with the parameters that make it so.
    pub fn choose(&self, shape: &Shape) -> Result<Choice, ChoiceError> {
        if shape.ranks != self.placement.ranks() {
            let (ranks, placed) = (shape.ranks, self.placement.ranks());
            return Err(ChoiceError::Call(format!("a call of {ranks} ranks, {placed} are placed")));
        }
        let mut search =
            Search { sites: self, shape, bound: self.bound(shape)?, simulated: 0, messages: 0 };
        let mut all = search.first_look()?;
        let fastest = |all: &[Candidate]| {
            all.iter().map(|candidate| candidate.time).fold(f64::INFINITY, f64::min)
        };
        // Without a bound to reach, the search may end before all are tuned: the fastest begins.
        match search.bound {
            Some(_) => all.sort_by_key(Candidate::demand),
            None => all.sort_by(|a, b| a.time.total_cmp(&b.time)),
        }
        for at in 0..all.len() {
            let is_promising = all[at].time <= PROMISING * fastest(&all);
            if is_promising && !search.is_enough(fastest(&all[..at])) {
                all[at] = search.tuned(all[at].clone())?;
            }
        }
        let equal = EQUAL * fastest(&all);
        let equals = all.iter().filter(|candidate| candidate.time <= equal).cloned().collect();
        let Some(best) = search.best_of(equals, equal)? else {
            return Err(ChoiceError::Nobody("there is none".into()));
        };
        all.sort_by(|a, b| a.time.total_cmp(&b.time));
        Ok(Choice { best, all, bound: search.bound, simulated: search.simulated })
    }
}

/// A search for one call.
struct Search<'s, 'a> {
    sites: &'s Sites<'a>,
    shape: &'s Shape,
    bound: Option<Bound>,
    simulated: u32,
    messages: u64,
}

impl Search<'_, '_> {
    /// Whether nothing can be much better.
    fn reaches(&self, time: f64) -> bool {
        self.bound.as_ref().is_some_and(|bound| time <= NEAR_ENOUGH * bound.time)
    }

    /// Whether the search is over.
    fn is_enough(&self, time: f64) -> bool {
        self.reaches(time) || self.messages > MOST_MESSAGES
    }

    fn try_out(&mut self, algorithm: &'static Algorithm, params: Params) -> Attempt {
        self.simulated += 1;
        let outcome = self.sites.simulate(self.shape, algorithm, &params)?;
        Ok(self.candidate(algorithm, params, &outcome))
    }

    fn candidate(
        &mut self,
        algorithm: &'static Algorithm,
        params: Params,
        outcome: &Outcome,
    ) -> Candidate {
        let Outcome { finish: time, bytes, messages, .. } = *outcome;
        self.messages += messages;
        Candidate { algorithm, params, time, bytes, messages }
    }

    /// Another setting, if it serves the call and takes at most so many seconds.
    fn try_within(
        &mut self,
        one: &Candidate,
        parameter: Parameter,
        value: u64,
        seconds: f64,
    ) -> Result<Option<Candidate>, ChoiceError> {
        self.simulated += 1;
        let (algorithm, params) = (one.algorithm, one.params.with(parameter, value));
        match self.sites.simulate_within(self.shape, algorithm, &params, seconds) {
            Ok(Some(outcome)) => Ok(Some(self.candidate(algorithm, params, &outcome))),
            Ok(None) => {
                // About as much of it was simulated as would have been of the other.
                self.messages += one.messages;
                Ok(None)
            }
            Err(ChoiceError::Nobody(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every algorithm as it is.
    fn first_look(&mut self) -> Result<Vec<Candidate>, ChoiceError> {
        let (mut all, mut refusals) = (Vec::new(), Vec::new());
        for algorithm in algorithms(self.shape.collective) {
            let mut params = algorithm.defaults();
            // The first of their values are those to begin with.
            for parameter in [Parameter::Segment, Parameter::Own] {
                if let Some(value) = self.ladder(algorithm, parameter).first() {
                    params = params.with(parameter, *value);
                }
            }
            match self.try_out(algorithm, params) {
                Ok(candidate) => all.push(candidate),
                Err(ChoiceError::Nobody(why)) => refusals.push(why),
                Err(error) => return Err(error),
            }
        }
        match all.is_empty() {
            true => Err(ChoiceError::Nobody(refusals.join("; "))),
            false => Ok(all),
        }
    }

    /// Of those that are equally fast, the one that asks least. But nobody knows exactly which
    /// messages a library sends eagerly: among calls that rest on it, the one that is fastest if
    /// none is, with any window that is as good if all are.
    fn best_of(
        &mut self,
        mut equals: Vec<Candidate>,
        equal: f64,
    ) -> Result<Option<Candidate>, ChoiceError> {
        let longest = self.shape.blocks().longest(self.shape.ranks);
        let platform = self.sites.platform;
        let all_are_eager = longest <= platform.eager_bytes() && platform.eager_bytes() > 0;
        if !all_are_eager || self.messages > MOST_MESSAGES {
            return Ok(equals.into_iter().min_by_key(Candidate::demand));
        }
        for at in 0..equals.len() {
            let one = equals[at].clone();
            for value in self.ladder(one.algorithm, Parameter::Window) {
                equals.extend(self.try_within(&one, Parameter::Window, value, equal)?);
            }
        }
        let late = platform.without_eager();
        let (hosts, placement) = (self.sites.hosts.clone(), self.sites.placement.clone());
        let late = Sites { platform: &late, hosts, placement };
        equals.sort_by_key(Candidate::demand);
        let mut best: Option<(f64, Candidate)> = None;
        for one in equals {
            let most = best.as_ref().map_or(f64::INFINITY, |(time, _)| time / EQUAL);
            self.simulated += 1;
            let outcome = late.simulate_within(self.shape, one.algorithm, &one.params, most)?;
            if let Some(outcome) = outcome {
                best = Some((outcome.finish, one));
            }
        }
        Ok(best.map(|(_, one)| one))
    }

    /// The parameters that make it fastest, with as few transfers under way as do the same.
    fn tuned(&mut self, first: Candidate) -> Attempt {
        let mut best = self.climbed(first)?;
        let bound = self.bound.as_ref().map_or(0.0, |bound| NEAR_ENOUGH * bound.time);
        let equal = bound.max(best.time / GAIN);
        for parameter in [Parameter::Window, Parameter::Near, Parameter::Lanes] {
            let most = best.params.get(parameter);
            for value in self.ladder(best.algorithm, parameter) {
                if !(1..most).contains(&value) {
                    continue;
                }
                if let Some(other) = self.try_within(&best, parameter, value, equal)? {
                    best = other;
                    break;
                }
            }
        }
        Ok(best)
    }

    /// One parameter after the other, while a step helps.
    fn climbed(&mut self, mut best: Candidate) -> Attempt {
        for _ in 0..SWEEPS {
            let before = best.time;
            for (parameter, _) in best.algorithm.parameters {
                for value in self.ladder(best.algorithm, *parameter) {
                    if value == best.params.get(*parameter) {
                        continue;
                    }
                    let better = GAIN * best.time;
                    if let Some(other) = self.try_within(&best, *parameter, value, better)? {
                        best = other;
                    }
                    if self.is_enough(best.time) {
                        return Ok(best);
                    }
                }
            }
            if best.time >= GAIN * before {
                break;
            }
        }
        Ok(best)
    }

    /// The values of a parameter that are tried.
    fn ladder(&self, algorithm: &Algorithm, parameter: Parameter) -> Vec<u64> {
        if !algorithm.parameters.iter().any(|(one, _)| *one == parameter) {
            return Vec::new();
        }
        let ranks = u64::from(self.shape.ranks);
        let root = self.shape.root.min(self.shape.ranks - 1);
        let near = self.sites.placement.neighbours(root).len() as u64;
        let powers = |most: u64| (0..63).map(|k| 1 << k).take_while(move |power| *power < most);
        match parameter {
            Parameter::Window => {
                let halves = powers(ranks).map(|power| 3 * power).filter(|window| *window < ranks);
                let mut windows: Vec<u64> = powers(ranks).chain(halves).chain([ranks]).collect();
                windows.sort_unstable();
                windows
            }
            Parameter::Lanes => powers(near).chain([0]).collect(),
            Parameter::Near => [0].into_iter().chain(powers(2 * near)).collect(),
            Parameter::Own => {
                let fitting = self.fitting_share();
                vec![fitting, fitting.saturating_sub(2), fitting + 2, 0, 50]
            }
            Parameter::Radix => vec![2, 3, 4, 8],
            Parameter::Segment => {
                let longest = self.shape.blocks().longest(self.shape.ranks);
                let least = longest.div_ceil(MOST_PIECES).max(1).next_power_of_two().max(16 << 10);
                // Pieces up to the eager limit need no answer before they leave.
                let eager = self.sites.platform.eager_bytes().max(1);
                let mut sizes = [4, 1, 16, 64].map(|times| times * least).to_vec();
                sizes.extend((eager < longest && longest / eager <= MOST_EAGER).then_some(eager));
                sizes
            }
        }
    }
}

impl Search<'_, '_> {
    /// Hundredths of what crosses that the root's own card for other sites carries in time.
    fn fitting_share(&self) -> u64 {
        let (sites, shape) = (self.sites, self.shape);
        let layout = sites.platform.layout().ok();
        let host =
            layout.as_ref().map(|layout| &layout.hosts[sites.hosts[shape.root as usize] as usize]);
        let card =
            host.and_then(|host| host.wan_card).and_then(|card| match shape.collective.family() {
                Collective::Gather => card.into,
                _ => card.out,
            });
        let (Some(rate), Some(bound)) = (card, &self.bound) else { return USUAL_SHARE };
        let near = sites.placement.location(shape.root).site;
        let blocks = shape.blocks();
        let far = (0..shape.ranks).filter(|rank| sites.placement.location(*rank).site != near);
        let bytes: u64 = far.map(|rank| blocks.len(rank)).sum();
        let latency = layout.as_ref().map_or(0.0, |layout| {
            layout.ways.iter().map(|way| way.latency).fold(f64::INFINITY, f64::min)
        });
        let share = 100.0 * rate * (bound.time - latency) / bytes.max(1) as f64;
        share.clamp(0.0, 98.0) as u64
    }
}

type Attempt = Result<Candidate, ChoiceError>;
