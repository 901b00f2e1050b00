//! One batch of experiments after another, all ranks together, within the budget.

use std::cell::RefCell;

use laneway_core::{Comm, Observer, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{Lab, Plan};
use laneway_measure::repeat::Aim;
use laneway_measure::talk::{announce, collect};

use super::Request;
use super::once::Once;
use crate::error::ModelError;
use crate::experiments::{Cost, Kind, Timed};
use crate::parameter::{LEVEL, Parameter};

pub(super) struct Course<'c> {
    pub comm: &'c dyn Comm,
    rule: Rule,
    parallel: bool,
    rounds: usize,
    budget: f64,
    begun: f64,
    /// What comes now is for checks.
    pub hold_back: bool,
    /// On rank 0.
    pub timed: Vec<Timed>,
    pub cost: Cost,
    observer: &'c dyn Observer,
}

impl<'c> Course<'c> {
    pub fn new(
        comm: &'c dyn Comm,
        request: &Request,
        rounds: usize,
        observer: &'c dyn Observer,
    ) -> Course<'c> {
        let aim = Aim::Median { precision: request.precision, level: LEVEL };
        let each = request.budget / rounds.max(1) as f64;
        Course {
            comm,
            rule: Rule { aim, budget: each, ..Rule::default() },
            parallel: request.parallel,
            rounds,
            budget: request.budget,
            begun: comm.clock().now(),
            hold_back: false,
            timed: Vec::new(),
            cost: Cost::default(),
            observer,
        }
    }

    pub fn leads(&self) -> bool {
        self.comm.rank() == 0
    }

    /// What a message of so many bytes takes between ranks 0 and 1 there and back, or a little
    /// more; on rank 0, after the round trips.
    pub fn trip(&self, bytes: u64) -> f64 {
        let time = |timed: &Timed| match timed.kind {
            Kind::RoundTrip { out_bytes, back_bytes: 0 } if timed.ranks == [0, 1] => {
                Some((out_bytes, timed.time.value))
            }
            _ => None,
        };
        let each = |(size, time): (u64, f64)| match size {
            0 => time,
            _ => time * (1.0 + bytes as f64 / size as f64),
        };
        // By the longest: the shorter ones have more of the latency in every byte.
        self.timed.iter().rev().find_map(time).map_or(0.0, each)
    }

    /// How far it is, in rounds: all of them, or as many as the budget allows.
    fn tell(&self, spent: f64) {
        let done = u64::from(self.cost.rounds);
        let affordable = done as f64 * self.budget / spent.max(f64::MIN_POSITIVE);
        let all = (self.rounds as u64).min(affordable as u64).max(done);
        self.observer.progress(done, all, "rounds of experiments");
    }

    /// Collective: one kind of experiment on all subsets of the plan.
    pub fn batch(&mut self, kind: Kind, plan: &Plan) -> Result<(), ModelError> {
        let alone = (!self.parallel).then(|| plan.one_by_one());
        let plan = alone.as_ref().unwrap_or(plan);
        let most = plan.subsets().map(<[Rank]>::len).max().unwrap_or(0);
        let mut once = Once::new(kind, most)?;
        let fastest = RefCell::new(Vec::new());
        let note = |samples: &[f64]| {
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            fastest.borrow_mut().push(least);
        };
        let lab = Lab { each_subset: &note, ..Lab::new(self.comm, self.rule) };
        let found = lab.run(plan, |members| once.run(members))?;
        let fastest = in_order(self.comm, plan, fastest.take())?;
        let found = found.into_iter().flatten().zip(fastest);
        for (ranks, (estimate, fastest)) in plan.subsets().zip(found) {
            let (ranks, time) = (ranks.to_vec(), Parameter::of(&estimate));
            self.timed.push(Timed { kind, ranks, time, fastest, held_back: self.hold_back });
            self.cost.experiments += 1;
            self.cost.repetitions += u64::from(estimate.reps);
        }
        self.cost.rounds += plan.rounds().len() as u32;
        self.cost.seconds = self.comm.clock().now() - self.begun;
        let mut spent = [self.cost.seconds];
        announce(self.comm, &mut spent)?;
        self.tell(spent[0]);
        match spent[0] > self.budget {
            true => {
                let before = if self.hold_back { "the checks" } else { "all experiments" };
                Err(ModelError::Budget { seconds: self.budget, spent: spent[0], before })
            }
            false => Ok(()),
        }
    }
}

/// Collective: a number of each subset, which its leader has, on rank 0 in the order of the plan.
fn in_order(comm: &dyn Comm, plan: &Plan, mut own: Vec<f64>) -> Result<Vec<f64>, ModelError> {
    let mut led = vec![0; comm.size() as usize];
    plan.subsets().for_each(|subset| led[subset[0] as usize] += 1);
    let width = led.iter().max().copied().unwrap_or(0);
    // Every rank gives as many, so that all ends know the lengths.
    own.resize(width, 0.0);
    let all = collect(comm, &own)?;
    led.fill(0);
    let next = |subset: &[Rank]| {
        let leader = subset[0] as usize;
        led[leader] += 1;
        all.get(leader * width + led[leader] - 1).copied()
    };
    Ok(plan.subsets().filter_map(next).collect())
}
