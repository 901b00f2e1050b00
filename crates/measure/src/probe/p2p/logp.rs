//! What the LogGP and PLogP models are made of: overheads, gap and latency of a message.
//!
//! - o_s(m): how long a blocking send keeps its caller, when the receiver waits for it. A message
//!   beyond the eager size is kept until it has arrived, and so is its caller.
//! - o_r(m): how long a receive keeps its caller, when the message has been there for long: it is
//!   asked for, and received after a pause of two round trips (PLogP's procedure).
//! - g(m): what one more message takes: a train of 2n messages less a train of n, over n. What is
//!   paid once, the latency and the answer, falls out.
//! - L: half the round trip of m less half of all four overheads in it, as in LogGP; the two ranks
//!   may differ, so each is measured. PLogP's own L is the time of an empty message less g(0),
//!   which is had from the same figures. The formula takes the two ends to be busy one after the
//!   other. Beyond the eager size they are not: the bytes move while both wait for them, and are in
//!   o_s as well as in o_r. What is left is then 0 or less, and there is no L.

use laneway_core::CommError;
use laneway_stats::Interval;

use super::disjoint::{Estimate, Lab};
use super::pattern::{Pattern, Work};
use super::plan::Plan;
use crate::cache::Cache;

/// Seconds, for one pair and size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogP {
    /// How long a send keeps the first rank and the second.
    pub send_overheads: [Estimate; 2],
    /// How long a receive keeps the first rank and the second.
    pub receive_overheads: [Estimate; 2],
    /// What one more message takes.
    pub gap: Estimate,
    /// One way: half a round trip.
    pub trip: Estimate,
    /// What is left of the trip; its interval is as wide as those that it comes from allow. None
    /// where the overheads are as long as the trip or longer: both ends are busy at the same time.
    pub latency: Option<Estimate>,
}

/// One of the experiments on a pair.
pub(super) struct Part {
    pub pattern: Pattern,
    leader: Leader,
}

/// Whose figure it is.
enum Leader {
    First,
    Second,
}

impl Part {
    /// The plan in which the right rank leads.
    pub fn plan(&self, plan: &Plan) -> Plan {
        match self.leader {
            Leader::First => plan.clone(),
            Leader::Second => plan.turned(),
        }
    }
}

impl LogP {
    /// What is measured of each pair, in the order of [`LogP::of`].
    pub(super) const PARTS: [Part; 6] = [
        Part { pattern: Pattern::SendOverhead, leader: Leader::First },
        Part { pattern: Pattern::SendOverhead, leader: Leader::Second },
        Part { pattern: Pattern::ReceiveOverhead, leader: Leader::First },
        Part { pattern: Pattern::ReceiveOverhead, leader: Leader::Second },
        Part { pattern: Pattern::Gap, leader: Leader::First },
        Part { pattern: Pattern::Latency, leader: Leader::First },
    ];

    /// What the experiments came to on one pair.
    pub fn of(found: [Estimate; 6]) -> LogP {
        let [sent, sent_back, received, received_back, gap, trip] = found;
        let latency = rest(&trip, &[sent, sent_back, received, received_back]);
        let (send_overheads, receive_overheads) = ([sent, sent_back], [received, received_back]);
        LogP { send_overheads, receive_overheads, gap, trip, latency }
    }
}

/// Collective: the parameters of every pair of the plan, on rank 0.
pub fn logp(
    lab: &Lab,
    plan: &Plan,
    size: usize,
    cache: Cache,
) -> Result<Option<Vec<LogP>>, CommError> {
    let mut found: Vec<Vec<Estimate>> = Vec::new();
    for part in &LogP::PARTS {
        let mut work = Work::new(part.pattern, size, 1, cache);
        let all = lab.run(&part.plan(plan), |members| part.pattern.once(members, &mut work))?;
        found.push(all.unwrap_or_default());
    }
    let pair = |index: usize| LogP::of(std::array::from_fn(|experiment| found[experiment][index]));
    let pairs = (0..found[0].len()).map(pair).collect();
    Ok((lab.comm.rank() == 0).then_some(pairs))
}

/// The trip less half of the overheads there and back; `None` if nothing is left.
fn rest(trip: &Estimate, overheads: &[Estimate]) -> Option<Estimate> {
    let sum = |of: &dyn Fn(&Estimate) -> Option<f64>| {
        overheads.iter().map(of).sum::<Option<f64>>().map(|sum| sum / 2.0)
    };
    let lows = sum(&|overhead| Some(overhead.interval?.low));
    let highs = sum(&|overhead| Some(overhead.interval?.high));
    let all = || overheads.iter().chain([trip]);
    // Each of the five may miss.
    let missed: f64 = all().filter_map(|estimate| Some(1.0 - estimate.interval?.level)).sum();
    let interval = match (trip.interval, lows, highs) {
        (Some(trip), Some(lows), Some(highs)) => Some(Interval {
            low: trip.low - highs,
            high: trip.high - lows,
            level: (1.0 - missed).max(0.0),
        }),
        _ => None,
    };
    let value = trip.value - overheads.iter().map(|overhead| overhead.value).sum::<f64>() / 2.0;
    // NaN was not measured, and is reported as it is.
    let is_overlapping = value <= 0.0;
    (!is_overlapping).then(|| Estimate {
        value,
        interval,
        error: interval.map(|interval| interval.half_width() / value.abs()),
        reps: all().map(|estimate| estimate.reps).min().unwrap_or(0),
        reached: all().all(|estimate| estimate.reached),
    })
}
