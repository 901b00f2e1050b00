//! The fastest schedule for a call on a platform: candidates are simulated, and the best is taken.
//!
//! A closed formula knows one algorithm on one kind of network. A simulated schedule of 64 ranks
//! takes a fraction of a millisecond, and knows what shares what. The search is a race in rounds,
//! each with more work per setting than the one before:
//!
//! 1. `look.rs`: every algorithm with two or three values of each parameter gets an estimate from
//!    the load of its busiest part and from one simulated piece.
//! 2. `race.rs`: the settings are simulated, the lowest estimate first, each no further than a
//!    multiple of the best time so far.
//! 3. `climb.rs`: steps of one parameter, and of two at once, from the fastest settings.
//! 4. `draw.rs`: settings drawn at random of the algorithms that are near the best.
//!
//! The search ends at a known lower bound, or when its work is spent. Work is counted in units of
//! the simulator, so that a choice is the same on any machine. Of two settings that are equally
//! fast, the one that demands less of hosts and network is better where the simulator is wrong.

mod climb;
mod draw;
mod look;
mod race;
mod trial;
mod values;
mod windows;

use laneway_coll::{Algorithm, Parameter, Params, orders};
use laneway_core::{Shape, Stage};
use laneway_sim::Network;
use laneway_sim::platform::Layout;

use crate::bound::Bound;
use crate::choose::{Candidate, Choice, ChoiceError, Sites};
use crate::fit::Call;
use trial::Tried;

/// A time this near to the bound need not be improved.
const NEAR_ENOUGH: f64 = 1.005;
/// A step must gain this much.
const GAIN: f64 = 0.999;
/// Candidates this near to each other count as equally fast.
const EQUAL: f64 = 1.005;
/// So do these of a scatter or a gather whose messages are all eager as far as is known: a setting
/// that does not rest on that is better.
const EQUAL_IF_EAGER: f64 = 1.02;
/// Transfers may end early by this part in simulations of the search; what is near the best is
/// simulated exactly in the end.
const COARSE: f64 = 0.02;
/// Relays at third sites are tried where the bound without them is this much higher.
const GAINFUL: f64 = 1.005;

/// Segments that are this many times doubled are tried against the cost of a rendezvous.
const MOST_DOUBLINGS: u32 = 6;

/// Work for a call of up to 64 ranks with one source or one result.
const WORK: u64 = 3_000_000;
/// The ranks that this work is for; more ranks get more in proportion.
const WORK_RANKS: u64 = 64;
/// Calls in which every rank sends to every rank get so many times as much.
const WORK_OF_ALL: u64 = 3;
/// No call gets more than this.
const MOST_WORK: u64 = 100_000_000;

/// An algorithm with values for its parameters.
#[derive(Clone, Copy, PartialEq)]
struct Setting {
    algorithm: &'static Algorithm,
    params: Params,
}

impl Setting {
    fn has(&self, parameter: Parameter) -> bool {
        self.algorithm.parameters.iter().any(|(one, _)| *one == parameter)
    }

    fn with(&self, parameter: Parameter, value: u64) -> Setting {
        Setting { algorithm: self.algorithm, params: self.params.with(parameter, value) }
    }

    fn of(candidate: &Candidate) -> Setting {
        Setting { algorithm: candidate.algorithm, params: candidate.params }
    }
}

impl Sites<'_> {
    /// The fastest algorithm for a call, with the parameters that make it so.
    pub fn choose(&self, shape: &Shape) -> Result<Choice, ChoiceError> {
        self.choose_observed(shape, false, &Stage::new(&(), "", 0))
    }

    /// The same, with the time of every algorithm that serves the call, however slow.
    pub fn choose_all(&self, shape: &Shape) -> Result<Choice, ChoiceError> {
        self.choose_observed(shape, true, &Stage::new(&(), "", 0))
    }

    /// The fastest algorithm that is found with so much work of the simulator: see
    /// [`Choice::work`].
    pub fn choose_with(&self, shape: &Shape, work: u64) -> Result<Choice, ChoiceError> {
        let mut search = Search::new(self, shape, false)?;
        search.work = work;
        search.choose(&Stage::new(&(), "", 0))
    }

    /// The same; two steps of the stage are done for each algorithm of the operation.
    pub(crate) fn choose_observed(
        &self,
        shape: &Shape,
        all: bool,
        stage: &Stage,
    ) -> Result<Choice, ChoiceError> {
        Search::new(self, shape, all)?.choose(stage)
    }
}

