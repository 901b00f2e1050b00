//! Allreduce: the ranks' vectors are joined, and everybody has the result.

pub mod rabenseifner;
pub mod recursive_doubling;
pub mod recursive_multiplying;
pub mod reduce_bcast;
pub mod ring;
pub mod segmented_ring;

use laneway_core::{Buf, Rank, Round, span};

use crate::registry::Algorithm;

pub static ALGORITHMS: &[&Algorithm] = &[
    &reduce_bcast::ALGORITHM,
    &recursive_doubling::ALGORITHM,
    &recursive_multiplying::ALGORITHM,
    &ring::ALGORITHM,
    &segmented_ring::ALGORITHM,
    &rabenseifner::ALGORITHM,
];

/// A rank gives `own` to one that will answer with the result, which may arrive at any time only
/// where it does not arrive in the same bytes.
fn give_and_take(peer: Rank, own: Buf, vector: u64, apart: bool, out: &mut Round) {
    if apart {
        out.recv(peer, span(Buf::Out, 0, vector));
    }
    out.send(peer, span(own, 0, vector));
    if !apart {
        out.drain();
        out.recv(peer, span(Buf::Out, 0, vector));
    }
}

#[cfg(test)]
mod tests {
    use laneway_core::{Collective, Round, Shape, Step};

    /// Whom the schedule has every rank send to is what its formula says, phase by phase.
    #[test]
    fn schedules_send_as_their_phases_say() {
        let mut seen = 0;
        for algorithm in crate::all() {
            for ranks in 1..20 {
                let (family, vector) = (algorithm.family, u64::from(ranks));
                if !matches!(family, Collective::Allreduce | Collective::Barrier) {
                    continue;
                }
                let shape = Shape::new(family, ranks, vector);
                let schedule = algorithm.schedule(&shape, &algorithm.defaults());
                let schedule = schedule.expect("these serve every rank count");
                let Some(phases) = schedule.phases() else { continue };
                for rank in 0..ranks {
                    let mut round = Round::default();
                    for k in 0..schedule.rounds(rank, 0) {
                        schedule.round(rank, 0, k, &mut round);
                    }
                    let sent = round.steps.iter().filter_map(|step| match step {
                        Step::Send { to, .. } => Some(*to),
                        _ => None,
                    });
                    let partners = (0..phases.count()).map(|phase| phases.partner(rank, phase));
                    assert!(sent.eq(partners), "{}, rank {rank} of {ranks}", algorithm.name);
                }
                seen += 1;
            }
        }
        // Two rings and dissemination for every count, two doublings for powers of two.
        assert_eq!(seen, 3 * 19 + 2 * 5);
    }
}
