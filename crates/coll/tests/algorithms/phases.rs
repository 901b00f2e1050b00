//! Where a schedule has a partner formula, its ranks send to those partners, phase by phase.

use laneway_coll::all;
use laneway_core::{Rank, Round, Schedule, Shape, Step};

/// Whom a rank sends to, one message after another, repetitions left out.
fn sent_to(schedule: &dyn Schedule, rank: Rank) -> Vec<Rank> {
    let mut to = Vec::new();
    for lane in 0..schedule.lanes(rank) {
        for k in 0..schedule.rounds(rank, lane) {
            let mut round = Round::default();
            schedule.round(rank, lane, k, &mut round);
            to.extend(round.steps.iter().filter_map(|step| match step {
                Step::Send { to, .. } => Some(*to),
                _ => None,
            }));
        }
    }
    to.dedup();
    to
}

#[test]
fn schedules_send_as_their_phases_say() {
    let mut with_phases = Vec::new();
    for algorithm in all() {
        for (ranks, in_place) in (1..20).flat_map(|ranks| [(ranks, false), (ranks, true)]) {
            // A vector long enough that no rank's part of it is empty.
            let shape = Shape::new(algorithm.family, ranks, 24).with_in_place(in_place);
            let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else { continue };
            let Some(phases) = schedule.phases() else { continue };
            for rank in 0..ranks {
                let partners = (0..phases.count()).map(|phase| phases.partner(rank, phase));
                let mut partners: Vec<Rank> = partners.filter(|to| *to != rank).collect();
                partners.dedup();
                let name = (algorithm.family.name(), algorithm.name);
                assert_eq!(sent_to(&*schedule, rank), partners, "{name:?}, {rank} of {ranks}");
            }
            with_phases.push((algorithm.family.name(), algorithm.name));
        }
    }
    with_phases.dedup();
    for needed in [("alltoall", "pairwise"), ("alltoall", "linear-sync"), ("allgather", "ring")] {
        assert!(with_phases.contains(&needed), "{needed:?} has no phases");
    }
    assert!(with_phases.len() >= 10, "{with_phases:?}");
}
