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

/// Nanoseconds a step, with the time to generate the steps in it.
fn cost_ns(schedule: &dyn Schedule) -> f64 {
    let mut runs: Vec<_> = (0..RANKS).map(|rank| Run::new(schedule, rank)).collect();
    let mut samples = Vec::new();
    for _ in 0..15 {
        let mut port = Null::default();
        let begun = Instant::now();
        while begun.elapsed().as_millis() < 4 {
            for run in &mut runs {
                walk(run, &mut port);
            }
        }
        samples.push(begun.elapsed().as_nanos() as f64 / port.steps.max(1) as f64);
    }
    Spread::of(&samples).median
}

fn main() {
    let mut worst = (0.0, String::new());
    for algorithm in all() {
        let shape = Shape::new(algorithm.family, RANKS, 1 << 16).with_element(8, true);
        let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else { continue };
        let cost = cost_ns(&*schedule);
        let name = format!("{} {}", algorithm.family.name(), algorithm.name);
        println!("{name:<36} {cost:6.1} ns a step");
        if cost > worst.0 {
            worst = (cost, name);
        }
    }
    ratio(&format!("dearest step ({}), ns / {MOST_NS} ns", worst.1), worst.0 / MOST_NS, 1.0);
}
