//! The rates of flows that are under way at once, from repetitions until the rule is content.
//!
//! A repetition sends a short message and a long one. What the long one takes more is free of
//! latency, of the handshake that both have, and of how far the senders begin apart.

use laneway_core::{Comm, CommError, Rank};
use laneway_stats::{Interval, median};

use super::End;
use super::flows::{Flow, Work, once};
use crate::p2p::Estimate;
use crate::repeat::Rule;
use crate::talk::{broadcast, broadcast_to_idle, gather_at_idle};

/// What some flows have at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Rated {
    /// Who sends to whom.
    pub flows: Vec<Flow>,
    /// Bytes of the long message.
    pub size: usize,
    /// Bytes a second of a flow: the mean of all.
    pub each: Estimate,
    /// All bytes over the time of the slowest flow, in bytes a second.
    pub together: Estimate,
    /// The rate of each flow.
    pub rates: Vec<f64>,
}

impl Rated {
    /// What all have while all are under way. Under fair sharing no flow becomes faster when a
    /// faster one ends: that one is not where the slower one's limit is.
    pub fn sum(&self) -> f64 {
        self.each.value * self.flows.len() as f64
    }

    /// The same at the lower and the upper end of the interval.
    pub fn sum_between(&self) -> [f64; 2] {
        let ends = self.each.interval.map_or([self.each.value; 2], |i| [i.low, i.high]);
        ends.map(|rate| rate * self.flows.len() as f64)
    }

    /// What the flows of a rank have together at one of their ends; none where it has none.
    pub fn sum_at(&self, rank: Rank, end: End) -> Option<Estimate> {
        let own = self.flows.iter().zip(&self.rates).filter(|(flow, _)| end.of_flow(flow) == rank);
        let rates: Vec<f64> = own.map(|(_, rate)| *rate).collect();
        if rates.is_empty() {
            return None;
        }
        let (value, part) = (rates.iter().sum::<f64>(), self.each.value);
        let scaled = |rate: f64| if part > 0.0 { rate / part * value } else { 0.0 };
        let interval = self.each.interval.map(|interval| Interval {
            low: scaled(interval.low),
            high: scaled(interval.high),
            ..interval
        });
        Some(Estimate { value, interval, ..self.each })
    }

    /// What all have together at least while they are under way, however they share: as many bytes
    /// as have arrived when the fastest is over, or the fastest two, …, over the time until then.
    pub fn steady(&self) -> f64 {
        steady(&self.rates)
    }

    /// The same of a rank's flows at one of their ends; `None` if it has no flow there.
    pub fn steady_at(&self, rank: Rank, end: End) -> Option<f64> {
        let own = self.flows.iter().zip(&self.rates).filter(|(flow, _)| end.of_flow(flow) == rank);
        let rates: Vec<f64> = own.map(|(_, rate)| *rate).collect();
        (!rates.is_empty()).then(|| steady(&rates))
    }

    /// What all would have if each had as much as the slowest.
    pub fn least(&self) -> f64 {
        let slowest = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
        slowest.min(self.each.value) * self.flows.len() as f64
    }

    /// Where messages of one pair may wait for each other, only what all have together counts.
    pub fn as_one(mut self) -> Rated {
        let count = self.flows.len().max(1) as f64;
        self.each.value = self.together.value / count;
        self.each.interval = self.together.interval.map(|mut interval| {
            (interval.low, interval.high) = (interval.low / count, interval.high / count);
            interval
        });
        self.rates = vec![self.each.value; self.flows.len()];
        self
    }

    /// Whether both rates are above 0 and finite.
    pub fn is_measured(&self) -> bool {
        self.each.is_measured() && self.together.is_measured()
    }
}

/// Seconds of the flows in one repetition, of the short message and of the long one.
struct Repetition {
    short: Vec<f64>,
    long: Vec<f64>,
}

impl Repetition {
    /// Bytes a second of each flow; 0 where the longer message took no longer.
    fn rates(&self, bytes: f64) -> impl Iterator<Item = f64> {
        let both = self.short.iter().zip(&self.long);
        both.map(move |(short, long)| rate(bytes, long - short))
    }

    fn each(&self, bytes: f64) -> f64 {
        self.rates(bytes).sum::<f64>() / self.short.len().max(1) as f64
    }

    fn together(&self, bytes: f64) -> f64 {
        let last = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        rate(bytes * self.short.len() as f64, last(&self.long) - last(&self.short))
    }
}

