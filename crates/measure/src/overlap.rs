//! How much of a collective computing can hide: start it, compute as long as it takes alone, wait.
//!
//! Few libraries let a collective go on by itself, and a schedule goes on when it is asked. So the
//! computing is cut into slices with a test between them, as a program would do that cares.

use std::hint::black_box;

use laneway_core::{Clock, CommError};
use laneway_stats::median;

use crate::isolation::{Isolation, OpenGate};
use crate::operation::{Operation, Ready};
use crate::repeat::Rule;
use crate::talk::{broadcast, gather};
use crate::timing::Stage;

/// The slices of the computing; between two of them the collective is tested once.
pub const SLICES: u32 = 16;

/// Repetitions: as many as the budget allows within these bounds. In virtual time all are alike.
const LEAST: u32 = 5;
const MOST: u32 = 30;

/// A repetition is the operation alone, computing alone, and both; and once alone at the beginning.
const PARTS: f64 = 4.0;

/// Collective: the percentage of the operation's time that computing hides, the median over some
/// repetitions, on rank 0; nothing elsewhere. In each, the rank counts that shows most of the
/// operation beside its computing, and the time of the operation alone is that of the slowest rank.
pub fn overlap(
    stage: &Stage,
    operation: &mut Ready<'_>,
    rule: &Rule,
) -> Result<Option<f64>, CommError> {
    let gate = Isolation::barrier().gate(stage.comm)?;
    let mut room = Default::default();
    let mut gate = gate.open(&mut room)?;
    let affordable = |alone: f64| match stage.comm.clock().is_virtual() {
        true => LEAST,
        false => (rule.budget / (PARTS * alone)).clamp(LEAST.into(), MOST.into()) as u32,
    };
    // The first figure is rough, and tells how often it can be had.
    let count = affordable(alone(stage, &mut gate, operation, LEAST)?);
    let alone = alone(stage, &mut gate, operation, count)?;
    let work = Work::new(stage.comm.clock(), alone / f64::from(SLICES));
    let mut own = Vec::new();
    for _ in 0..count {
        gate.pass()?;
        let alone = seconds(stage, || operation.call())?;
        let computing = seconds(stage, || {
            (0..SLICES).for_each(|_| work.slice());
            Ok(())
        })?;
        gate.pass()?;
        let both = seconds(stage, || {
            operation.call_meanwhile(&mut |test| {
                let mut done = false;
                work.slice();
                for _ in 1..SLICES {
                    done = done || test()?;
                    work.slice();
                }
                Ok(())
            })
        })?;
        own.extend([alone, both - computing]);
    }
    let all = gather(stage.comm, &own)?;
    Ok((stage.comm.rank() == 0).then(|| hidden_percent(&all, own.len())))
}

/// Collective: the seconds of the operation on the slowest rank, the median of some; on all ranks.
fn alone(
    stage: &Stage,
    gate: &mut OpenGate<'_>,
    operation: &mut Ready<'_>,
    count: u32,
) -> Result<f64, CommError> {
    let mut own = Vec::new();
    for _ in 0..count {
        gate.pass()?;
        own.push(seconds(stage, || operation.call())?);
    }
    let of_each = gather(stage.comm, &[median(&own).unwrap_or(0.0)])?;
    let mut slowest = [of_each.into_iter().fold(0.0, f64::max)];
    broadcast(stage.comm, &mut slowest)?;
    Ok(slowest[0])
}

/// Of every rank's figures, rank after rank: for each repetition the time alone, and what was left
/// of it beside the computing.
fn hidden_percent(all: &[f64], each: usize) -> f64 {
    let largest = |at: usize| all.iter().skip(at).step_by(each).copied().fold(0.0, f64::max);
    let hidden = |repetition: usize| {
        let (alone, left) = (largest(2 * repetition), largest(2 * repetition + 1));
        if alone > 0.0 { 100.0 * (1.0 - left / alone).max(0.0) } else { 0.0 }
    };
    median(&(0..each / 2).map(hidden).collect::<Vec<f64>>()).unwrap_or(0.0)
}

fn seconds(
    stage: &Stage,
    mut work: impl FnMut() -> Result<(), CommError>,
) -> Result<f64, CommError> {
    let begun = stage.clock.local();
    work()?;
    Ok(stage.clock.local() - begun)
}

/// One slice of computing on this rank. Rounds of arithmetic, not a look at the clock: whatever
/// takes the processor away meanwhile, as a library's own thread may, makes them last longer.
enum Work<'c> {
    Rounds(u64),
    /// On a virtual clock computing takes no time, so there it is a sleep.
    Sleep(&'c dyn Clock, f64),
}

/// Long enough for any clock, and how often it is tried: the shortest was not disturbed.
const CALIBRATION_SECONDS: f64 = 100e-6;
const TRIES: u32 = 5;

impl<'c> Work<'c> {
    fn new(clock: &'c dyn Clock, seconds: f64) -> Work<'c> {
        if clock.is_virtual() {
            return Work::Sleep(clock, seconds);
        }
        let mut rounds = 256u64;
        loop {
            let once = |_| {
                let begun = clock.now();
                compute(rounds);
                clock.now() - begun
            };
            let took = (0..TRIES).map(once).fold(f64::INFINITY, f64::min);
            if took >= CALIBRATION_SECONDS {
                return Work::Rounds((seconds / took * rounds as f64).round() as u64);
            }
            rounds = rounds.saturating_mul(2);
        }
    }

    fn slice(&self) {
        match self {
            Work::Rounds(rounds) => compute(*rounds),
            Work::Sleep(clock, seconds) => clock.sleep_until(clock.now() + seconds),
        }
    }
}

fn compute(rounds: u64) {
    let mut state = 1.0f64;
    for _ in 0..rounds {
        state = black_box(state * 1.000_000_1 + 1e-9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_that_shows_most_counts_and_the_median_of_repetitions() {
        // Two ranks, three repetitions of an operation that takes 10 on the slower one.
        let first = [10.0, 0.0, 10.0, 4.0, 10.0, -1.0];
        let second = [8.0, 2.0, 9.0, 3.0, 7.0, -2.0];
        assert_eq!(hidden_percent(&[first, second].concat(), 6), 80.0);
        // What takes longer than one after the other hides nothing; what takes no time neither.
        assert_eq!(hidden_percent(&[10.0, 25.0], 2), 0.0);
        assert_eq!(hidden_percent(&[0.0, 0.0], 2), 0.0);
        assert_eq!(hidden_percent(&[], 0), 0.0);
    }

    struct Real(std::time::Instant);

    impl Clock for Real {
        fn now(&self) -> f64 {
            self.0.elapsed().as_secs_f64()
        }

        fn sleep_until(&self, _instant: f64) {}
    }

    #[test]
    fn computing_takes_about_the_time_that_it_should() {
        let clock = Real(std::time::Instant::now());
        let work = Work::new(&clock, 2e-3);
        let once = |_| {
            let begun = clock.now();
            work.slice();
            clock.now() - begun
        };
        // Of many, because others share the machine.
        let shortest = (0..20).map(once).fold(f64::INFINITY, f64::min);
        assert!((0.5e-3..8e-3).contains(&shortest), "{shortest}");
    }
}
