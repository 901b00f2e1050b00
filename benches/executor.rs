//! What a step costs when nothing moves: the executor against a port that does nothing.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use laneway_benches::{Spread, ratio};
use laneway_coll::all;
use laneway_core::{At, Port, Progress, Run, Schedule, Shape, Slot, Step};

const RANKS: u32 = 64;
/// Nanoseconds that a step may cost.
const MOST_NS: f64 = 50.0;
const PASSES: usize = 31;

/// Starts everything, moves nothing, and counts.
#[derive(Default)]
struct Null {
    pending: Vec<Slot>,
    steps: u64,
}

impl Port for Null {
    type Error = Infallible;

    #[inline]
    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Infallible> {
        self.steps += 1;
        match black_box(step) {
            Step::Send { .. } | Step::Recv { .. } => {
                self.pending.push(at.slot);
                Ok(Progress::Pending)
            }
            _ => Ok(Progress::Done),
        }
    }

    #[inline]
    fn passed(&mut self, _lane: u32, _gate: &Step) {
        self.steps += 1;
    }
}

fn walk(run: &mut Run<'_, dyn Schedule + '_>, port: &mut Null) {
    run.restart();
    loop {
        let Ok(finished) = run.poll(port);
        if finished {
            return;
        }
        while let Some(slot) = port.pending.pop() {
            run.done(slot);
        }
    }
}

/// Nanoseconds a step over a few milliseconds, with the time to generate the steps in it.
fn sample_ns(runs: &mut [Run<'_, dyn Schedule + '_>]) -> f64 {
    let mut port = Null::default();
    let begun = Instant::now();
    while begun.elapsed().as_millis() < 3 {
        for run in runs.iter_mut() {
            walk(run, &mut port);
        }
    }
    begun.elapsed().as_nanos() as f64 / port.steps.max(1) as f64
}

fn main() {
    // `cargo bench --bench executor -- "bcast binomial"` measures one alone.
    let only = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let mut schedules = Vec::new();
    for algorithm in all() {
        let name = format!("{} {}", algorithm.family.name(), algorithm.name);
        let shape = Shape::new(algorithm.family, RANKS, 1 << 16).with_element(8, true);
        if only.as_ref().is_none_or(|only| *only == name)
            && let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults())
        {
            schedules.push((name, schedule));
        }
    }
    // Every algorithm in every pass, so that a slow moment of the machine strikes all alike.
    let mut samples: Vec<Vec<f64>> = schedules.iter().map(|_| Vec::new()).collect();
    for _ in 0..PASSES {
        for ((_, schedule), samples) in schedules.iter().zip(&mut samples) {
            let mut runs: Vec<_> = (0..RANKS).map(|rank| Run::new(&**schedule, rank)).collect();
            samples.push(sample_ns(&mut runs));
        }
    }
    let mut worst = (0.0, String::new());
    for ((name, _), samples) in schedules.into_iter().zip(samples) {
        let spread = Spread::of(&samples);
        println!("{name:<36} {spread} ns a step");
        if spread.median > worst.0 {
            worst = (spread.median, name);
        }
    }
    ratio(&format!("dearest step ({}), ns / {MOST_NS} ns", worst.1), worst.0 / MOST_NS, 1.0);
}
