//! The cost model of the multi-lane paper for two sites: as printed, and with its slips corrected.
//!
//! A scatter over P lanes has three steps. The root feeds P - 1 helpers of its site, one after the
//! other; each helper, and the root after its last feed, sends its lane's blocks to its partner at
//! the far site as one message; partners serve their site, and the root the rest of its own.
//! Nothing waits for a whole step. paper: multilane 4.1, 4.2.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

pub use crate::rates::HostRates;

/// Times that differ by so small a part are equal: the same sums in another order.
const EQUAL: f64 = 1e-12;

/// Bytes a second that each of several pairs of hosts has between the sites, all at once.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub enum WanRate {
    /// The same for any number of pairs, as the paper's figures assume.
    Constant(f64),
    /// What one connection can have at most, and what all of them share.
    Shared { connection: f64, together: f64 },
    /// Measured with 1, 2, 3, … pairs.
    Measured(Vec<f64>),
}

impl WanRate {
    /// The rate of each of `lanes` lanes at once; `None` if it was not measured.
    pub fn each(&self, lanes: u32) -> Option<f64> {
        match self {
            _ if lanes == 0 => None,
            WanRate::Constant(rate) => Some(*rate),
            WanRate::Shared { connection, together } => {
                Some(connection.min(together / f64::from(lanes)))
            }
            WanRate::Measured(rates) => rates.get(lanes as usize - 1).copied(),
        }
    }
}

/// Two sites, a block for each host, and the root at the near one.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoSites {
    /// Hosts of the root's site, the root among them: n0.
    pub near: u32,
    /// Hosts of the other site: n1.
    pub far: u32,
    /// Bytes of a block: M.
    pub block: f64,
    /// Seconds between the sites: L.
    pub latency: f64,
    /// Seconds between two hosts of a site: l.
    pub lan_latency: f64,
    /// Seconds besides all transfers: alpha.
    pub overhead: f64,
    /// Bytes a second inside a site: b_LAN.
    pub lan: f64,
    /// Bytes a second of a lane: b(P).
    pub wan: WanRate,
    /// Hosts that are not as fast as `lan`; the paper's formula knows none.
    pub rates: HostRates,
}

/// How the time of P lanes is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The paper's formula, with what it forgets where the far site is the larger one.
    Printed,
    /// A root that sends one message at a time, lane by lane: when each is fed, how many are under
    /// way beside it, when its partner has served its site.
    Corrected,
    /// A root that goes on while its own lane drains: what its card, the last lane and the
    /// link between the sites need at least, the largest of them.
    Overlapped,
}

/// The parts of a time in the paper's table 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// All of it.
    pub total: f64,
    /// Until the data lies where the lanes take it from.
    pub prepare: f64,
    /// Between the sites.
    pub wan: f64,
    /// Within the far site.
    pub lan: f64,
}

/// The paper's table 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// With one lane.
    pub single_lane: Terms,
    /// With several.
    pub multi_lane: Terms,
}

/// A number of lanes, and the seconds that it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// How many lanes.
    pub lanes: u32,
    /// The seconds.
    pub time: f64,
}

/// Why there is no prediction; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// A site without hosts.
    Empty { near: u32, far: u32 },
    /// Fewer lanes than one, or more than pairs of hosts.
    Lanes { lanes: u32, most: u32 },
    /// A bandwidth that is not above 0.
    Rate { what: &'static str, rate: f64 },
    /// A size or time below 0.
    Negative { what: &'static str, value: f64 },
    /// A number of lanes whose rate was not measured.
    Unmeasured { lanes: u32 },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Empty { near, far } => {
                write!(f, "each site needs a host; the root's site has {near}, the other {far}")
            }
            ModelError::Lanes { lanes, most } => {
                write!(f, "{lanes} lanes; 1 to {most} are possible between these sites")
            }
            ModelError::Rate { what, rate } => {
                write!(f, "{what} must be above 0 bytes a second, not {rate}")
            }
            ModelError::Negative { what, value } => {
                write!(f, "{what} must be at least 0, not {value}")
            }
            ModelError::Unmeasured { lanes } => {
                write!(f, "the rate of each of {lanes} lanes at once was not measured")
            }
        }
    }
}

impl std::error::Error for ModelError {}

impl TwoSites {
    /// The most lanes there can be: pairs of hosts.
    pub fn most_lanes(&self) -> u32 {
        self.near.min(self.far)
    }

    /// The blocks of the longest lane: X.
    pub fn lane_blocks(&self, lanes: u32) -> Result<u32, ModelError> {
        self.check(lanes)?;
        Ok(self.far.div_ceil(lanes))
    }

    /// The blocks that follow each other inside the sites: Y. Overlapped has no such number, and
    /// gives that of the lane which ends last.
    pub fn lan_blocks(&self, form: Form, lanes: u32) -> Result<u64, ModelError> {
        let longest = u64::from(self.lane_blocks(lanes)?);
        let (near, far, lanes) = (u64::from(self.near), u64::from(self.far), u64::from(lanes));
        let fed = far - longest + lanes - 1;
        Ok(match form {
            Form::Printed if near >= far => near + far - 1 - longest,
            Form::Printed => far + lanes - 2,
            Form::Corrected => fed + (near - lanes).max(longest - 1),
            Form::Overlapped => fed + longest - 1,
        })
    }

