//! The fastest schedule for a call on a platform: candidates are simulated, and the best is taken.
//!
//! A closed formula knows one algorithm on one kind of network. Simulating a schedule of 64 ranks
//! takes a fraction of a millisecond, and knows what shares what. Every algorithm of the registry
//! is tried as it is; those that look promising are tuned, one parameter at a time until no step
//! helps. Where a lower bound is known, those that move the fewest bytes come first, and who
//! reaches it ends the search; elsewhere the fastest come first, until enough was simulated. Of two
//! that are equally fast, the one that asks less of hosts and network is better where the simulator
//! is wrong.

use laneway_coll::{Algorithm, Parameter, Params, algorithms, order_matters};
use laneway_core::{Shape, Stage};
use laneway_sim::platform::Layout;
use laneway_sim::{Network, Outcome};

use crate::bound::Bound;
use crate::choose::{Candidate, Choice, ChoiceError, Sites};
use crate::fit::Call;
use crate::load;

/// What is so much above the bound need not be made better.
const NEAR_ENOUGH: f64 = 1.005;
/// What is so much slower than the best as it is, is not tuned.
const PROMISING: f64 = 3.0;
/// A step of tuning must gain so much.
const GAIN: f64 = 0.999;
/// Candidates this near to each other count as equally fast.
const EQUAL: f64 = 1.005;
/// Relays at third sites are tried where the bound without them is so much higher.
const GAINFUL: f64 = 1.01;
/// So many times all parameters are gone through.
const SWEEPS: usize = 3;
/// The largest number of pieces of a block.
const MOST_PIECES: u64 = 16;
/// But into none shorter than this.
const LEAST_SEGMENT: u64 = 4 << 10;
/// The same for pieces that fit the eager limit.
const MOST_EAGER: u64 = 64;
/// The number of simulated messages after which nothing is tuned any more.
const MOST_MESSAGES: u64 = 60_000;
/// The same where a bound is known: settings that fit the platform come near it at once.
const MOST_WITH_BOUND: u64 = 30_000;

impl Sites<'_> {
    /// The fastest algorithm for a call, with the parameters that make it so.
    pub fn choose(&self, shape: &Shape) -> Result<Choice, ChoiceError> {
        self.choose_observed(shape, &Stage::new(&(), "", 0))
    }

    /// The same; two steps of the stage are done for each algorithm of the operation.
    pub(crate) fn choose_observed(
        &self,
        shape: &Shape,
        stage: &Stage,
    ) -> Result<Choice, ChoiceError> {
        if shape.ranks != self.placement.ranks() {
            let (ranks, placed) = (shape.ranks, self.placement.ranks());
            return Err(ChoiceError::Call(format!("a call of {ranks} ranks, {placed} are placed")));
        }
        Search::new(self, shape)?.choose(stage)
    }
}

/// A search for one call.
struct Search<'s, 'a> {
    sites: &'s Sites<'a>,
    shape: &'s Shape,
    bound: Option<Bound>,
    layout: Option<Layout>,
    /// Whether ranks are in another order than their sites and hosts.
    order_matters: bool,
    /// Seconds that nothing can beat; 0 where nobody knows.
    least: f64,
    simulated: u32,
    messages: u64,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(sites: &'s Sites<'a>, shape: &'s Shape) -> Result<Search<'s, 'a>, ChoiceError> {
        let (bound, layout) = (sites.bound(shape)?, sites.platform.layout().ok());
        let order_matters = order_matters(shape, &sites.placement);
        let (least, simulated, messages) = (0.0, 0, 0);
        let mut search =
            Search { sites, shape, bound, layout, order_matters, least, simulated, messages };
        search.least = search.call().map_or(0.0, |call| call.least_time());
        Ok(search)
    }

