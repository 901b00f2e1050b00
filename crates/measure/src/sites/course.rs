//! What is measured after what. Every rank has all figures, and so comes to the same next step.

use laneway_core::{Comm, CommError, Rank, Stage};

use super::eager::{LONGEST_TRIED, eager_bytes};
use super::flows::{Flow, Work};
use super::places::{Host, first_ranks, latencies, sites_of_hosts};
use super::rated::{Rated, rate_flows};
use super::{Asked, Found, Kind, Row, SitesError};
use crate::p2p::Latencies;
use crate::repeat::Rule;

/// Less than this part of what one would expect shows that something else is the limit.
pub const NARROWER: f64 = 0.93;
/// Hosts of a site that differ by more are measured with the fastest of them.
const UNEVEN: f64 = 1.1;
/// Of the messages that tell a rate: the least short one, the least long one, and the longest that
/// is tried.
const LEAST_SHORT: usize = 32 << 10;
const LEAST: usize = 256 << 10;
pub(super) const MOST: usize = 16 << 20;
/// The seconds that a long message takes more than a short one, inside a site and between sites.
const NEAR_SECONDS: f64 = 20e-3;
const FAR_SECONDS: f64 = 40e-3;
/// A simulated clock has no steps, and its messages are copied in real time: enough that what
/// others send now and then does not decide.
const VIRTUAL_SECONDS: f64 = 10e-3;
const VIRTUAL_MOST: usize = 1 << 20;
/// The part of the time for a figure that one inside a site has.
const NEAR_BUDGET: f64 = 0.5;
/// A card has room for two flows that have less than this part of it each, and two that have more
/// than this many times the rate of one go beside each other.
const ROOM_FOR_TWO: f64 = 0.45;
const BOTH: f64 = 1.5;
/// No more flows than this are under way at once, but for pairs.
pub(super) const MOST_FLOWS: usize = 64;
/// The number of pairs up to which every number of them is measured.
const EVERY: usize = 4;

/// Collective: finds the sites of a communicator's hosts and measures what is inside and between
/// them, with one rank of each host; the same on every rank.
pub fn measure_sites(comm: &dyn Comm, asked: &Asked) -> Result<Found, SitesError> {
    let own = comm.dup()?;
    let names = comm.hosts()?;
    let ranks = first_ranks(&names);
    if ranks.len() < 2 {
        return Err(SitesError::OneSite { hosts: ranks.len() });
    }
    let far = latencies(&*own, &ranks, asked.alive)?;
    let (sites, of_host) = match asked.sites {
        Some(sites) => named_sites(sites, &ranks),
        None => {
            let found = sites_of_hosts(&far, ranks.len() as u32);
            let count = found.iter().max().map_or(0, |most| most + 1);
            ((0..count).map(|site| format!("site{site}")).collect(), found)
        }
    };
    if sites.len() < 2 {
        return Err(SitesError::OneSite { hosts: ranks.len() });
    }
    let host = |(&rank, site): (&Rank, u32)| {
        let name = names[rank as usize].clone();
        Host { rank, name, site: site as usize }
    };
    let hosts: Vec<Host> = ranks.iter().zip(of_host).map(host).collect();
    let latencies = by_site(&far, &hosts, sites.len());
    let found =
        Found { hosts, sites, latencies, eager_bytes: 0, pairs_repeat: None, rows: Vec::new() };
    let mut course = Course { comm: &*own, asked, found };
    course.run()?;
    Ok(course.found)
}

/// The sites that were given, in the order in which their hosts appear.
fn named_sites(sites: &[String], ranks: &[Rank]) -> (Vec<String>, Vec<u32>) {
    let mut names: Vec<String> = Vec::new();
    let of_host = ranks.iter().map(|&rank| {
        let name = &sites[rank as usize];
        names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        }) as u32
    });
    let of_host = of_host.collect();
    (names, of_host)
}

