//! Whether what is asked for fits into memory: told before anything is allocated.

use laneway_core::units::format_size;
use laneway_core::{Comm, CommError, Failure, Rank};
use laneway_measure::operation::Answerer;
use laneway_measure::p2p::Places;

use super::plan::{Case, Plan};
use crate::session::RankError;
use laneway_core::talk;

/// Collective: the ranks that share this rank's memory: those of its host, and of a simulated
/// cluster all.
pub fn sharers(comm: &dyn Comm) -> Result<Vec<Rank>, CommError> {
    if comm.clock().is_virtual() {
        return Ok((0..comm.size()).collect());
    }
    let hosts = comm.hosts()?;
    let own = hosts.get(comm.rank() as usize);
    Ok((0..comm.size()).filter(|&rank| hosts.get(rank as usize) == own).collect())
}

/// Why `need` bytes for messages of `size` are more than this machine has.
pub fn objection(need: u64, size: u64) -> Option<String> {
    let available = laneway_measure::memory::memory_bytes()?;
    (need > available).then(|| {
        let (need, available) = (need >> 20, available >> 20);
        format!("size {} needs about {need} MiB of {available} MiB", format_size(size))
    })
}

/// Collective: nothing begins where it does not fit on somebody's machine.
pub fn refuse(comm: &dyn Comm, own: Option<String>, try_this: &str) -> Result<(), RankError> {
    match talk::objection(comm, own)? {
        Some(cause) => {
            Err(Failure::usage("these sizes do not fit into memory", cause, try_this).into())
        }
        None => Ok(()),
    }
}

/// Collective: the same of all points of a plan, the largest of which has all ranks.
pub fn refuse_plan(comm: &dyn Comm, plan: &Plan) -> Result<(), RankError> {
    let sharers = sharers(comm)?;
    let largest = plan.sizes.iter().copied().max().unwrap_or(0);
    // Beyond this machine even for one rank, and perhaps beyond what can be counted.
    let own = objection(largest, largest).or_else(|| {
        let cases = plan.cases(comm, &[largest]);
        let need = cases.iter().map(|case| need(comm, plan, case, &sharers)).max();
        objection(need.unwrap_or(0), largest)
    });
    refuse(comm, own, "smaller --sizes, or fewer ranks")
}

/// Bytes that these ranks need for a call and for the check of its answer.
fn need(comm: &dyn Comm, plan: &Plan, case: &Case, ranks: &[Rank]) -> u64 {
    let shape = plan.shape(comm, case.collective, case.size);
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
        let marched = Places::need(plan.cache, input, output);
        [input, answers, scratch, under_way, marched].into_iter().fold(0, u64::saturating_add)
    };
    ranks.iter().map(of_rank).fold(0, u64::saturating_add)
}