    /// Two steps of the stage are done for each algorithm of the operation.
    fn choose(mut self, stage: &Stage) -> Result<Choice, ChoiceError> {
        let mut all = self.first_look(stage)?;
        let fastest = |all: &[Candidate]| {
            all.iter().map(|candidate| candidate.time).fold(f64::INFINITY, f64::min)
        };
        // Without a bound to reach, the search may end before all are tuned: the fastest begins.
        match self.bound {
            Some(_) => all.sort_by_key(Candidate::demand),
            None => all.sort_by(|a, b| a.time.total_cmp(&b.time)),
        }
        for at in 0..all.len() {
            let is_promising = all[at].time <= PROMISING * fastest(&all);
            if is_promising && !self.is_enough(fastest(&all[..at])) {
                all[at] = self.tuned(all[at].clone())?;
            }
            stage.step();
        }
        let equal = EQUAL * fastest(&all);
        let equals = all.iter().filter(|candidate| candidate.time <= equal).cloned().collect();
        let Some(best) = self.best_of(equals, equal)? else {
            return Err(ChoiceError::Unserved("there is none".into()));
        };
        all.sort_by(|a, b| a.time.total_cmp(&b.time));
        Ok(Choice { best, all, bound: self.bound, simulated: self.simulated })
    }

    /// Whether nothing can be much better.
    fn reaches(&self, time: f64) -> bool {
        time <= NEAR_ENOUGH * self.least
    }

    /// Whether the search is over.
    fn is_enough(&self, time: f64) -> bool {
        self.reaches(time) || self.is_spent()
    }

