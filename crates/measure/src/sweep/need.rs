//! What the points of a sweep need of the memory.

use laneway_core::talk;
use laneway_core::{Comm, Rank};
use laneway_processes::memory::{objection, sharers};

use super::error::{Refusal, SweepError};
use super::plan::{Case, Placer, Sweep};
use crate::cache::Places;
use crate::operation::Answerer;

/// Collective: nothing begins where the largest point, on all ranks, does not fit on one of the
/// machines.
pub fn refuse(
    comm: &dyn Comm,
    sweep: &Sweep,
    placer: Option<&dyn Placer>,
) -> Result<(), SweepError> {
    let sharers = sharers(comm)?;
    let largest = sweep.sizes.iter().copied().max().unwrap_or(0);
    // Beyond this machine even for one rank, and perhaps beyond what can be counted.
    if let Some(cause) = talk::objection(comm, objection(largest, largest))? {
        return Err(Refusal::Memory(cause).into());
    }
    let cases = sweep.cases(comm, placer, &[largest]);
    let need = cases.iter().map(|case| need(comm, sweep, placer, case, &sharers)).max();
    match talk::objection(comm, objection(need.unwrap_or(0), largest))? {
        Some(cause) => Err(Refusal::Memory(cause).into()),
        None => Ok(()),
    }
}

/// Bytes that these ranks need for a call and for the check of its answer.
fn need(
    comm: &dyn Comm,
    sweep: &Sweep,
    placer: Option<&dyn Placer>,
    case: &Case,
    ranks: &[Rank],
) -> u64 {
    let shape = sweep.shape(comm, placer, case.collective, case.size);
    let schedule = match case.answerer {
        Answerer::Ours(algorithm, params) => algorithm.schedule(&shape, &params).ok(),
        Answerer::Native => None,
    };
    let simulated = u64::from(comm.clock().is_virtual());
    let of_rank = |&rank: &Rank| {
        let (input, output) = (shape.in_len(rank), shape.out_len(rank));
        let scratch = schedule.as_ref().map_or(0, |schedule| schedule.tmp_len(rank));
        // The answer, what it should be, and where that is computed the other operand.
        let answers = output.saturating_mul(2 + u64::from(case.collective.reduces()));
        // A simulator keeps what is under way.
        let under_way = output.saturating_add(scratch).saturating_mul(simulated);
        let marched = Places::need(sweep.cache, input, output);
        [input, answers, scratch, under_way, marched].into_iter().fold(0, u64::saturating_add)
    };
    ranks.iter().map(of_rank).fold(0, u64::saturating_add)
}
