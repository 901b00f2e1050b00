//! Every pair of ranks, for the operator of a cluster: the latency, and the bandwidth of each
//! direction apart, so that a card that is slow in one of them shows.

use std::collections::BTreeMap;

use laneway_core::{CommError, Rank};
use laneway_stats::Interval;

use super::deal::Deal;
use super::disjoint::{Estimate, Lab, Members};
use super::pattern::{Pattern, Work};
use super::plan::Plan;
use crate::cache::Cache;

/// Bytes of the messages that tell the latency and the bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of the short one.
    pub latency: usize,
    /// Of the long one.
    pub bandwidth: usize,
}

/// What was found between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The one rank.
    pub from: Rank,
    /// The other.
    pub to: Rank,
    /// Seconds of a short message, one way: half a round trip.
    pub latency: Estimate,
    /// Seconds of a long one that goes from `from` to `to`, beyond those of a short one: what its
    /// bytes take.
    pub there: Estimate,
    /// The same of one that goes back.
    pub back: Estimate,
}

/// The round trips of one pair, as they were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Look {
    /// The one rank.
    pub from: Rank,
    /// The other.
    pub to: Rank,
    /// Seconds of a short message, one way: half a round trip.
    pub latency: Estimate,
    /// A long message from `from` to `to` and a short one back.
    pub there: Estimate,
    /// A long message from `to` to `from` and a short one back.
    pub back: Estimate,
}

impl Look {
    /// The faster figures of two looks at the same pair: whatever disturbs one makes it slower.
    pub fn faster(&self, other: &Look) -> Look {
        let faster = |one: Estimate, other: Estimate| {
            let is_better = other.is_measured() && (other.value < one.value || !one.is_measured());
            if is_better { other } else { one }
        };
        Look {
            latency: faster(self.latency, other.latency),
            there: faster(self.there, other.there),
            back: faster(self.back, other.back),
            ..*self
        }
    }

    /// What the bytes of the long messages took.
    pub fn pair(&self, sizes: Sizes) -> Pair {
        let Sizes { latency: short, bandwidth: long } = sizes;
        let scale = long as f64 / long.saturating_sub(short).max(1) as f64;
        let [there, back] =
            [self.there, self.back].map(|trip| beyond(&trip, &self.latency).map(|s| s * scale));
        Pair { from: self.from, to: self.to, latency: self.latency, there, back }
    }
}

/// The latency of each pair of ranks, the lower rank first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub BTreeMap<(Rank, Rank), Estimate>);

/// Measures pairs round by round; all rounds share its buffers.
pub struct Prober {
    sizes: Sizes,
    short: Work,
    /// None before the first long message.
    long: Option<Work>,
}

impl Prober {
    /// The long messages must be longer than the short ones.
    pub fn new(sizes: Sizes) -> Prober {
        let short = Work::new(Pattern::Latency, sizes.latency, 1, Cache::Warm);
        Prober { sizes, short, long: None }
    }

    /// Collective: the latency of each pair of a plan, on rank 0.
    pub fn latencies(&mut self, lab: &Lab, plan: &Plan) -> Result<Option<Latencies>, CommError> {
        let found = lab.run(plan, |members| Pattern::Latency.once(members, &mut self.short))?;
        Ok(found.map(|found| latencies_of(plan, found)))
    }

    /// The same of pairs that rank 0 has dealt out.
    pub fn latencies_dealt(
        &mut self,
        lab: &Lab,
        deal: &Deal,
    ) -> Result<Option<Latencies>, CommError> {
        let short = &mut self.short;
        let found = lab.run_dealt(deal, false, |members| Pattern::Latency.once(members, short))?;
        Ok(found.zip(deal.plan()).map(|(found, plan)| latencies_of(plan, found)))
    }

    /// Collective: a look at each pair of a plan, on rank 0, which knows the latencies: a long
    /// message there and a short one back, then the other way round.
    pub fn transfers(
        &mut self,
        lab: &Lab,
        plan: &Plan,
        latencies: &Latencies,
    ) -> Result<Option<Vec<Look>>, CommError> {
        let there = lab.run(plan, |members| self.long_trip(members))?;
        let back = lab.run(&plan.turned(), |members| self.long_trip(members))?;
        Ok(there.zip(back).map(|found| looks_of(plan, found, latencies)))
    }