    /// Whether enough was simulated.
    fn is_spent(&self) -> bool {
        let most = if self.bound.is_some() { MOST_WITH_BOUND } else { MOST_MESSAGES };
        self.messages > most
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

    /// Another setting, if it serves the call and takes at most this number of seconds.
    fn try_within(
        &mut self,
        one: &Candidate,
        params: Params,
        seconds: f64,
    ) -> Result<Option<Candidate>, ChoiceError> {
        let schedule = match self.sites.schedule(self.shape, one.algorithm, &params) {
            Ok(schedule) => schedule,
            Err(ChoiceError::Unserved(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if load::least_time(self.sites.platform, &self.sites.hosts, &*schedule) > seconds {
            return Ok(None);
        }
        self.simulated += 1;
        match self.sites.run_within(&*schedule, seconds)? {
            Some(outcome) => Ok(Some(self.candidate(one.algorithm, params, &outcome))),
            None => {
                // About as much of it was simulated as would have been of the other.
                self.messages += one.messages;
                Ok(None)
            }
        }
    }

    /// Every algorithm as it is.
    fn first_look(&mut self, stage: &Stage) -> Result<Vec<Candidate>, ChoiceError> {
        let (mut all, mut refusals) = (Vec::new(), Vec::new());
        for algorithm in algorithms(self.shape.collective) {
            let mut params = algorithm.defaults();
            params = self.fitting(algorithm, params).unwrap_or(params);
            // The first value is the one to begin with.
            for parameter in [Parameter::Segment, Parameter::Order, Parameter::Fan] {
                if let Some(value) = self.ladder(algorithm, parameter).first() {
                    params = params.with(parameter, *value);
                }
            }
            if !self.gains_by(algorithm) {
                refusals.push("third sites gain nothing".into());
                stage.step();
                stage.step();
                continue;
            }
            match self.try_out(algorithm, params) {
                Ok(candidate) => all.push(self.or_as_it_is(candidate)?),
                Err(ChoiceError::Unserved(why)) => {
                    // It is not tuned either.
                    stage.step();
                    refusals.push(why);
                }
                Err(error) => return Err(error),
            }
            stage.step();
        }
        match all.is_empty() {
            true => Err(ChoiceError::Unserved(refusals.join("; "))),
            false => Ok(all),
        }
    }

    /// The algorithm with the settings that it has by itself, where these are faster.
    fn or_as_it_is(&mut self, begun: Candidate) -> Attempt {
        let params = begun.algorithm.defaults();
        if params == begun.params {
            return Ok(begun);
        }
        let faster = self.try_within(&begun, params, GAIN * begun.time)?;
        Ok(faster.unwrap_or(begun))
    }

    /// Of those that are equally fast, the one that asks least. But it is not known exactly which
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
        if !all_are_eager || self.is_spent() {
            return Ok(equals.into_iter().min_by_key(Candidate::demand));
        }
        for at in 0..equals.len() {
            let one = equals[at].clone();
            for value in self.ladder(one.algorithm, Parameter::Window) {
                let params = one.params.with(Parameter::Window, value);
                equals.extend(self.try_within(&one, params, equal)?);
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
            let schedule = late.schedule(self.shape, one.algorithm, &one.params)?;
            if let Some(outcome) = late.run_within(&*schedule, most)? {
                best = Some((outcome.finish, one));
            }
        }
        Ok(best.map(|(_, one)| one))
    }

    /// The parameters that make it fastest, with as few transfers under way as do the same.
    fn tuned(&mut self, first: Candidate) -> Attempt {
        let fitting = self.fitting(first.algorithm, first.params);
        let fitted = match fitting.filter(|params| *params != first.params) {
            Some(params) => self.try_within(&first, params, GAIN * first.time)?,
            None => None,
        };
        // Fitting settings need all that they have under way.
        let fewer: &[Parameter] = match fitted.is_some() {
            true => &[],
            false => &[Parameter::Window, Parameter::Near, Parameter::Lanes],
        };
        let mut best = self.climbed(fitted.unwrap_or(first))?;
        let equal = f64::max(NEAR_ENOUGH * self.least, best.time / GAIN);
        for &parameter in fewer {
            let most = best.params.get(parameter);
            for value in self.ladder(best.algorithm, parameter) {
                if !(1..most).contains(&value) || self.is_spent() {
                    continue;
                }
                let params = best.params.with(parameter, value);
                if let Some(other) = self.try_within(&best, params, equal)? {
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
                    if self.is_enough(best.time) {
                        return Ok(best);
                    }
                    if value == best.params.get(*parameter) {
                        continue;
                    }
                    let better = GAIN * best.time;
                    let params = best.params.with(*parameter, value);
                    if let Some(other) = self.try_within(&best, params, better)? {
                        best = other;
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
                let own = self.fitting(algorithm, algorithm.defaults());
                let own = own.map_or(100, |params| params.get(Parameter::Own));
                vec![own, own.saturating_sub(10), own + 10, 0, 500, 1000]
            }
            Parameter::Connections => {
                let most = u64::from(self.sites.platform.connections());
                powers(most).chain([most]).collect()
            }
            Parameter::Stripes => vec![1, 2, 4, 8, 16],
            Parameter::Fan if self.sites.placement.sites() < 3 => Vec::new(),
            Parameter::Fan => {
                let others = u64::from(self.sites.placement.sites()) - 1;
                [1, 0, 2, 3].into_iter().filter(|fan| *fan < others).chain([others]).collect()
            }
            Parameter::Order if self.order_matters => vec![1, 0],
            Parameter::Order => Vec::new(),
            Parameter::Radix => vec![2, 3, 4, 8],
            Parameter::Segment => {
                let longest = self.shape.blocks().longest(self.shape.ranks);
                let least =
                    longest.div_ceil(MOST_PIECES).max(1).next_power_of_two().max(LEAST_SEGMENT);
                // Pieces up to the eager limit need no answer before they leave.
                let eager = self.sites.platform.eager_bytes().max(1);
                let mut sizes = [4, 1, 16, 64].map(|times| times * least).to_vec();
                sizes.extend((eager < longest && longest / eager <= MOST_EAGER).then_some(eager));
                sizes
            }
            // One that came later has the algorithm's own value.
            _ => Vec::new(),
        }
    }
}

impl Search<'_, '_> {
    /// Whether relays at third sites gain anything, for algorithms that have them.
    fn gains_by(&self, algorithm: &Algorithm) -> bool {
        let help = || match &self.bound {
            Some(bound) => bound.direct > GAINFUL * bound.time,
            None => self.sites.placement.has_detours(),
        };
        algorithm.name != "third-site" || help()
    }

    /// The settings of an algorithm that fit the platform's rates, if anybody can tell.
    fn fitting(&self, algorithm: &Algorithm, params: Params) -> Option<Params> {
        algorithm.parameters.iter().find(|(one, _)| *one == Parameter::Stripes)?;
        self.call()?.relay(params)
    }

    fn call(&self) -> Option<Call<'_>> {
        let (platform, hosts) = (self.sites.platform, &self.sites.hosts[..]);
        let (layout, bound) = (self.layout.as_ref()?, self.bound.as_ref()?);
        Some(Call { platform, layout, hosts, shape: self.shape, bound })
    }
}

type Attempt = Result<Candidate, ChoiceError>;
