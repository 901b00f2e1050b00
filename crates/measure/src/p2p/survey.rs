//! Every pair of ranks, for whoever runs a cluster: the latency, and the bandwidth of each
//! direction apart, so that a card that is slow in one of them shows.

use std::collections::BTreeMap;

use laneway_core::{CommError, Rank};
use laneway_stats::Interval;

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
    /// Seconds of a long one that goes from `from` to `to`, beyond those of a short one: what its
    /// bytes take.
    pub there: Estimate,
    /// The same of one that goes back.
    pub back: Estimate,
}

/// The latency of each pair of ranks, the lower rank first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub BTreeMap<(Rank, Rank), Estimate>);

/// A survey in rounds, whose buffers all of them share.
pub struct Survey {
    sizes: Sizes,
    short: Work,
    long: Work,
}

impl Survey {
    /// The long messages must be longer than the short ones.
    pub fn new(sizes: Sizes) -> Survey {
        let Sizes { latency, bandwidth } = sizes;
        Survey {
            sizes,
            short: Work::new(Pattern::Latency, latency, 1, Cache::Warm),
            long: Work::round_trip(bandwidth, latency, Cache::Warm),
        }
    }

    /// Collective: the latency of each pair of a plan, on rank 0.
    pub fn latencies(&mut self, lab: &Lab, plan: &Plan) -> Result<Option<Latencies>, CommError> {
        let found = lab.run(plan, |members| Pattern::Latency.once(members, &mut self.short))?;
        let key = |ranks: &[Rank]| (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]));
        let all = |found: Vec<Estimate>| plan.subsets().map(key).zip(found).collect();
        Ok(found.map(|found| Latencies(all(found))))
    }

    /// Collective: the pairs of a plan, on rank 0, which knows the latencies: a long message there
    /// and a short one back, then the other way round.
    pub fn transfers(
        &mut self,
        lab: &Lab,
        plan: &Plan,
        latencies: &Latencies,
    ) -> Result<Option<Vec<Pair>>, CommError> {
        let mut run =
            |plan: &Plan| lab.run(plan, |members| Pattern::RoundTrip.once(members, &mut self.long));
        let (there, back) = (run(plan)?, run(&plan.turned())?);
        let (Some(there), Some(back)) = (there, back) else { return Ok(None) };
        let Sizes { latency: short, bandwidth: long } = self.sizes;
        let scale = long as f64 / long.saturating_sub(short).max(1) as f64;
        let pair = |(ranks, (there, back)): (&[Rank], (Estimate, Estimate))| {
            let (from, to) = (ranks[0], ranks[1]);
            let latency = *latencies.0.get(&(from.min(to), from.max(to)))?;
            let [there, back] = [there, back].map(|trip| beyond(&trip, &latency, scale));
            Some(Pair { from, to, latency, there, back })
        };
        Ok(Some(plan.subsets().zip(there.into_iter().zip(back)).filter_map(pair).collect()))
    }
}

/// What a round trip takes beyond that of two short messages, so many times. Its interval holds
/// whatever the two figures are within theirs.
fn beyond(trip: &Estimate, latency: &Estimate, scale: f64) -> Estimate {
    let value = (trip.value - 2.0 * latency.value) * scale;
    let both = trip.interval.zip(latency.interval);
    let interval = both.map(|(trip, latency)| Interval {
        low: (trip.low - 2.0 * latency.high) * scale,
        high: (trip.high - 2.0 * latency.low) * scale,
        level: (trip.level + latency.level - 1.0).max(0.0),
    });
    let error = interval.map(|i| (i.high - i.low) / 2.0 / value);
    Estimate { value, interval, error, ..*trip }
}

/// Collective: every pair of the plan, on rank 0.
pub fn survey(lab: &Lab, plan: &Plan, sizes: Sizes) -> Result<Option<Vec<Pair>>, CommError> {
    let mut survey = Survey::new(sizes);
    let latencies = survey.latencies(lab, plan)?.unwrap_or_default();
    survey.transfers(lab, plan, &latencies)
}
