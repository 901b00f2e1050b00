//! What is between two sites: P pairs of hosts for rising P, then more connections as far as these
//! leave something open.

use laneway_core::CommError;

use super::course::{Course, FAR_SECONDS, MOST_FLOWS, NARROWER};
use super::flows::Flow;
use super::rated::Rated;
use super::{End, Found, Kind, Row};

/// A card has room for two flows that have less than this part of it each, and two that have more
/// than this many times the rate of one go beside each other.
const ROOM_FOR_TWO: f64 = 0.45;
const BOTH: f64 = 1.5;
/// No more connections of one pair are tried.
const MOST_CONNECTIONS: usize = 32;
/// Up to so many pairs, every number of them is measured.
const EVERY: usize = 4;

impl Course<'_> {
    /// From one site to another, the hosts with the fastest cards first.
    pub(super) fn way(&mut self, from: usize, to: usize) -> Result<(), CommError> {
        let ends = [Some(from), Some(to)];
        let near = self.found.fastest_first(&self.found.members(from), End::From);
        let far = self.found.fastest_first(&self.found.members(to), End::To);
        let most = near.len().min(far.len());
        let size = self.message(self.flow(near[0], far[0]), FAR_SECONDS)?;
        let pairs: Vec<Flow> = near.iter().zip(&far).map(|(a, b)| self.flow(*a, *b)).collect();
        let mut one = 0.0;
        for count in ladder(most, self.asked.every) {
            let rated = self.add(Kind::Pairs, ends, &pairs[..count], size)?;
            one = if count == 1 { rated.each.value } else { one };
        }
        if one.is_nan() || one <= 0.0 {
            return Ok(());
        }
        let (out, into) = (self.found.card_rates(near[0])[0], self.found.card_rates(far[0])[1]);
        self.repeat(pairs[0], one, out.min(into), size)?;
        self.many(ends, [&near, &far], one, size)
    }

    /// How many messages of one pair go beside each other, as soon as there is room for them: all,
    /// or those with different tags, by two, four, … of them.
    fn repeat(&mut self, flow: Flow, one: f64, card: f64, size: usize) -> Result<(), CommError> {
        if self.found.pairs_repeat.is_none() {
            let two = self.rate_over(&self.asked.rule, &[flow, flow], size, false)?;
            // Of two that go one after the other the first takes half as long.
            let most = two.rates.iter().copied().fold(0.0, f64::max);
            let at_once = most < BOTH * two.least() / 2.0;
            self.found.pairs_repeat = Some(at_once || two.together.value > BOTH * one);
        }
        if one >= ROOM_FOR_TWO * card {
            return Ok(());
        }
        if self.found.pairs_repeat == Some(true) || self.found.connections.is_some_and(|n| n > 1) {
            return Ok(());
        }
        let (mut count, mut tried) = (1.0, 2);
        while tried <= MOST_CONNECTIONS {
            let rated = self.rate_over(&self.asked.rule, &vec![flow; tried], size, true)?;
            let times = rated.together.value / one;
            if times < BOTH * count {
                count = f64::max(count, times);
                break;
            }
            (count, tried) = (times, 2 * tried);
        }
        self.found.connections = Some(count.round() as u32);
        Ok(())
    }

    /// Twice as many connections again and again, until they are no longer alone on their way, or
    /// fill the cards. Where there are more than pairs, they show whether messages of one pair go
    /// beside each other.
    fn many(
        &mut self,
        ends: [Option<usize>; 2],
        [near, far]: [&[usize]; 2],
        one: f64,
        size: usize,
    ) -> Result<(), CommError> {
        let [Some(from), Some(to)] = ends else { return Ok(()) };
        let shifts: Vec<(usize, usize)> =
            (0..far.len()).flat_map(|by| (0..near.len()).map(move |at| (at, by))).collect();
        let flows: Vec<Flow> = shifts
            .iter()
            .map(|&(at, by)| self.flow(near[at], far[(at + by) % far.len()]))
            .cycle()
            .take(MOST_FLOWS)
            .collect();
        let mut last = self.found.way(Kind::Pairs, from, to).last().cloned();
        while let Some(rated) = last {
            let count = rated.flows.len();
            let open = rated.sum() >= NARROWER * self.found.expected(&rated.flows);
            let cards = self.found.expected(&flows);
            if !open || rated.sum() >= NARROWER * cards || count >= flows.len() {
                break;
            }
            let of_pair = match self.found.pairs_repeat {
                Some(true) => 1,
                _ => self.found.connections_of_pair(),
            };
            let pairs = near.len() * far.len() * of_pair;
            let most = if count < pairs { pairs.min(flows.len()) } else { flows.len() };
            let more = (2 * count).min(most);
            if more <= pairs {
                last = Some(self.add(Kind::Many, ends, &flows[..more], size)?);
                continue;
            }
            // Where they come one after the other, they show nothing of what is shared.
            let rated = self.rate(&self.asked.rule, &flows[..more], size)?.as_one();
            if rated.sum_between()[0] <= one * pairs as f64 / NARROWER {
                break;
            }
            let [from, to] = ends;
            self.found.rows.push(Row { kind: Kind::Many, from, to, rated: rated.clone() });
            last = Some(rated);
        }
        Ok(())
    }
}