    /// The same of pairs that rank 0 has dealt out.
    pub fn transfers_dealt(
        &mut self,
        lab: &Lab,
        deal: &Deal,
        latencies: &Latencies,
    ) -> Result<Option<Vec<Look>>, CommError> {
        let there = lab.run_dealt(deal, false, |members| self.long_trip(members))?;
        let back = lab.run_dealt(deal, true, |members| self.long_trip(members))?;
        let found = there.zip(back).zip(deal.plan());
        Ok(found.map(|(found, plan)| looks_of(plan, found, latencies)))
    }

    fn long_trip(&mut self, members: &Members) -> Result<f64, CommError> {
        let Sizes { latency: short, bandwidth: long } = self.sizes;
        let work = self.long.get_or_insert_with(|| match members.comm.clock().is_virtual() {
            true => Work::untouched(long, short),
            false => Work::round_trip(long, short, Cache::Warm),
        });
        Pattern::RoundTrip.once(members, work)
    }
}

fn key(ranks: &[Rank]) -> (Rank, Rank) {
    (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]))
}

fn latencies_of(plan: &Plan, found: Vec<Estimate>) -> Latencies {
    Latencies(plan.subsets().map(key).zip(found).collect())
}

fn looks_of(
    plan: &Plan,
    (there, back): (Vec<Estimate>, Vec<Estimate>),
    latencies: &Latencies,
) -> Vec<Look> {
    let look = |(ranks, (there, back)): (&[Rank], (Estimate, Estimate))| {
        let latency = *latencies.0.get(&key(ranks))?;
        Some(Look { from: ranks[0], to: ranks[1], latency, there, back })
    };
    plan.subsets().zip(there.into_iter().zip(back)).filter_map(look).collect()
}

/// What a round trip takes beyond that of two short messages. The two figures are independent, so
/// the distances to the ends of their intervals add up as squares do. A difference whose interval
/// reaches 0 is not a figure.
fn beyond(trip: &Estimate, latency: &Estimate) -> Estimate {
    let value = trip.value - 2.0 * latency.value;
    let both = trip.interval.zip(latency.interval);
    let interval = both.map(|(there, short)| {
        let faster = (trip.value - there.low).hypot(2.0 * (short.high - latency.value));
        let slower = (there.high - trip.value).hypot(2.0 * (latency.value - short.low));
        let level = there.level.min(short.level);
        Interval { low: value - faster, high: value + slower, level }
    });
    if interval.is_some_and(|interval| interval.low <= 0.0) {
        return Estimate { value: 0.0, interval: None, error: None, ..*trip };
    }
    let error = interval.map(|i| (i.high - i.low) / 2.0 / value);
    Estimate { value, interval, error, ..*trip }
}

/// Collective: every pair of the plan, on rank 0.
pub fn survey(lab: &Lab, plan: &Plan, sizes: Sizes) -> Result<Option<Vec<Pair>>, CommError> {
    let mut prober = Prober::new(sizes);
    let latencies = prober.latencies(lab, plan)?.unwrap_or_default();
    let looks = prober.transfers(lab, plan, &latencies)?;
    Ok(looks.map(|looks| looks.iter().map(|look| look.pair(sizes)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half: f64) -> Estimate {
        let interval = Some(Interval { low: value - half, high: value + half, level: 0.95 });
        Estimate { value, interval, error: None, reps: 9, reached: true }
    }

    #[test]
    fn bytes_take_what_is_beyond_the_latency() {
        let look = Look {
            from: 0,
            to: 1,
            latency: estimate(10.0, 2.0),
            there: estimate(120.0, 3.0),
            back: estimate(22.0, 3.0),
        };
        let pair = look.pair(Sizes { latency: 8, bandwidth: 1008 });
        let interval = pair.there.interval.expect("an interval");
        assert!((pair.there.value - 100.8).abs() < 1e-9, "{pair:?}");
        assert!((interval.low - 95.76).abs() < 1e-9 && (interval.high - 105.84).abs() < 1e-9);
        // A time as short as the latency, within the interval, is not a figure.
        assert!(!pair.back.is_measured() && pair.back.interval.is_none(), "{pair:?}");
    }

    #[test]
    fn of_two_looks_the_faster_figures_count() {
        let look = |latency: f64, there: f64| Look {
            from: 0,
            to: 1,
            latency: estimate(latency, 0.1),
            there: estimate(there, 1.0),
            back: estimate(100.0, 1.0),
        };
        let best = look(10.0, 300.0).faster(&look(90.0, 200.0));
        assert_eq!((best.latency.value, best.there.value), (10.0, 200.0));
    }
}
