//! What is chosen for a call on a platform, what else was tried, and what nothing can beat.

use std::fmt;

use laneway_coll::{Algorithm, Parameter, Params, find};
use laneway_core::{Collective, Placement, Schedule, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{HostId, Outcome, SimError, Simulation};

use crate::bound::{self, Bound, BoundError};

/// An algorithm with its parameters, and what the simulator says it takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub params: Params,
    /// Seconds.
    pub time: f64,
    /// What all ranks send, relays included.
    pub bytes: u64,
    /// How many messages that is.
    pub messages: u64,
    /// Whether the time is an estimate, of runs that are too much work: of the rate at which a part
    /// of it goes on, or of a coarse simulation.
    pub part_of_run: bool,
    /// The whole run is too much work.
    pub(crate) unconfirmed: bool,
    /// Its simulation was a coarse one.
    pub(crate) is_coarse: bool,
}

impl Candidate {
    /// The name with its parameters.
    pub fn spelled(&self) -> String {
        self.algorithm.spelled(&self.params)
    }

    /// All of it as a text, for other ranks.
    pub(crate) fn written(&self) -> String {
        let Candidate { time, bytes, messages, part_of_run, .. } = self;
        let (part, time) = (u8::from(*part_of_run), time.to_bits());
        format!("{} {time} {bytes} {messages} {part}", self.spelled())
    }

    /// What [`Candidate::written`] wrote.
    pub(crate) fn read(collective: Collective, text: &str) -> Result<Candidate, ChoiceError> {
        let wrong = || ChoiceError::Call(format!("`{text}` is not a choice"));
        let mut words = text.split(' ');
        let spelled = words.next().ok_or_else(wrong)?;
        let (algorithm, params) = find(collective, spelled).map_err(|_| wrong())?;
        let numbers: Vec<u64> = words.flat_map(str::parse).collect();
        let [time, bytes, messages, part] = numbers[..] else { return Err(wrong()) };
        let (time, part_of_run) = (f64::from_bits(time), part != 0);
        let (unconfirmed, is_coarse) = (part_of_run, false);
        Ok(Candidate {
            algorithm,
            params,
            time,
            bytes,
            messages,
            part_of_run,
            unconfirmed,
            is_coarse,
        })
    }

    /// What it asks of hosts and network: bytes, messages, and how many sends of a rank may be
    /// under way at once, which is all of them where nothing limits it. Simulated links part fairly
    /// whatever comes; real ones lose packets when too much comes at once.
    pub(crate) fn demand(&self) -> (u64, u64, u64) {
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
#[non_exhaustive]
pub struct Choice {
    /// The fastest.
    pub best: Candidate,
    /// The best setting of each algorithm that may be the fastest, the fastest first; from
    /// [`Sites::choose_all`] of every algorithm.
    pub all: Vec<Candidate>,
    /// None for collectives without one.
    pub bound: Option<Bound>,
    /// How many schedules were simulated.
    pub simulated: u32,
    /// How much work that was, in units of the simulator ([`Effort`](laneway_sim::Effort)), which
    /// are equal on any machine.
    pub work: u64,
    /// Algorithms that were too much work to simulate, one of which may be faster.
    pub unsearched: Vec<&'static str>,
}

/// Why there is no choice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No algorithm serves the call.
    Unserved(String),
    /// The lower bound could not be computed.
    Bound(BoundError),
    /// The platform or the call makes no sense.
    Call(String),
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoiceError::Unserved(why) => write!(f, "no algorithm serves this call: {why}"),
            ChoiceError::Bound(error) => error.fmt(f),
            ChoiceError::Call(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ChoiceError {}

/// Where ranks are, and the platform that they are on: makes choices for calls.
#[derive(Clone, Debug)]
pub struct Sites<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) hosts: Vec<HostId>,
    pub(crate) placement: Placement,
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

    /// Where the ranks are.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// A lower bound for any scatter or gather; none for other collectives, and for platforms with
    /// routes of their own. Costs, clocks, traffic of others and switches only make it weaker.
    pub fn bound(&self, shape: &Shape) -> Result<Option<Bound>, ChoiceError> {
        let Ok(layout) = self.platform.widest_layout() else { return Ok(None) };
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

    /// The least time in which a vector reaches the farthest ranks from where it is, for broadcasts
    /// and reductions of a vector; 0 for other collectives. One rank of each site is looked at: the
    /// slowest.
    pub(crate) fn least_of_vector(&self, shape: &Shape) -> f64 {
        let Ok(layout) = self.platform.widest_layout() else { return 0.0 };
        let slowest = |site: u32| {
            let members = self.placement.members(site).iter().copied();
            members.min_by_key(|rank| self.placement.speed(*rank)).unwrap_or(0)
        };
        let ends = (0..self.placement.sites()).map(slowest);
        let pairs: Vec<(u32, u32)> = match shape.collective.family() {
            Collective::Bcast => ends.map(|end| (shape.root, end)).collect(),
            Collective::Reduce => ends.map(|end| (end, shape.root)).collect(),
            Collective::Allreduce => {
                let pairs = ends.clone().flat_map(|from| ends.clone().map(move |to| (from, to)));
                pairs.collect()
            }
            _ => Vec::new(),
        };
        let least = |(from, to): (u32, u32)| {
            let mut blocks = vec![0; shape.ranks as usize];
            blocks[to as usize] = shape.vector();
            let bound = bound::scatter(&layout, &self.hosts, from, &blocks);
            bound.map_or(0.0, |bound| bound.time)
        };
        pairs.into_iter().map(least).fold(0.0, f64::max)
    }

    /// The schedule of an algorithm here.
    pub fn schedule(
        &self,
        shape: &Shape,
        algorithm: &Algorithm,
        params: &Params,
    ) -> Result<Box<dyn Schedule>, ChoiceError> {
        let schedule = algorithm.placed(shape, params, &self.placement);
        schedule.map_err(|refusal| ChoiceError::Unserved(refusal.0))
    }

    /// What an algorithm does and takes here, in the simulator.
    pub fn simulate(
        &self,
        shape: &Shape,
        algorithm: &Algorithm,
        params: &Params,
    ) -> Result<Outcome, ChoiceError> {
        let schedule = self.schedule(shape, algorithm, params)?;
        let outcome = self.run_within(&*schedule, f64::INFINITY)?;
        outcome.ok_or_else(|| ChoiceError::Call("it never ends".into()))
    }

    /// Nothing if it takes longer than this number of seconds: the rest is not simulated then.
    pub(crate) fn run_within(
        &self,
        schedule: &dyn Schedule,
        seconds: f64,
    ) -> Result<Option<Outcome>, ChoiceError> {
        let simulation = Simulation::new(self.platform).placed(&self.hosts).within(seconds);
        match simulation.run(schedule) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(SimError::Limit { .. }) => Ok(None),
            Err(error) => Err(ChoiceError::Call(error.to_string())),
        }
    }
}
