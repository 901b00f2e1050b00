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

/// A survey in rounds, whose buffers all of them share.
pub struct Survey {
    short: Work,
    long: Work,
}

impl Survey {
    pub fn new(sizes: Sizes) -> Survey {
        let work = |bytes| Work::new(Pattern::Latency, bytes, 1, Cache::Warm);
        Survey { short: work(sizes.latency), long: work(sizes.bandwidth) }
    }

    /// Collective: the pairs of some rounds, on rank 0: first the latency of each, then the
    /// bandwidth.
    pub fn run(&mut self, lab: &Lab, plan: &Plan) -> Result<Option<Vec<Pair>>, CommError> {
        let run = |work: &mut Work| lab.run(plan, |members| Pattern::Latency.once(members, work));
        let (short, long) = (run(&mut self.short)?, run(&mut self.long)?);
        let (Some(short), Some(long)) = (short, long) else { return Ok(None) };
        let pair = |(ranks, (latency, transfer)): (&[Rank], _)| Pair {
            from: ranks[0],
            to: ranks[1],
            latency,
            transfer,
        };
        Ok(Some(plan.subsets().zip(short.into_iter().zip(long)).map(pair).collect()))
    }
}

/// Collective: every pair of the plan, on rank 0.
pub fn survey(lab: &Lab, plan: &Plan, sizes: Sizes) -> Result<Option<Vec<Pair>>, CommError> {
    Survey::new(sizes).run(lab, plan)
}
