//! The checker sees what is missing: one step taken out of every algorithm, and it must complain.

use crate::support::{Cut, Random, Without, settings, shape};
use laneway_coll::check::Semantics;
use laneway_coll::check::check_under;
use laneway_coll::{all, check};
use laneway_core::{Collective, Round, Schedule, Shape, Step};

/// What kind of step was taken out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Transfer,
    Local,
    CrossLane,
    Other,
}

fn kind(step: &Step, lane: u32) -> Kind {
    match step {
        Step::Send { .. } | Step::Recv { .. } => Kind::Transfer,
        Step::Copy { .. } | Step::Reduce { .. } => Kind::Local,
        Step::After { lane: other, .. } if *other != lane => Kind::CrossLane,
        _ => Kind::Other,
    }
}

/// Every step of a schedule by its place.
fn steps(schedule: &dyn Schedule) -> Vec<(u32, u32, u64, usize, Step)> {
    let mut all = Vec::new();
    for rank in 0..schedule.ranks() {
        for lane in 0..schedule.lanes(rank) {
            for round in 0..schedule.rounds(rank, lane) {
                let mut steps = Round::default();
                schedule.round(rank, lane, round, &mut steps);
                all.extend(steps.steps.iter().enumerate().map(|(i, s)| (rank, lane, round, i, *s)));
            }
        }
    }
    all
}

fn caught(shape: &Shape, mutant: &Without<'_>) -> bool {
    check_under(shape, mutant, Semantics::Eager).is_err() || check(shape, mutant).is_err()
}

#[test]
fn a_missing_step_is_seen() {
    let seed = std::env::var("LANEWAY_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(2026);
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut transfers, mut locals, mut gates) = (0, 0, 0);
    for algorithm in all() {
        for collective in Collective::ALL.into_iter().filter(|c| c.family() == algorithm.family) {
            for params in settings(algorithm) {
                let ranks = 2 + random.below(9) as u32;
                let root = random.below(u64::from(ranks)) as u32;
                let root = if collective.has_root() { root } else { 0 };
                let shape = shape(collective, ranks, root, Cut::Equal, seed);
                let Ok(schedule) = algorithm.schedule(&shape, &params) else { continue };
                let all = steps(&*schedule);
                for _ in 0..24.min(all.len()) {
                    let (rank, lane, round, step, what) =
                        all[random.below(all.len() as u64) as usize];
                    let schedule = &*schedule;
                    let mutant = Without { schedule, rank, lane, round, step };
                    let kind = kind(&what, lane);
                    if kind == Kind::Other {
                        continue;
                    }
                    assert!(
                        caught(&shape, &mutant),
                        "{} {}: nobody misses {what:?} of rank {rank}, lane {lane}, round {round}\
                         \n{shape:?}, seed {seed}",
                        collective.name(),
                        algorithm.spelled(&params),
                    );
                    match kind {
                        Kind::Transfer => transfers += 1,
                        Kind::Local => locals += 1,
                        _ => gates += 1,
                    }
                }
            }
        }
    }
    println!("seen: {transfers} transfers, {locals} local steps, {gates} cross-lane gates");
    assert!(transfers > 100 && locals > 10 && gates > 10);
}
