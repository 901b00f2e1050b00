//! Any experiment on disjoint subsets of ranks: each subset repeats it until its own rule is
//! content, and what came of all of them reaches rank 0 at the end at once.

use laneway_core::{Comm, CommError, Rank};
use laneway_stats::Interval;

use super::WORD;
use super::plan::Plan;
use crate::flags;
use crate::isolation::Isolation;
use crate::repeat::Rule;
use crate::talk::{broadcast_from, gather};
use crate::timing::WARM_UP_CALLS;

/// Where experiments are done, and how often.
#[derive(Clone, Copy)]
pub struct Lab<'c> {
    /// All ranks; messages of experiments go over it.
    pub comm: &'c dyn Comm,
    /// When a subset has enough repetitions.
    pub rule: Rule,
    /// Called on every rank before each round with its number, and how many there are.
    pub each_round: &'c dyn Fn(usize, usize),
    /// Called on the leader of each subset with its samples, when they are all there.
    pub each_subset: &'c dyn Fn(&[f64]),
    /// Whether a few samples may be alike only because they lie next to each other, as on every
    /// real machine: where there is time, there are a hundred at least.
    pub is_noisy: bool,
}

/// The ranks of one experiment, as one of them sees it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Members<'a> {
    /// All ranks, not only the members.
    pub comm: &'a dyn Comm,
    /// The first of them leads: what it measures counts.
    pub ranks: &'a [Rank],
    /// This rank's place among them.
    pub position: usize,
}

impl Members<'_> {
    /// Whether this rank is the first of them.
    pub fn leads(&self) -> bool {
        self.position == 0
    }

    /// By this rank's clock.
    pub fn now(&self) -> f64 {
        self.comm.clock().now()
    }

    /// The other of two.
    pub fn partner(&self) -> Result<Rank, CommError> {
        match (self.ranks, self.position) {
            (&[_, other], 0) | (&[other, _], 1) => Ok(other),
            _ => {
                let what = format!("{} ranks are not a pair", self.ranks.len());
                Err(CommError::Argument { what })
            }
        }
    }

    /// The leader's word on every member. All are there when it is not 0, and the leader is the
    /// last to go on: nothing that it sends then waits for a member to come.
    fn agree(&self, word: u32) -> Result<u32, CommError> {
        let mut bytes = word.to_le_bytes();
        if !self.leads() {
            self.comm.recv(Some(self.ranks[0]), Some(WORD), &mut bytes)?;
            if bytes != [0; 4] {
                self.comm.send(self.ranks[0], WORD, &[])?;
            }
            return Ok(u32::from_le_bytes(bytes));
        }
        for &rank in &self.ranks[1..] {
            self.comm.send(rank, WORD, &bytes)?;
        }
        for &rank in &self.ranks[1..] {
            if word != 0 {
                self.comm.recv(Some(rank), Some(WORD), &mut [])?;
            }
        }
        Ok(word)
    }
}

/// What the repetitions of one subset came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// In the unit of the experiment: seconds, for all that take time.
    pub value: f64,
    /// `None` if there are too few repetitions.
    pub interval: Option<Interval>,
    /// Half the interval over the value.
    pub error: Option<f64>,
    /// Repetitions that it rests on.
    pub reps: u32,
    /// Whether the precision that was asked for is reached.
    pub reached: bool,
}

/// Samples of a noisy machine at least, where half the time of the rule is enough.
const NOISY_SAMPLES: u32 = 100;

/// Numbers that an estimate is sent as.
pub(super) const NUMBERS: usize = 7;

impl Estimate {
    /// What samples say, without those at the beginning that had not settled.
    pub fn of(rule: &Rule, samples: &[f64]) -> Estimate {
        let settled = &samples[rule.warm_up(samples)..];
        Estimate {
            value: rule.estimate(settled),
            interval: rule.interval(settled),
            error: rule.error(settled),
            reps: settled.len() as u32,
            reached: rule.is_fixed() || rule.is_reached(settled),
        }
    }

    /// The flag of a figure whose interval is not the usual one, or that has none.
    pub fn caution(&self, rule: &Rule) -> Option<&'static str> {
        let bare = self.interval.is_none().then_some(flags::NO_INTERVAL);
        rule.caution(self.reps).or(bare)
    }

    pub(crate) fn numbers(&self) -> [f64; NUMBERS] {
        let none = Interval { low: f64::NAN, high: f64::NAN, level: f64::NAN };
        let Interval { low, high, level } = self.interval.unwrap_or(none);
        let error = self.error.unwrap_or(f64::NAN);
        let reached = f64::from(u8::from(self.reached));
        [self.value, low, high, level, error, f64::from(self.reps), reached]
    }

    pub(crate) fn from(numbers: &[f64]) -> Option<Estimate> {
        let &[value, low, high, level, error, reps, reached] = numbers else { return None };
        Some(Estimate {
            value,
            interval: (!low.is_nan()).then_some(Interval { low, high, level }),
            error: (!error.is_nan()).then_some(error),
            reps: reps as u32,
            reached: reached != 0.0,
        })
    }

    /// The same of a figure that falls as this one rises, or is a multiple of it.
    pub fn map(&self, figure: impl Fn(f64) -> f64) -> Estimate {
        let ends = |i: Interval| (figure(i.low), figure(i.high), i.level);
        let interval = self.interval.map(ends).map(|(a, b, level)| {
            // A figure that falls exchanges the ends.
            Interval { low: a.min(b), high: a.max(b), level }
        });
        Estimate { value: figure(self.value), interval, ..*self }
    }
}