/// The middle of the latencies between the hosts of any two sites, row by row.
fn by_site(all: &Latencies, hosts: &[Host], sites: usize) -> Vec<f64> {
    let middle = |a: usize, b: usize| {
        let ends = |&(one, other): &(Rank, Rank)| {
            let [one, other] = [one, other].map(|host| hosts[host as usize].site);
            (one.min(other), one.max(other)) == (a.min(b), a.max(b))
        };
        let values: Vec<f64> =
            all.0.iter().filter(|(pair, _)| ends(pair)).map(|(_, latency)| latency.value).collect();
        laneway_stats::median(&values).unwrap_or(0.0)
    };
    (0..sites * sites).map(|at| middle(at / sites, at % sites)).collect()
}

pub(super) struct Course<'a> {
    pub(super) comm: &'a dyn Comm,
    pub(super) asked: &'a Asked<'a>,
    pub(super) found: Found,
}

impl Course<'_> {
    fn run(&mut self) -> Result<(), SitesError> {
        let sites = self.found.sites.len();
        // The eager limit, what is inside each site, the ways between them, and what meets at each.
        let all = 1 + sites + sites * (sites - 1) + sites;
        let stage = Stage::new(self.asked.observer, "parts of the sites measured", all as u64);
        self.eager()?;
        stage.step();
        for site in 0..sites {
            self.inside(site)?;
            stage.step();
        }
        for (from, to) in (0..sites).flat_map(|a| (0..sites).map(move |b| (a, b))) {
            if from != to {
                self.way(from, to)?;
                stage.step();
            }
        }
        for site in 0..sites {
            if sites > 2 {
                self.shared(Kind::Out, site)?;
                self.shared(Kind::Into, site)?;
                self.first_to_all(Kind::FromOne, site)?;
                self.first_to_all(Kind::ToOne, site)?;
            }
            self.beside(Kind::OutBeside, site)?;
            self.beside(Kind::IntoBeside, site)?;
            stage.step();
        }
        Ok(())
    }

    pub(super) fn rank(&self, host: usize) -> Rank {
        self.found.hosts[host].rank
    }

    pub(super) fn flow(&self, from: usize, to: usize) -> Flow {
        Flow { from: self.rank(from), to: self.rank(to) }
    }

    fn rate(&self, rule: &Rule, flows: &[Flow], size: usize) -> Result<Rated, CommError> {
        let takes_part = flows.iter().any(|flow| [flow.from, flow.to].contains(&self.comm.rank()));
        // A rank that only waits needs no room.
        let buffer = vec![1; if takes_part { size } else { 0 }];
        let short = match self.starts_apart(flows) {
            true => size / 2,
            false => self.short(),
        };
        let mut work = Work { size, short, buffer, delays: self.delays(flows) };
        rate_flows(self.comm, rule, flows, &mut work, self.asked.alive)
    }

    /// Whether some flows have a longer way than others, and so begin later.
    fn starts_apart(&self, flows: &[Flow]) -> bool {
        let site = |rank: Rank| self.found.hosts.iter().find(|host| host.rank == rank);
        let way =
            |flow: &Flow| site(flow.from).zip(site(flow.to)).map(|(from, to)| (from.site, to.site));
        flows.windows(2).any(|two| way(&two[0]) != way(&two[1]))
    }

    /// The short message is one that waits for its receiver, as the long one does; or neither does.
    fn short(&self) -> usize {
        match self.found.eager_bytes {
            LONGEST_TRIED.. => LEAST_SHORT,
            eager => LEAST_SHORT.max(2 * eager),
        }
    }

    /// How long each of this rank's messages waits so that it begins with those that go farther.
    fn delays(&self, flows: &[Flow]) -> Vec<f64> {
        let site = |rank: Rank| {
            self.found.hosts.iter().find(|host| host.rank == rank).map_or(0, |host| host.site)
        };
        let Some(first) = flows.first() else { return Vec::new() };
        // The first sender's word to start, and then the message.
        let begins = |flow: &Flow| {
            let word = match first.from == flow.from {
                true => 0.0,
                false => self.found.latency(site(first.from), site(flow.from)),
            };
            word + self.found.latency(site(flow.from), site(flow.to))
        };
        let last = flows.iter().map(begins).fold(0.0, f64::max);
        let own = flows.iter().filter(|flow| flow.from == self.comm.rank());
        own.map(|flow| last - begins(flow)).collect()
    }

    pub(super) fn add(
        &mut self,
        kind: Kind,
        ends: [Option<usize>; 2],
        flows: &[Flow],
        size: usize,
    ) -> Result<Rated, CommError> {
        let rule = match kind {
            // Many and quick, and not what limits a call.
            Kind::Inside => {
                Rule { budget: NEAR_BUDGET * self.asked.rule.budget, ..self.asked.rule }
            }
            _ => self.asked.rule,
        };
        let rated = self.rate(&rule, flows, size)?;
        let [from, to] = ends;
        self.found.rows.push(Row { kind, from, to, rated: rated.clone() });
        Ok(rated)
    }

    /// Between the first hosts of the first two sites.
    fn eager(&mut self) -> Result<(), SitesError> {
        let flow = self.flow(self.found.members(0)[0], self.found.members(1)[0]);
        let round_trip = 2.0 * self.found.latency(0, 1);
        let rated = self.rate(&Rule::fixed(1), &[flow], LEAST)?;
        let rate = if rated.is_measured() { rated.each.value } else { LEAST as f64 };
        let patience = |bytes: usize| 2.0 * (round_trip + bytes as f64 / rate) + 1e-3;
        self.found.eager_bytes = eager_bytes(self.comm, flow, &patience)?;
        match self.asked.message {
            Some(message) if message < 2 * self.short() => {
                Err(SitesError::TooShort { message, least: 2 * self.short() })
            }
            _ => Ok(()),
        }
    }

    /// Bytes of a message of this flow that takes long enough to be timed.
    fn message(&self, flow: Flow, seconds: f64) -> Result<usize, CommError> {
        if let Some(message) = self.asked.message {
            return Ok(message);
        }
        let (seconds, most) = match self.comm.clock().is_virtual() {
            true => (VIRTUAL_SECONDS, VIRTUAL_MOST),
            false => (seconds, MOST),
        };
        let mut size = LEAST.max(2 * self.short());
        while size < most {
            let rated = self.rate(&Rule::fixed(1), &[flow], size)?;
            if rated.is_measured() && (size - self.short()) as f64 / rated.each.value >= seconds {
                break;
            }
            size *= 2;
        }
        Ok(size)
    }

    /// From each host to the next one, round the site, so that each has sent and received; and with
    /// the fastest one, where they differ.
    fn inside(&mut self, site: usize) -> Result<(), CommError> {
        let hosts = self.found.members(site);
        let count = hosts.len();
        if count < 2 {
            return Ok(());
        }
        let ends = [Some(site); 2];
        let size = self.message(self.flow(hosts[0], hosts[1]), NEAR_SECONDS)?;
        for place in 0..count {
            let (one, next) = (hosts[place], hosts[(place + 1) % count]);
            self.add(Kind::Inside, ends, &[self.flow(one, next)], size)?;
        }
        let cards: Vec<f64> = hosts.iter().map(|&host| self.found.card_rates(host)[0]).collect();
        let fastest = (0..count).max_by(|&a, &b| cards[a].total_cmp(&cards[b])).unwrap_or(0);
        let slowest = cards.iter().copied().fold(f64::INFINITY, f64::min);
        if cards[fastest] <= UNEVEN * slowest {
            return Ok(());
        }
        for place in 0..count {
            let apart = (place + count - fastest) % count;
            let (one, other) = (hosts[place], hosts[fastest]);
            // What is next to each other was measured in one direction.
            if ![0, count - 1].contains(&apart) {
                self.add(Kind::Inside, ends, &[self.flow(one, other)], size)?;
            }
            if ![0, 1].contains(&apart) {
                self.add(Kind::Inside, ends, &[self.flow(other, one)], size)?;
            }
        }
        Ok(())
    }

    /// From one site to another: P pairs for rising P, then more connections as far as these leave
    /// something open.
    fn way(&mut self, from: usize, to: usize) -> Result<(), CommError> {
        let ends = [Some(from), Some(to)];
        let (near, far) = (self.found.members(from), self.found.members(to));
        let most = near.len().min(far.len());
        let size = self.message(self.flow(near[0], far[0]), FAR_SECONDS)?;
        let pairs: Vec<Flow> = near.iter().zip(&far).map(|(a, b)| self.flow(*a, *b)).collect();
        let mut one = 0.0;
        for count in ladder(most, self.asked.every) {
            let rated = self.add(Kind::Pairs, ends, &pairs[..count], size)?;
            one = if count == 1 { rated.each.value } else { one };
        }
        let (out, into) = (self.found.card_rates(near[0])[0], self.found.card_rates(far[0])[1]);
        if one.is_nan() || one <= 0.0 || one >= NARROWER * out.min(into) {
            return Ok(());
        }
        self.repeat(pairs[0], one, out.min(into), size)?;
        // As many connections as fill a card, and one more.
        let fan = |hosts: usize, card: f64| {
            let enough = ((card / one).ceil() as usize).saturating_add(1).min(MOST_FLOWS);
            if self.found.pairs_repeat == Some(true) { enough } else { enough.min(hosts) }
        };
        let (from_one, to_one) = (fan(far.len(), out), fan(near.len(), into));
        let flows = far.iter().cycle().take(from_one).map(|&host| self.flow(near[0], host));
        let flows: Vec<Flow> = flows.collect();
        if flows.len() > 1 {
            self.add(Kind::FromOne, ends, &flows, size)?;
        }
        let flows = near.iter().cycle().take(to_one).map(|&host| self.flow(host, far[0]));
        let flows: Vec<Flow> = flows.collect();
        if flows.len() > 1 {
            self.add(Kind::ToOne, ends, &flows, size)?;
        }
        self.many(ends, [&near, &far], one, size)
    }

    /// Whether two messages of one pair go beside each other, as soon as there is room for both.
    fn repeat(&mut self, flow: Flow, one: f64, card: f64, size: usize) -> Result<(), CommError> {
        if self.found.pairs_repeat.is_none() && one < ROOM_FOR_TWO * card {
            let two = self.rate(&self.asked.rule, &[flow, flow], size)?;
            self.found.pairs_repeat = Some(two.together.value > BOTH * one);
        }
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
        let sum = |hosts: &[usize], end: usize| -> f64 {
            hosts.iter().map(|&host| self.found.card_rates(host)[end]).sum()
        };
        let cards = sum(near, 0).min(sum(far, 1));
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
            let open = rated.sum() >= NARROWER * one * count as f64;
            if !open || rated.sum() >= NARROWER * cards || count >= flows.len() {
                break;
            }
            let pairs = near.len() * far.len();
            let most = if count < pairs { pairs.min(flows.len()) } else { flows.len() };
            let more = (2 * count).min(most);
            if more <= pairs {
                last = Some(self.add(Kind::Many, ends, &flows[..more], size)?);
                continue;
            }
            // Where they come one after the other, they tell nothing of what is shared.
            let rated = self.rate(&self.asked.rule, &flows[..more], size)?.as_one();
            if rated.sum_between()[0] <= one * pairs as f64 / NARROWER {
                break;
            }
            self.found.rows.push(Row {
                kind: Kind::Many,
                from: ends[0],
                to: ends[1],
                rated: rated.clone(),
            });
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
