//! Every pair of ranks, for whoever runs a cluster: the latency and the bandwidth of each.

use laneway_core::{CommError, Rank};

use super::cache::Cache;
use super::disjoint::{Estimate, Lab};
use super::pattern::{Pattern, Work};
use super::plan::Plan;

/// Bytes of the messages that tell the latency and the bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub latency: usize,
    pub bandwidth: usize,
}

/// What was found between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub from: Rank,
    pub to: Rank,
    /// Seconds of a short message, one way: half a round trip.
    pub latency: Estimate,
    /// Seconds of a long one. It travels both ways, so that a card that is slow in one direction
    /// shows whichever of the two ranks it belongs to.
    pub transfer: Estimate,
}

/// Collective: every pair of the plan, on rank 0.
pub fn survey(lab: &Lab, plan: &Plan, sizes: Sizes) -> Result<Option<Vec<Pair>>, CommError> {
    let run = |bytes: usize| {
        let mut work = Work::new(Pattern::Latency, bytes, 1, Cache::Warm);
        lab.run(plan, |members| Pattern::Latency.once(members, &mut work))
    };
    let (Some(short), Some(long)) = (run(sizes.latency)?, run(sizes.bandwidth)?) else {
        return Ok(None);
    };
    let pairs = plan.subsets().zip(short.into_iter().zip(long));
    let pairs = pairs.map(|(pair, (latency, transfer))| Pair {
        from: pair[0],
        to: pair[1],
        latency,
        transfer,
    });
    Ok(Some(pairs.collect()))
}