    /// Seconds of a scatter over `lanes` lanes.
    pub fn time(&self, form: Form, lanes: u32) -> Result<f64, ModelError> {
        match form {
            Form::Printed => self.printed(lanes),
            Form::Corrected => self.corrected(lanes),
            Form::Overlapped => self.overlapped(lanes),
        }
    }

    /// The fastest number of lanes, the smallest of equals; every number is tried.
    pub fn best(&self, form: Form) -> Result<Choice, ModelError> {
        let mut best = Choice { lanes: 1, time: self.time(form, 1)? };
        for lanes in 2..=self.most_lanes() {
            let time = self.time(form, lanes)?;
            if time < best.time * (1.0 - EQUAL) {
                best = Choice { lanes, time };
            }
        }
        Ok(best)
    }

    /// paper: multilane 4.2: T(P) = L + X M / b(P) + Y M / b_LAN + alpha.
    pub fn printed(&self, lanes: u32) -> Result<f64, ModelError> {
        let wan = f64::from(self.lane_blocks(lanes)?) * self.block / self.each(lanes)?;
        let lan = self.lan_blocks(Form::Printed, lanes)? as f64 * self.lan_block();
        Ok(self.latency + wan + lan + self.overhead)
    }

    /// The critical path of a root that sends one message at a time; a send occupies it until its
    /// last byte has left, not until it has arrived.
    pub fn corrected(&self, lanes: u32) -> Result<f64, ModelError> {
        let longest = self.lane_blocks(lanes)?;
        // The root's lane is as long as any, which the paper's formula counts on as well; the
        // helpers part the rest, the first of them what is left over.
        let rest = self.far - longest;
        let fed = (0..lanes - 1).map(|lane| {
            let helpers = lanes - 1;
            rest / helpers + u32::from(lane < rest % helpers)
        });
        let mut last_feed = self.overhead;
        let mut starts: Vec<Start> = Vec::with_capacity(lanes as usize);
        for (number, blocks) in fed.enumerate() {
            let rate = self.rates.helper(number, self.lan);
            last_feed += f64::from(blocks + 1) * self.block / rate;
            starts.push(Start { at: last_feed + self.lan_latency, blocks, lane: number + 1 });
        }
        let own = Start { at: last_feed, blocks: longest, lane: 0 };
        // It may be the first: its message does not cross the LAN.
        let before = starts.partition_point(|lane| lane.at <= own.at);
        starts.insert(before, own);
        let ends = self.wan_ends(&starts)?;
        let served = |number: usize| {
            let Start { blocks, lane, .. } = starts[number];
            let slow = self.rates.far_delay(lane, lanes as usize, self.lan) * self.block;
            ends[number] + self.latency + self.serve(blocks - 1) + slow
        };
        let far = (0..starts.len()).map(served).fold(0.0, f64::max);
        Ok(far.max(ends[before] + self.serve(self.near - lanes) + self.slow_near(lanes)))
    }

    /// Seconds that the slow hosts of the root's site add to serving those that are no helpers.
    fn slow_near(&self, lanes: u32) -> f64 {
        self.rates.near_delay(lanes as usize - 1, self.lan) * self.block
    }

    /// What a root needs that keeps several sends under way. The last lane to start is its own,
    /// and as long as any, so that no other one ends later.
    pub fn overlapped(&self, lanes: u32) -> Result<f64, ModelError> {
        let longest = self.lane_blocks(lanes)?;
        let mut together: f64 = 0.0;
        for active in 1..=lanes {
            together = together.max(f64::from(active) * self.each(active)?);
        }
        let card = self.serve(f64::from(self.near) + f64::from(self.far) - 1.0);
        let fed = f64::from(self.far - longest) + f64::from(lanes - 1);
        let wan = f64::from(longest) * self.block / self.each(1)?;
        let slow = self.rates.far_delay(0, lanes as usize, self.lan) * self.block;
        let last_lane =
            fed * self.lan_block() + wan + self.latency + self.serve(longest - 1) + slow;
        // A slow host takes its time, whatever else the root sends beside it.
        let rates = self.rates.near.iter().chain(&self.rates.far);
        let slowest = rates.map(|rate| self.block / rate).fold(0.0, f64::max);
        let drain = f64::from(self.far) * self.block / together + self.latency;
        Ok(self.overhead + card.max(last_lane).max(drain).max(slowest))
    }

    /// The paper's baseline, one crossing for all: its text's formula, where every message
    /// inside a site has a latency.
    pub fn single_lane(&self) -> Result<f64, ModelError> {
        self.check(1)?;
        let wan = f64::from(self.far) * self.block / self.each(1)?;
        let served = f64::from(self.near.max(self.far) - 1);
        Ok(self.latency + wan + served * (self.lan_latency + self.lan_block()))
    }

