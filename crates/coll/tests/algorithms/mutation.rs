//! The checker sees what is missing: one step taken out of every algorithm, and it must complain.

use std::sync::Arc;

use crate::sites::asks_for_sites;
use crate::support::{Cut, Without, settings, shape};
use laneway_coll::check::Semantics;
use laneway_coll::check::check_under;
use laneway_coll::{all, check};
use laneway_core::{Collective, Location, Placement, Round, Schedule, Shape, Step};
use laneway_stats::SplitMix64;

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

/// How many missing steps of each kind were seen.
#[derive(Default, Debug)]
struct Seen {
    transfers: u32,
    locals: u32,
    gates: u32,
}

/// Takes out steps of one schedule, all of them or some, and demands that each is missed.
fn take_out(
    shape: &Shape,
    name: &str,
    schedule: &dyn Schedule,
    random: Option<&mut SplitMix64>,
) -> Seen {
    let mut seen = Seen::default();
    let all = steps(schedule);
    let chosen: Vec<usize> = match random {
        None => (0..all.len()).collect(),
        Some(_) if all.is_empty() => Vec::new(),
        Some(random) => (0..24).map(|_| random.index(all.len())).collect(),
    };
    for index in chosen {
        let (rank, lane, round, step, what) = all[index];
        let kind = kind(&what, lane);
        // A gate in front of an empty block holds back nothing.
        let idle = kind == Kind::CrossLane && shape.collective.is_irregular();
        // With another order of ranks, all lanes wait for the copies before and after, whichever of
        // them need it.
        let is_end = round == 0 || round + 1 == schedule.rounds(rank, lane);
        let waits_for_copies = kind == Kind::CrossLane && name.contains(":order=") && is_end;
        if kind == Kind::Other || idle || waits_for_copies {
            continue;
        }
        let mutant = Without { schedule, rank, lane, round, step };
        assert!(
            caught(shape, &mutant),
            "{name}: {what:?} of rank {rank}, lane {lane}, round {round} is not missed\n{shape:?}"
        );
        match kind {
            Kind::Transfer => seen.transfers += 1,
            Kind::Local => seen.locals += 1,
            _ => seen.gates += 1,
        }
    }
    seen
}

/// Every algorithm, form and setting with `ranks` ranks and a root.
fn take_out_everywhere(ranks_and_root: impl FnMut() -> (u32, u32), random: Option<SplitMix64>) {
    take_out_where(ranks_and_root, random, |_| None);
}

/// The same with ranks at several sites, for algorithms that ask for them.
fn take_out_where(
    mut ranks_and_root: impl FnMut() -> (u32, u32),
    mut random: Option<SplitMix64>,
    placed: impl Fn(u32) -> Option<Arc<Placement>>,
) {
    let mut sum = Seen::default();
    let is_placed = placed(1).is_some();
    for algorithm in all().filter(|one| !is_placed || asks_for_sites(one)) {
        for collective in Collective::ALL.into_iter().filter(|c| c.family() == algorithm.family) {
            for params in settings(algorithm) {
                let (ranks, root) = ranks_and_root();
                let root = if collective.has_root() { root } else { 0 };
                for cut in [Cut::Equal, Cut::Skewed] {
                    let mut shape = shape(collective, ranks, root, cut, 1);
                    shape.placement = placed(ranks);
                    let Ok(schedule) = algorithm.schedule(&shape, &params) else { continue };
                    let name = format!("{} {}", collective.name(), algorithm.spelled(&params));
                    let seen = take_out(&shape, &name, &*schedule, random.as_mut());
                    sum.transfers += seen.transfers;
                    sum.locals += seen.locals;
                    sum.gates += seen.gates;
                }
            }
        }
    }
    println!("seen: {sum:?}");
    assert!(sum.transfers > 1000 && sum.locals > 300 && sum.gates > 100, "{sum:?}");
}

#[test]
fn every_missing_step_is_seen() {
    take_out_everywhere(|| (5, 1), None);
    take_out_everywhere(|| (6, 4), None);
}

/// Ranks in turn at three sites; between the first two sites a third of the rate of other ways.
fn in_turn(ranks: u32) -> Option<Arc<Placement>> {
    let location = |host| Location { site: host % 3, host, wan_card: false };
    let placement = Placement::new((0..ranks).map(location).collect());
    let placement = placement.with_rates(|a, b| if a + b == 1 { 300 } else { 900 });
    Some(Arc::new(placement.with_speeds(|rank| if rank % 4 == 2 { 10 } else { 90 })))
}

#[test]
fn missing_steps_are_seen_with_ranks_at_several_sites() {
    take_out_where(|| (7, 4), Some(SplitMix64::new(7)), in_turn);
    take_out_where(|| (11, 0), Some(SplitMix64::new(8)), in_turn);
}

#[test]
fn random_missing_steps_are_seen() {
    let seed = std::env::var("LANEWAY_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(2026);
    println!("seed {seed}");
    let mut random = SplitMix64::new(seed);
    let ranks_and_root = move || {
        let ranks = 2 + random.index(29) as u32;
        (ranks, random.index(ranks as usize) as u32)
    };
    take_out_everywhere(ranks_and_root, Some(SplitMix64::new(seed + 1)));
}