/// A search for one call.
struct Search<'s, 'a> {
    sites: &'s Sites<'a>,
    shape: &'s Shape,
    bound: Option<Bound>,
    layout: Option<Layout>,
    /// The orders of the ranks that differ.
    orders: Vec<u64>,
    /// A lower bound in seconds; 0 if none is known.
    least: f64,
    /// The lowest floor of the settings of the first look. Steps may lead below it.
    lowest_floor: f64,
    /// Whether every algorithm is simulated, however slow.
    all: bool,
    simulated: u32,
    /// Units of the simulator's work: spent, and allowed.
    spent: u64,
    work: u64,
    /// The most units for one run.
    cap: u64,
    /// The ranks of the largest site, and the largest latency between two ranks.
    largest_site: u64,
    farthest: f64,
    /// How coarse simulations are: 0 for exact ones.
    coarse: f64,
    tried: Vec<Tried>,
    runs: Vec<trial::WholeRun>,
    /// Algorithms whose windows have no effect while messages are eager.
    free_windows: Vec<&'static str>,
    /// The least work of a message that was seen for an algorithm.
    work_of_messages: Vec<(&'static str, f64)>,
    /// Whether the last setting that was tried is too much work.
    is_too_much: bool,
    /// Algorithms of which a part of a run does not tell the time of the whole.
    distrusted: Vec<&'static str>,
    refusals: Vec<String>,
    /// Algorithms with a setting that was too much work.
    unsearched: Vec<&'static str>,
    /// The time of the shortest turn of the algorithm that is looked at.
    shortest: Option<(&'static str, f64)>,
    /// The lowest estimate, if nothing could be simulated.
    fallback: Option<look::Entry>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(
        sites: &'s Sites<'a>,
        shape: &'s Shape,
        all: bool,
    ) -> Result<Search<'s, 'a>, ChoiceError> {
        if shape.ranks != sites.placement.ranks() {
            let (ranks, placed) = (shape.ranks, sites.placement.ranks());
            return Err(ChoiceError::Call(format!("a call of {ranks} ranks, {placed} are placed")));
        }
        let (bound, layout) = (sites.bound(shape)?, sites.platform.widest_layout().ok());
        let placement = &sites.placement;
        let largest = (0..placement.sites()).map(|site| placement.members(site).len() as u64);
        let mut search = Search {
            sites,
            shape,
            bound,
            layout,
            orders: orders(shape, &sites.placement),
            least: 0.0,
            lowest_floor: 0.0,
            all,
            simulated: 0,
            spent: 0,
            work: work(shape),
            cap: 0,
            largest_site: largest.max().unwrap_or(1),
            farthest: farthest(sites),
            coarse: 0.0,
            tried: Vec::new(),
            runs: Vec::new(),
            free_windows: Vec::new(),
            work_of_messages: Vec::new(),
            is_too_much: false,
            distrusted: Vec::new(),
            refusals: Vec::new(),
            unsearched: Vec::new(),
            shortest: None,
            fallback: None,
        };
        // Bounds are for exact times, and a call with one source is little work.
        if search.bound.is_none() {
            search.coarse = COARSE;
        }
        // Limits of connections that change may be higher later.
        search.least = match sites.platform.changes().is_empty() {
            true => match search.call() {
                Some(call) => call.least_time(),
                None => sites.least_of_vector(shape),
            },
            false => search.bound.as_ref().map_or(0.0, |bound| bound.time),
        };
        Ok(search)
    }

    /// Two steps of the stage are done for each algorithm of the operation.
    fn choose(mut self, stage: &Stage) -> Result<Choice, ChoiceError> {
        self.cap = self.work / 40;
        let entries = self.look(stage)?;
        // Vectors are also sent by schedules of many short messages: none may take all of the work.
        self.cap = self.work / 8;
        let mut found = self.race(entries)?;
        if found.is_empty() {
            return self.unsimulated();
        }
        self.cap = if self.bound.is_some() { self.work / 2 } else { self.work / 6 };
        self.climb(&mut found)?;
        self.cut_finer(&mut found)?;
        self.draw(&mut found)?;
        self.cap = self.work;
        self.confirm(&mut found)?;
        let fastest = found.iter().map(|one| one.time).fold(f64::INFINITY, f64::min);
        let rests_on_eager = self.bound.is_some() && self.all_are_eager();
        let near = if rests_on_eager { EQUAL_IF_EAGER } else { EQUAL };
        let equal = near * fastest;
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        let Some(best) = self.best_of(&found, equal)? else {
            return Err(ChoiceError::Unserved("there is none".into()));
        };
        for _ in laneway_coll::algorithms(self.shape.collective) {
            stage.step();
        }
        let mut all: Vec<Candidate> = Vec::new();
        for one in found {
            if all.iter().all(|other| other.algorithm != one.algorithm) {
                all.push(one);
            }
        }
        let is_known = |name: &&str| all.iter().any(|one| one.algorithm.name == *name);
        self.unsearched.retain(|name| !is_known(name));
        let Search { bound, simulated, unsearched, spent: work, .. } = self;
        Ok(Choice { best, all, bound, simulated, work, unsearched })
    }

    /// Whether nothing can be much better.
    fn reaches(&self, time: f64) -> bool {
        time <= NEAR_ENOUGH * self.least
    }

    /// Whether the search is over.
    fn is_enough(&self, time: f64) -> bool {
        self.reaches(time) || self.is_spent()
    }

    /// Whether the work is spent.
    fn is_spent(&self) -> bool {
        self.spent >= self.work
    }

    /// Whether relays at third sites gain anything, for an algorithm that has them.
    fn gains_by(&self, algorithm: &Algorithm) -> bool {
        let gains = || match &self.bound {
            Some(bound) => bound.direct > GAINFUL * bound.time,
            None => self.sites.placement.sites() > 2,
        };
        algorithm.name != "third-site" || gains()
    }

    /// The settings of an algorithm that fit the platform's rates, if they are known.
    fn fitting(&self, algorithm: &Algorithm, params: Params) -> Option<Params> {
        algorithm.parameters.iter().find(|(one, _)| *one == Parameter::Stripes)?;
        self.call()?.relay(params)
    }

    fn call(&self) -> Option<Call<'_>> {
        let (platform, hosts) = (self.sites.platform, &self.sites.hosts[..]);
        let (layout, bound) = (self.layout.as_ref()?, self.bound.as_ref()?);
        Some(Call { platform, layout, hosts, shape: self.shape, bound })
    }

    /// Whether no message of the call waits for its receive.
    fn all_are_eager(&self) -> bool {
        let longest = self.shape.blocks().longest(self.shape.ranks);
        let eager = self.sites.platform.eager_bytes();
        longest <= eager && eager > 0
    }

    /// Of equally fast candidates, the one that demands least. It is not known exactly which
    /// messages a library sends eagerly: if all messages of the call are eager, the candidate that
    /// is fastest without eager messages, with any window that is as good with them.
    fn best_of(
        &mut self,
        found: &[Candidate],
        equal: f64,
    ) -> Result<Option<Candidate>, ChoiceError> {
        let equals = found.iter().filter(|one| one.time <= equal);
        let mut equals: Vec<Candidate> = equals.cloned().collect();
        let platform = self.sites.platform;
        if !self.all_are_eager() || self.is_spent() {
            return Ok(equals.into_iter().min_by_key(Candidate::demand));
        }
        // Other windows follow, also of algorithms that are slower with the window they have: one
        // setting of each algorithm is enough.
        let mut firsts: Vec<Setting> = Vec::new();
        for one in found.iter().map(Setting::of) {
            if firsts.iter().all(|first| first.algorithm != one.algorithm) {
                firsts.push(one);
            }
        }
        for one in firsts.clone().iter().filter(|one| one.has(Parameter::Segment)) {
            let segments = (1..=MOST_DOUBLINGS).map(|times| one.params.segment() << times);
            firsts.extend(segments.map(|segment| one.with(Parameter::Segment, segment)));
        }
        for one in firsts.into_iter().filter(|one| one.has(Parameter::Window)) {
            let own = u64::from(one.params.window());
            for value in self.windows().into_iter().chain([own]) {
                equals.extend(self.attempt(one.with(Parameter::Window, value), equal)?);
            }
        }
        let late = platform.without_eager();
        let (hosts, placement) = (self.sites.hosts.clone(), self.sites.placement.clone());
        let late = Sites { platform: &late, hosts, placement };
        equals.sort_by_key(Candidate::demand);
        let mut best: Option<(f64, Candidate)> = None;
        for one in equals {
            let most = best.as_ref().map_or(f64::INFINITY, |(time, _)| time / EQUAL);
            let schedule = late.schedule(self.shape, one.algorithm, &one.params)?;
            if let trial::Run::Done(outcome) = self.run_on(&late, &*schedule, most)? {
                best = Some((outcome.finish, one));
            } else if best.is_none() {
                best = Some((f64::INFINITY, one));
            }
        }
        Ok(best.map(|(_, one)| one))
    }
}

/// The work that a call may be.
fn work(shape: &Shape) -> u64 {
    use laneway_core::Collective::{
        Allgather, Allreduce, Alltoall, Gather, ReduceScatter, Scatter,
    };
    let ranks = u64::from(shape.ranks).max(WORK_RANKS);
    let times = match shape.collective.family() {
        Allgather | Alltoall | ReduceScatter => WORK_OF_ALL,
        Allreduce | Scatter | Gather => 3,
        _ => 2,
    };
    (WORK * times * ranks / WORK_RANKS).min(MOST_WORK)
}

/// The largest latency from one rank to another, over one rank of each site.
fn farthest(sites: &Sites) -> f64 {
    let placement = &sites.placement;
    let mut route = laneway_sim::Route::default();
    let mut farthest = 0.0_f64;
    let mut add = |from: u32, to: u32| {
        let (from, to) = (sites.hosts[from as usize], sites.hosts[to as usize]);
        if from != to {
            sites.platform.route(from, to, &mut route);
            farthest = farthest.max(route.latency);
        }
    };
    // A platform without sites has as many as hosts.
    let count = placement.sites().min(64);
    for a in 0..count {
        let members = placement.members(a);
        add(members[0], members[members.len() - 1]);
        for b in (0..count).filter(|b| *b != a) {
            add(members[0], placement.members(b)[0]);
        }
    }
    farthest
}