impl Found {
    /// The flows that brought the most from one site to another, the fewest of equals.
    pub fn fullest(&self, from: usize, to: usize) -> Option<&Rated> {
        let kinds = [Kind::Pairs, Kind::FromOne, Kind::ToOne, Kind::Many];
        fullest(kinds.iter().flat_map(|&kind| self.way(kind, from, to)).collect())
    }

    /// The most that one flow was seen to have from one site to another.
    pub fn alone(&self, from: usize, to: usize) -> f64 {
        let kinds = [Kind::Pairs, Kind::FromOne, Kind::ToOne, Kind::Many];
        let rows = kinds.iter().flat_map(|&kind| self.way(kind, from, to));
        rows.flat_map(|rated| rated.rates.iter().copied()).fold(0.0, f64::max)
    }

    /// What flows between sites would have together if nothing limited them but what one of them
    /// was seen to have alone, and cards.
    pub fn expected(&self, flows: &[Flow]) -> f64 {
        let host = |rank| self.hosts.iter().position(|host| host.rank == rank);
        let ends: Vec<(usize, usize)> =
            flows.iter().filter_map(|flow| host(flow.from).zip(host(flow.to))).collect();
        let alone = |from: usize, to: usize| self.alone(self.hosts[from].site, self.hosts[to].site);
        let side = |end: End| -> f64 {
            let own = |host: usize| {
                let flows = ends.iter().filter(|(from, to)| end.of([*from, *to]) == host);
                let sum: f64 = flows.map(|&(from, to)| alone(from, to)).sum();
                sum.min(self.card_rates(host)[end as usize])
            };
            let mut hosts: Vec<usize> = ends.iter().map(|&(from, to)| end.of([from, to])).collect();
            hosts.sort_unstable();
            hosts.dedup();
            hosts.into_iter().map(own).sum()
        };
        side(End::From).min(side(End::To))
    }
}

/// Those that have the most together, the fewest of equals.
pub(super) fn fullest(mut all: Vec<&Rated>) -> Option<&Rated> {
    all.sort_by_key(|rated| rated.flows.len());
    let most = all.iter().map(|rated| rated.sum()).fold(0.0, f64::max);
    all.into_iter().find(|rated| rated.sum() >= 0.98 * most)
}

/// Numbers of pairs up to the most: all of the first, then each and one and a half times each power
/// of two, and the last.
fn ladder(most: usize, every: bool) -> Vec<usize> {
    let power = |count: usize| count.is_power_of_two() || (2 * count / 3).is_power_of_two();
    let chosen = |count: &usize| {
        every || *count <= EVERY || *count == most || power(*count) && count.is_multiple_of(2)
    };
    (1..=most).filter(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_has_both_ends() {
        assert_eq!(ladder(1, false), [1]);
        assert_eq!(ladder(7, false), [1, 2, 3, 4, 6, 7]);
        assert_eq!(ladder(33, false), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33]);
        assert_eq!(ladder(9, true), (1..=9).collect::<Vec<_>>());
    }
}