/// What flows with these rates have together at least, however they share.
pub fn steady(rates: &[f64]) -> f64 {
    let mut rates = rates.to_vec();
    rates.sort_by(|one, other| other.total_cmp(one));
    rates.iter().zip(1..).map(|(rate, count)| rate * f64::from(count)).fold(0.0, f64::max)
}

fn rate(bytes: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes / seconds } else { 0.0 }
}

/// Collective: what the flows have, on every rank; `alive` is called in every repetition.
pub fn rate_flows(
    comm: &dyn Comm,
    rule: &Rule,
    flows: &[Flow],
    work: &mut Work,
    alive: &dyn Fn(),
) -> Result<Rated, CommError> {
    let size = work.size;
    let begun = comm.clock().now();
    let mut repetitions: Vec<Repetition> = Vec::new();
    let bytes = (size - work.short) as f64;
    // The first call opens connections.
    once(comm, flows, size, work)?;
    loop {
        let each: Vec<f64> = repetitions.iter().map(|one| one.each(bytes)).collect();
        let mut wanted = [f64::from(match comm.rank() {
            0 => rule.wanted(&each, comm.clock().now() - begun),
            _ => 0,
        })];
        broadcast_to_idle(comm, &mut wanted)?;
        if wanted[0] < 1.0 {
            break;
        }
        let mut own = Vec::new();
        for _ in 0..wanted[0] as u32 {
            alive();
            own.push(once(comm, flows, work.short, work)?);
            own.push(once(comm, flows, size, work)?);
        }
        repetitions.extend(gathered(comm, flows, own)?);
    }
    settled(comm, rule, flows, work, &repetitions)
}

/// Collective: the repetitions of all ranks, on rank 0. Every rank gives as many numbers as the
/// busiest sender, so that all ends know the lengths.
fn gathered(
    comm: &dyn Comm,
    flows: &[Flow],
    own: Vec<Vec<f64>>,
) -> Result<Vec<Repetition>, CommError> {
    let sent = |rank| flows.iter().filter(|flow| flow.from == rank).count();
    let width = flows.iter().map(|flow| sent(flow.from)).max().unwrap_or(0);
    let rounds = own.len();
    let numbers: Vec<f64> = own
        .into_iter()
        .flat_map(|mut times| {
            times.resize(width, 0.0);
            times
        })
        .collect();
    let all = gather_at_idle(comm, &numbers)?;
    if comm.rank() != 0 {
        return Ok(Vec::new());
    }
    let mut number = vec![0; comm.size() as usize];
    // Where a flow's time is among the numbers of one round.
    let places: Vec<usize> = flows
        .iter()
        .map(|flow| {
            let from = flow.from as usize;
            number[from] += 1;
            from * width * rounds + number[from] - 1
        })
        .collect();
    let round = |round: usize| -> Vec<f64> {
        places.iter().map(|place| all[place + round * width]).collect()
    };
    let pair = |pair: usize| Repetition { short: round(2 * pair), long: round(2 * pair + 1) };
    Ok((0..rounds / 2).map(pair).collect())
}

/// Collective: what the repetitions say, from rank 0, which has them, to all.
fn settled(
    comm: &dyn Comm,
    rule: &Rule,
    flows: &[Flow],
    work: &Work,
    repetitions: &[Repetition],
) -> Result<Rated, CommError> {
    let Work { size, short, .. } = *work;
    let bytes = (size - short) as f64;
    let estimate = |figure: &dyn Fn(&Repetition) -> f64| {
        let samples: Vec<f64> = repetitions.iter().map(figure).collect();
        Estimate::of(rule, &samples)
    };
    let each = estimate(&|one| one.each(bytes));
    let together = estimate(&|one| one.together(bytes));
    let all: Vec<Vec<f64>> = repetitions.iter().map(|one| one.rates(bytes).collect()).collect();
    let own = |flow: usize| {
        let samples: Vec<f64> = all.iter().map(|rates| rates[flow]).collect();
        median(&samples).unwrap_or(0.0)
    };
    let mut numbers = each.numbers().to_vec();
    numbers.extend(together.numbers());
    numbers.extend((0..flows.len()).map(own));
    broadcast(comm, &mut numbers)?;
    let (each, rest) = numbers.split_at(numbers.len().min(each.numbers().len()));
    let (together, rates) = rest.split_at(rest.len().min(each.len()));
    let read = |numbers: &[f64]| {
        let what = "an estimate of another length".to_string();
        Estimate::from(numbers).ok_or(CommError::Argument { what })
    };
    Ok(Rated {
        flows: flows.to_vec(),
        size,
        each: read(each)?,
        together: read(together)?,
        rates: rates.to_vec(),
    })
}