    /// paper: multilane table 1, as printed. It does not add up to the formulas of the text: the
    /// root's own lane is counted as fed, a partner's own block as sent, alpha twice, and the
    /// root's own site not at all.
    pub fn table(&self, lanes: u32) -> Result<Table, ModelError> {
        self.check(lanes)?;
        let blocks = f64::from(self.far);
        let terms = |prepare: f64, wan: f64, lan: f64| {
            let total = prepare + wan + lan;
            Terms { total, prepare, wan, lan }
        };
        let part = blocks / f64::from(lanes);
        Ok(Table {
            single_lane: terms(
                0.0,
                self.latency + blocks * self.block / self.each(1)?,
                self.overhead + (blocks - 1.0) * self.lan_block(),
            ),
            multi_lane: terms(
                self.overhead + (blocks + f64::from(lanes) - 1.0) * self.lan_block(),
                self.latency + part * self.block / self.each(lanes)?,
                self.overhead + part * self.lan_block(),
            ),
        })
    }

    /// Seconds of a block inside a site.
    fn lan_block(&self) -> f64 {
        self.block / self.lan
    }

    /// Seconds until `hosts` hosts of a site have a block from one of them.
    fn serve(&self, hosts: impl Into<f64>) -> f64 {
        match hosts.into() {
            0.0 => 0.0,
            hosts => hosts * self.lan_block() + self.lan_latency,
        }
    }

    fn each(&self, lanes: u32) -> Result<f64, ModelError> {
        let rate = self.wan.each(lanes).ok_or(ModelError::Unmeasured { lanes })?;
        positive("the rate of a lane", rate)
    }

    fn check(&self, lanes: u32) -> Result<(), ModelError> {
        let TwoSites { near, far, .. } = *self;
        if near == 0 || far == 0 {
            return Err(ModelError::Empty { near, far });
        }
        let most = self.most_lanes();
        if !(1..=most).contains(&lanes) {
            return Err(ModelError::Lanes { lanes, most });
        }
        positive("the rate inside a site", self.lan)?;
        for (what, value) in [
            ("the size of a block", self.block),
            ("the latency between the sites", self.latency),
            ("the latency inside a site", self.lan_latency),
            ("the overhead", self.overhead),
        ] {
            if !(0.0..f64::INFINITY).contains(&value) {
                return Err(ModelError::Negative { what, value });
            }
        }
        Ok(())
    }

    /// When the last byte of each lane has left. Lanes under way at once have the same rate, that
    /// of their number, so one sum of bytes serves all of them: a lane ends when the sum has
    /// grown by its bytes.
    fn wan_ends(&self, starts: &[Start]) -> Result<Vec<f64>, ModelError> {
        let mut ends = vec![0.0; starts.len()];
        let mut active: BinaryHeap<Ending> = BinaryHeap::new();
        let mut next = 0;
        let (mut now, mut sum) = (0.0, 0.0);
        while next < starts.len() || !active.is_empty() {
            let Some(first) = active.peek() else {
                now = f64::max(now, starts[next].at);
                active.push(Ending::new(sum, starts[next].blocks, self.block, next));
                next += 1;
                continue;
            };
            let rate = self.each(active.len() as u32)?;
            let end = now + (first.at_sum - sum).max(0.0) / rate;
            match starts.get(next).filter(|start| start.at < end) {
                Some(start) => {
                    sum += (start.at - now).max(0.0) * rate;
                    now = f64::max(now, start.at);
                    active.push(Ending::new(sum, start.blocks, self.block, next));
                    next += 1;
                }
                None => {
                    (now, sum) = (end, first.at_sum);
                    let Start { at, blocks, lane } = starts[first.lane];
                    let alone = at + f64::from(blocks) * self.block / self.rates.lane(lane);
                    ends[first.lane] = end.max(alone);
                    active.pop();
                }
            }
        }
        Ok(ends)
    }
}

/// When a lane begins between the sites, and with how many blocks; lane 0 is the root's own.
#[derive(Clone, Copy)]
struct Start {
    at: f64,
    blocks: u32,
    lane: usize,
}

/// A lane under way, and the sum of bytes at which it ends; the heap's first ends first.
struct Ending {
    at_sum: f64,
    lane: usize,
}

impl Ending {
    fn new(sum: f64, blocks: u32, block: f64, lane: usize) -> Ending {
        Ending { at_sum: sum + f64::from(blocks) * block, lane }
    }
}

impl Ord for Ending {
    fn cmp(&self, other: &Ending) -> Ordering {
        other.at_sum.total_cmp(&self.at_sum).then(other.lane.cmp(&self.lane))
    }
}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Ending) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ending {
    fn eq(&self, other: &Ending) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ending {}

fn positive(what: &'static str, rate: f64) -> Result<f64, ModelError> {
    match rate > 0.0 && rate.is_finite() {
        true => Ok(rate),
        false => Err(ModelError::Rate { what, rate }),
    }
}
