//! One batch of experiments after another, all ranks together, within the budget.

use std::cell::RefCell;

use laneway_core::{Comm, Observer, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Lab, Plan};
use laneway_measure::repeat::Aim;
use laneway_measure::sites::{Flow, LONGEST_TRIED, eager_bytes};
use laneway_measure::talk::{broadcast, gather};

use super::Request;
use super::once::Once;
use super::seen::{NUMBERS, Seen};
use crate::error::ModelError;
use crate::experiments::{ALL_EAGER, Cost, Experiments, Kind, Timed, is_slowed};
use crate::parameter::{LEVEL, Parameter};

/// A send that is not over after so many times what a round trip takes waits for its receive.
const PATIENCE: f64 = 2.0;

pub(super) struct Course<'c> {
    pub comm: &'c dyn Comm,
    rule: Rule,
    parallel: bool,
    rounds: usize,
    budget: f64,
    begun: f64,
    /// What comes now is for checks.
    pub hold_back: bool,
    /// Other traffic disturbs the network or the machine: repetitions differ, as on every real one.
    is_disturbed: bool,
    /// On rank 0.
    pub timed: Vec<Timed>,
    pub cost: Cost,
    eager_bytes: u64,
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
            is_disturbed: !comm.clock().is_virtual(),
            timed: Vec::new(),
            cost: Cost::default(),
            eager_bytes: 0,
            observer,
        }
    }

    /// What was measured, on hosts of these names.
    pub fn experiments(self, hosts: Vec<String>) -> Experiments {
        let Course { timed, cost, eager_bytes, .. } = self;
        Experiments { hosts, eager_bytes, timed, cost, alike: None }
    }

    /// Collective: the longest message whose send is over before its receive is posted; after the
    /// round trips.
    pub fn find_eager(&mut self) -> Result<u64, ModelError> {
        let patience = |bytes: usize| PATIENCE * self.trip(bytes as u64);
        let found = match eager_bytes(self.comm, Flow { from: 0, to: 1 }, &patience)? {
            LONGEST_TRIED.. => ALL_EAGER,
            eager => eager as u64,
        };
        self.eager_bytes = found;
        Ok(found)
    }

    pub fn leads(&self) -> bool {
        self.comm.rank() == 0
    }

    /// What a message of `bytes` bytes takes between ranks 0 and 1 there and back, or a little
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
        let own = plan.subsets().filter(|subset| subset.first() == Some(&self.comm.rank()));
        let led = own.map(<[Rank]>::len).max().unwrap_or(0);
        let mut once = Once::new(kind, led)?;
        let was_disturbed = self.is_disturbed;
        let mut found = self.measure(plan, &mut once)?;
        if self.is_disturbed && !was_disturbed {
            // So few repetitions next to each other do not tell how often others disturb.
            found = self.measure(plan, &mut once)?;
        }
        for (ranks, (estimate, seen)) in plan.subsets().zip(found) {
            let (ranks, Seen { mean, spread, fastest }) = (ranks.to_vec(), seen);
            // A gap is a difference of two times, whose errors are no delays.
            let time = match kind {
                Kind::Gap { .. } => Parameter::of(&estimate),
                _ => mean.reaching(Parameter::of(&estimate).value),
            };
            let held_back = self.hold_back;
            self.timed.push(Timed { kind, ranks, time, spread, fastest, held_back });
            self.cost.experiments += 1;
            self.cost.repetitions += u64::from(estimate.reps);
        }
        self.cost.seconds = self.comm.clock().now() - self.begun;
        let mut spent = [self.cost.seconds];
        broadcast(self.comm, &mut spent)?;
        self.tell(spent[0]);
        match spent[0] > self.budget {
            true => {
                let before = if self.hold_back { "the checks" } else { "all experiments" };
                Err(ModelError::Budget { seconds: self.budget, spent: spent[0], before })
            }
            false => Ok(()),
        }
    }

    /// Collective: repeats it on every subset; on rank 0 what each came to, in the order of the
    /// plan. All know then whether other traffic disturbs the network.
    fn measure(
        &mut self,
        plan: &Plan,
        once: &mut Once,
    ) -> Result<Vec<(Estimate, Seen)>, ModelError> {
        let seen = RefCell::new(Vec::new());
        let note = |samples: &[f64]| seen.borrow_mut().push(Seen::of(samples).numbers());
        let is_noisy = self.is_disturbed;
        let lab = Lab { each_subset: &note, is_noisy, ..Lab::new(self.comm, self.rule) };
        let found = lab.run(plan, |members| once.run(members))?;
        let seen: Vec<Seen> =
            in_order(self.comm, plan, seen.take())?.into_iter().map(Seen::from).collect();
        self.cost.rounds += plan.rounds().len() as u32;
        let slowed = |seen: &Seen| is_slowed(seen.mean.value, seen.fastest);
        let mut disturbed = [f64::from(u8::from(self.leads() && seen.iter().any(slowed)))];
        broadcast(self.comm, &mut disturbed)?;
        self.is_disturbed |= disturbed[0] > 0.0;
        Ok(found.into_iter().flatten().zip(seen).collect())
    }
}

/// Collective: what each subset's leader has seen, on rank 0 in the order of the plan.
fn in_order(
    comm: &dyn Comm,
    plan: &Plan,
    own: Vec<[f64; NUMBERS]>,
) -> Result<Vec<[f64; NUMBERS]>, ModelError> {
    let mut led = vec![0; comm.size() as usize];
    plan.subsets().for_each(|subset| led[subset[0] as usize] += 1);
    let width = led.iter().max().copied().unwrap_or(0);
    // Every rank gives as many, so that all ends know the lengths.
    let mut own = own.concat();
    own.resize(width * NUMBERS, 0.0);
    let all = gather(comm, &own)?;
    led.fill(0);
    let next = |subset: &[Rank]| {
        let leader = subset[0] as usize;
        led[leader] += 1;
        let at = (leader * width + led[leader] - 1) * NUMBERS;
        all.get(at..at + NUMBERS).and_then(|numbers| numbers.try_into().ok())
    };
    Ok(plan.subsets().filter_map(next).collect())
}
