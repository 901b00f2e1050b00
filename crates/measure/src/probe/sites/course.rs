//! What is measured after what. Every rank has all figures, and so comes to the same next step.

use laneway_core::{Comm, CommError, Rank, Stage};

use super::costs::{Costs, costs};
use super::eager::{LONGEST_TRIED, eager_bytes};
use super::flows::{Flow, Work};
use super::header::header_bytes;
use super::places::{Host, first_ranks, latencies, latency_alone, sites_of_hosts, torn_site};
use super::rated::{Rated, rate_flows};
use super::{Asked, End, Found, Kind, Row, SitesError};
use crate::p2p::Latencies;
use crate::repeat::Rule;

/// Less than this part of what one would expect shows that something else is the limit.
pub const NARROWER: f64 = 0.93;
/// Of the messages that tell a rate: the least short one, the least long one, and the longest that
/// is tried.
const LEAST_SHORT: usize = 32 << 10;
const LEAST: usize = 256 << 10;
pub(super) const MOST: usize = 16 << 20;
/// A long message takes so many seconds more than a short one, inside a site and between sites.
pub(super) const NEAR_SECONDS: f64 = 20e-3;
pub(super) const FAR_SECONDS: f64 = 40e-3;
/// A simulated clock has no steps, and its messages are copied in real time: enough that what
/// others send now and then does not decide.
const VIRTUAL_SECONDS: f64 = 10e-3;
const VIRTUAL_MOST: usize = 1 << 20;
/// The part of the time for a figure that one inside a site has.
const NEAR_BUDGET: f64 = 0.5;
/// Bytes of a message count where the latency without them is less than this part of it.
const MOSTLY: f64 = 0.95;
/// No more flows than this are under way at once, but for pairs.
pub(super) const MOST_FLOWS: usize = 64;

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
            if let Some((site, [inside, outside])) =
                torn_site(&far, &found).filter(|_| !asked.anyway)
            {
                let own = ranks.iter().zip(&found).filter(|(_, own)| **own == site);
                let name = |(rank, _): (&Rank, _)| names[*rank as usize].clone();
                let hosts = own.map(name).collect();
                return Err(SitesError::Torn { hosts, inside, outside });
            }
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
    let found = Found { hosts, sites, latencies, ..Found::default() };
    let mut course = Course { comm: &*own, asked, found, wire: Vec::new() };
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
    /// Latencies without the bytes of a message, when these are known.
    wire: Vec<f64>,
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
        self.costs()?;
        self.header()?;
        self.latencies_alone()?;
        self.sharing()?;
        for site in 0..sites {
            if sites > 2 {
                self.shared(Kind::Out, site)?;
                self.shared(Kind::Into, site)?;
            }
            for end in [End::From, End::To] {
                for host in self.found.members(site) {
                    self.across(host, end)?;
                    self.beside(host, end)?;
                }
            }
            stage.step();
        }
        self.sharing_across()?;
        Ok(self.all()?)
    }

    /// The latencies between any two sites, and inside each, while no other pair sends, where the
    /// bytes of a message count: those of others over the same way would, too.
    fn latencies_alone(&mut self) -> Result<(), SitesError> {
        let sites = self.found.sites.len();
        for (from, to) in (0..sites).flat_map(|a| (a..sites).map(move |b| (a, b))) {
            let Some(ends) = self.found.latency_ends(from, to) else { continue };
            if self.found.wire_latency(from, to) > MOSTLY * self.found.latency(from, to) {
                continue;
            }
            let pair = ends.map(|host| self.rank(host));
            let latency = latency_alone(self.comm, pair, self.asked.alive)?;
            if latency > 0.0 {
                self.found.latencies[from * sites + to] = latency;
                self.found.latencies[to * sites + from] = latency;
            }
        }
        let wire = |at: usize| self.found.wire_latency(at / sites, at % sites);
        self.wire = (0..sites * sites).map(wire).collect();
        Ok(())
    }

    /// What processors add to messages, between neighbours that are at one site if there are any.
    fn costs(&mut self) -> Result<(), SitesError> {
        let mut order: Vec<usize> = (0..self.found.hosts.len()).collect();
        order.sort_by_key(|host| self.found.hosts[*host].site);
        let ranks: Vec<Rank> = order.iter().map(|host| self.rank(*host)).collect();
        let rates = self.found.rows.iter().flat_map(|row| row.rated.rates.iter().copied());
        let slowest = rates.filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        let latest = self.found.latencies.iter().copied().fold(0.0, f64::max);
        let eager = self.found.eager_bytes;
        let all = costs(self.comm, &ranks, eager, [latest, slowest], self.asked.alive)?;
        let place = |host: usize| order.iter().position(|one| *one == host);
        let of = |host: usize| place(host).map_or(Costs::default(), |place| all[place]);
        self.found.costs = (0..order.len()).map(of).collect();
        Ok(())
    }

    /// What the network adds to each message, on the slowest way: there short messages show it.
    fn header(&mut self) -> Result<(), SitesError> {
        let single = |row: &&Row| row.rated.flows.len() == 1 && row.rated.is_measured();
        let rate = |row: &Row| row.rated.each.value;
        let rows = self.found.rows.iter().filter(single);
        let Some(row) = rows.min_by(|a, b| rate(a).total_cmp(&rate(b))) else { return Ok(()) };
        let dearest = |own: &Costs| own.per_send.max(own.per_receive);
        let cost = self.found.costs.iter().map(dearest).fold(0.0, f64::max);
        self.found.header_bytes =
            header_bytes(self.comm, row.rated.flows[0], cost, self.asked.alive)?;
        Ok(())
    }

    pub(super) fn rank(&self, host: usize) -> Rank {
        self.found.hosts[host].rank
    }

    pub(super) fn flow(&self, from: usize, to: usize) -> Flow {
        Flow { from: self.rank(from), to: self.rank(to) }
    }

    pub(super) fn rate(
        &self,
        rule: &Rule,
        flows: &[Flow],
        size: usize,
    ) -> Result<Rated, CommError> {
        self.rate_over(rule, flows, size, self.found.connections_of_pair() > 1)
    }

    /// The same; with `channels` messages of one pair may take different connections.
    pub(super) fn rate_over(
        &self,
        rule: &Rule,
        flows: &[Flow],
        size: usize,
        channels: bool,
    ) -> Result<Rated, CommError> {
        let takes_part = flows.iter().any(|flow| [flow.from, flow.to].contains(&self.comm.rank()));
        // A rank that only waits needs no room.
        let buffer = vec![1; if takes_part { size } else { 0 }];
        let short = match self.starts_apart(flows) {
            true => size / 2,
            false => self.short(),
        };
        let mut work = Work { size, short, buffer, channels, delays: self.delays(flows) };
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

    fn way_latency(&self, from: usize, to: usize) -> f64 {
        let known = self.wire.get(from * self.found.sites.len() + to).copied();
        known.unwrap_or_else(|| self.found.latency(from, to))
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
                false => self.way_latency(site(first.from), site(flow.from)),
            };
            word + self.way_latency(site(flow.from), site(flow.to))
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
            _ if ends[0] == ends[1] => {
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
    pub(super) fn message(&self, flow: Flow, seconds: f64) -> Result<usize, CommError> {
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
}