impl<'c> Lab<'c> {
    /// A lab without an observer; noisy unless its clock is a simulator's.
    pub fn new(comm: &'c dyn Comm, rule: Rule) -> Lab<'c> {
        let is_noisy = !comm.clock().is_virtual();
        Lab { comm, rule, each_round: &|_, _| {}, each_subset: &|_| {}, is_noisy }
    }

    /// Collective: one repetition is one call of `experiment` on every member of a subset, and its
    /// figure is what the call gives on the leader. Subsets of one round do theirs at the same
    /// time. A rank that is done, or has nothing to do in a round, waits until the leader of its
    /// first subset has heard from the other leaders and releases all: only that leader is
    /// disturbed meanwhile, and a subset alone is not disturbed at all. On rank 0 what each came
    /// to, in the order of [`Plan::subsets`]; nothing elsewhere.
    pub fn run(
        &self,
        plan: &Plan,
        mut experiment: impl FnMut(&Members) -> Result<f64, CommError>,
    ) -> Result<Option<Vec<Estimate>>, CommError> {
        let (rank, ranks) = (self.comm.rank(), self.comm.size());
        if let Some(&bad) = plan.subsets().flatten().find(|&&rank| rank >= ranks) {
            return Err(CommError::no_rank(bad, ranks));
        }
        let mut own = Vec::new();
        {
            let gate = Isolation::barrier().gate(self.comm)?;
            let mut room = Default::default();
            gate.open(&mut room)?.pass()?;
            for (number, round) in plan.rounds().iter().enumerate() {
                (self.each_round)(number, plan.rounds().len());
                let at = |subset: &Vec<Rank>| subset.iter().position(|&member| member == rank);
                let found = round.iter().find_map(|subset| Some((subset, at(subset)?)));
                if let Some((subset, position)) = found {
                    let members = Members { comm: self.comm, ranks: subset, position };
                    let samples = self.repeat(&members, &mut experiment)?;
                    if members.leads() {
                        (self.each_subset)(&samples);
                        own.extend(Estimate::of(&self.rule, &samples).numbers());
                    }
                }
                self.end_round(round)?;
            }
        }
        self.gather(plan, own)
    }

    /// Collective: waits until all subsets of a round are done.
    fn end_round(&self, round: &[Vec<Rank>]) -> Result<(), CommError> {
        let mut leaders = round.iter().map(|subset| subset[0]);
        let Some(first) = leaders.next() else { return Ok(()) };
        for leader in leaders {
            if self.comm.rank() == leader {
                self.comm.send(first, WORD, &[])?;
            } else if self.comm.rank() == first {
                self.comm.recv(Some(leader), Some(WORD), &mut [])?;
            }
        }
        broadcast_from(self.comm, first, &mut [])
    }

    /// Repeats the experiment on one subset. The samples, on the leader.
    pub(super) fn repeat(
        &self,
        members: &Members,
        experiment: &mut impl FnMut(&Members) -> Result<f64, CommError>,
    ) -> Result<Vec<f64>, CommError> {
        let begun = members.now();
        let mut samples = Vec::new();
        let mut warm_up = WARM_UP_CALLS;
        loop {
            let wanted = match members.leads() {
                true => self.wanted(&samples, members.now() - begun),
                false => 0,
            };
            let count = members.agree(wanted)?;
            if count == 0 {
                return Ok(samples);
            }
            for _ in 0..std::mem::take(&mut warm_up) {
                experiment(members)?;
            }
            for _ in 0..count {
                samples.push(experiment(members)?);
            }
        }
    }

    /// How many more samples to take, after `spent` seconds.
    fn wanted(&self, samples: &[f64], spent: f64) -> u32 {
        let (rule, have) = (&self.rule, samples.len() as u32);
        let more = NOISY_SAMPLES.min(rule.max_reps).saturating_sub(have).min(have);
        let affordable = self.is_noisy && spent < rule.budget / 2.0;
        let fixed = rule.is_fixed();
        match rule.wanted(samples, spent) {
            0 if affordable && !fixed => more,
            wanted => wanted,
        }
    }

    /// Collective: the leaders' numbers at rank 0. Every rank gives as many as the busiest leader,
    /// so that all ends know the lengths.
    fn gather(&self, plan: &Plan, mut own: Vec<f64>) -> Result<Option<Vec<Estimate>>, CommError> {
        let mut led = vec![0; self.comm.size() as usize];
        for subset in plan.subsets() {
            led[subset[0] as usize] += 1;
        }
        let width = led.iter().max().copied().unwrap_or(0) * NUMBERS;
        own.resize(width, 0.0);
        let all = gather(self.comm, &own)?;
        if self.comm.rank() != 0 {
            return Ok(None);
        }
        led.fill(0);
        let next = |subset: &[Rank]| {
            let leader = subset[0] as usize;
            let at = leader * width + led[leader] * NUMBERS;
            led[leader] += 1;
            all.get(at..at + NUMBERS).and_then(Estimate::from)
        };
        Ok(Some(plan.subsets().map(next).collect::<Option<Vec<_>>>().unwrap_or_default()))
    }
}
