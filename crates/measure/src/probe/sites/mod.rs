//! Several sites: which hosts are at one, how far the sites are apart, and what each has of the way
//! to another when one pair of hosts sends, or many at once.
//!
//! `places.rs` finds hosts and sites, `flows.rs` is one repetition of messages that begin together,
//! `rated.rs` repeats it, `eager.rs` finds the eager limit, `course.rs` says what is measured after
//! what: `inside.rs` each site, `ways.rs` between two, `sharing.rs` how a card is shared, and
//! `beside.rs` flows of several ways at once. `costs.rs` has what processors add to messages, and
//! `header.rs` the bytes that networks add. paper: multilane 4.3.

mod beside;
mod costs;
mod course;
mod eager;
mod flows;
mod header;
mod inside;
mod places;
mod rated;
mod sharing;
mod ways;

use std::fmt;

use laneway_core::{CommError, Observer, Rank};
use laneway_stats::median;

pub use costs::Costs;
pub use course::{NARROWER, measure_sites};
pub use eager::{LONGEST_TRIED, eager_bytes};
pub use flows::Flow;
use places::SHORT;
pub use places::{APART, Host, sites_of_hosts, torn_site};
pub use rated::{Rated, steady};

use crate::p2p::Estimate;
use crate::repeat::Rule;

/// A latency is at least this part of what was measured, whatever its bytes take.
const LEAST_LATENCY: f64 = 0.01;

/// What is to be measured.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The name of each rank's site; without it, latencies tell the sites apart.
    pub sites: Option<&'a [String]>,
    /// Bytes of the longest message; without it, as many as take long enough to be timed.
    pub message: Option<usize>,
    /// Every number of pairs, however many hosts there are.
    pub every: bool,
    /// Measure even where latencies do not show which hosts are a site.
    pub anyway: bool,
    /// When the repetitions of a figure are enough.
    pub rule: Rule,
    /// Called now and then.
    pub alive: &'a dyn Fn(),
    /// Receives the progress.
    pub observer: &'a dyn Observer,
}

/// Which flows are under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One, between two hosts of a site.
    Inside,
    /// One for each of P pairs of hosts, P at each site: b_WAN(P) of the multi-lane paper.
    Pairs,
    /// From one host to several, of its own site, of another or of all others.
    FromOne,
    /// From several hosts to one, of its own site, of another or of all others.
    ToOne,
    /// Several for each pair.
    Many,
    /// From one site to all others.
    Out,
    /// To one site from all others.
    Into,
    /// From one host, to others of its site and to another site.
    OutBeside,
    /// To one host, from others of its site and from another site.
    IntoBeside,
    /// Between all sites, in both directions.
    All,
}

impl Kind {
    /// The word for it in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Inside => "inside",
            Kind::Pairs => "pairs",
            Kind::FromOne => "from one",
            Kind::ToOne => "to one",
            Kind::Many => "many",
            Kind::Out => "out",
            Kind::Into => "into",
            Kind::OutBeside => "out beside",
            Kind::IntoBeside => "into beside",
            Kind::All => "all",
        }
    }
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The sender's.
    From,
    /// The receiver's.
    To,
}

impl End {
    /// The end of a flow that is not this one.
    pub fn other(self) -> End {
        match self {
            End::From => End::To,
            End::To => End::From,
        }
    }

    /// Of a sender's and a receiver's, this end's.
    pub fn of<T>(self, [from, to]: [T; 2]) -> T {
        match self {
            End::From => from,
            End::To => to,
        }
    }

    /// The rank at this end of a flow.
    pub fn of_flow(self, flow: &Flow) -> Rank {
        self.of([flow.from, flow.to])
    }

    /// The way between a site at this end and another one.
    pub(crate) fn way(self, site: usize, other: usize) -> [usize; 2] {
        match self {
            End::From => [site, other],
            End::To => [other, site],
        }
    }

    /// The ends of flows between a site at this end and several others.
    pub fn meeting(self, site: usize) -> [Option<usize>; 2] {
        match self {
            End::From => [Some(site), None],
            End::To => [None, Some(site)],
        }
    }
}

/// Flows between sites, and what they have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Which flows are under way at once.
    pub kind: Kind,
    /// `None` if they come from several.
    pub from: Option<usize>,
    /// `None` if they go to several.
    pub to: Option<usize>,
    /// Bytes a second of each flow and of all together.
    pub rated: Rated,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// By their ranks.
    pub hosts: Vec<Host>,
    /// Names of the sites.
    pub sites: Vec<String>,
    /// Seconds one way, half a round trip, from site to site, row by row; inside on the diagonal,
    /// where it is 0 for a single host.
    pub latencies: Vec<f64>,
    /// Messages up to this size leave before they are asked for.
    pub eager_bytes: usize,
    /// Bytes that the network adds to a message, where short ones show it.
    pub header_bytes: Option<u32>,
    /// Whether two messages of one pair go beside each other, where that was tried.
    pub pairs_repeat: Option<bool>,
    /// How many connections messages of one pair with different tags take, where that was tried.
    pub connections: Option<u32>,
    /// Whether flows with a long way have less of a full card, where that was tried.
    pub by_latency: Option<bool>,
    /// What the processor of each host adds to messages.
    pub costs: Vec<Costs>,
    /// In the order in which they were measured.
    pub rows: Vec<Row>,
}

impl Found {
    /// Messages of one pair of hosts that are under way at once.
    pub fn connections_of_pair(&self) -> usize {
        match self.pairs_repeat {
            Some(true) => usize::MAX,
            _ => self.connections.map_or(1, |count| count as usize),
        }
    }

    /// Seconds one way from a site to another, or inside one.
    pub fn latency(&self, from: usize, to: usize) -> f64 {
        self.latencies[from * self.sites.len() + to]
    }

    /// The same without the time that the bytes of a short message take, as they pass what limits
    /// the hosts that showed it.
    pub fn wire_latency(&self, from: usize, to: usize) -> f64 {
        let latency = self.latency(from, to);
        let bytes = f64::from(self.header_bytes.unwrap_or(0)) + SHORT as f64;
        let Some(ends) = self.latency_ends(from, to) else { return latency };
        let slowest = |[a, b]: [usize; 2]| {
            let [from, to] = [a, b].map(|host| self.hosts[host].site);
            let ends = self.seen(a, End::From).min(self.seen(b, End::To));
            bytes / ends.min(self.alone(from, to))
        };
        let there = slowest(ends);
        let back = slowest([ends[1], ends[0]]);
        let spent = (there + back) / 2.0;
        let spent = if spent.is_finite() { spent } else { 0.0 };
        (latency - spent).max(LEAST_LATENCY * latency)
    }

    /// The hosts that show the latency between two sites, or inside one: the first of each.
    pub(crate) fn latency_ends(&self, from: usize, to: usize) -> Option<[usize; 2]> {
        let (one, other) = (self.members(from), self.members(to));
        let second = if from == to { other.get(1) } else { other.first() };
        Some([*one.first()?, *second?])
    }

    /// The places of a site's hosts among all hosts.
    pub fn members(&self, site: usize) -> Vec<usize> {
        (0..self.hosts.len()).filter(|&host| self.hosts[host].site == site).collect()
    }

    /// The rows of one kind from one site to another.
    pub fn way(&self, kind: Kind, from: usize, to: usize) -> impl Iterator<Item = &Rated> {
        let ends = (Some(from), Some(to));
        let chosen = move |row: &&Row| row.kind == kind && (row.from, row.to) == ends;
        self.rows.iter().filter(chosen).map(|row| &row.rated)
    }

    /// The row of one kind with these ends, of which one may be several sites.
    pub fn meeting(&self, kind: Kind, ends: [Option<usize>; 2]) -> Option<&Rated> {
        let chosen = |row: &&Row| row.kind == kind && [row.from, row.to] == ends;
        self.rows.iter().find(chosen).map(|row| &row.rated)
    }

    /// The most that a host was seen to send inside its site, and to receive, in bytes a second;
    /// none where it is alone there.
    pub fn card(&self, host: usize) -> [Option<Estimate>; 2] {
        let Host { rank, site, .. } = self.hosts[host];
        let kinds = [Kind::Inside, Kind::FromOne, Kind::ToOne];
        [End::From, End::To].map(|end| {
            let rows = kinds.iter().flat_map(|kind| self.way(*kind, site, site));
            let sums = rows.filter_map(|rated| rated.sum_at(rank, end));
            sums.max_by(|one, other| one.value.total_cmp(&other.value))
        })
    }

    /// The most that a host was seen to send to any hosts, or to receive, in bytes a second.
    pub fn seen(&self, host: usize, end: End) -> f64 {
        let rank = self.hosts[host].rank;
        let rows = self.rows.iter().filter_map(|row| match row.kind {
            Kind::OutBeside | Kind::IntoBeside if end.of([row.from, row.to]).is_some() => {
                row.rated.sum_at(rank, end).map(|_| row.rated.steady())
            }
            Kind::OutBeside | Kind::IntoBeside => None,
            _ if self.may_be_unequal(row) => row.rated.steady_at(rank, end),
            _ => row.rated.sum_at(rank, end).map(|sum| sum.value),
        });
        rows.fold(0.0, f64::max)
    }

    /// The same without the interval; infinite where nothing limits it that is known.
    pub fn card_rates(&self, host: usize) -> [f64; 2] {
        self.card(host).map(|card| card.map_or(f64::INFINITY, |card| card.value))
    }

    /// The rate of a site's hosts: the middle one of what any two of them have.
    pub fn lan(&self, site: usize) -> Option<f64> {
        let rates = self.way(Kind::Inside, site, site).map(|rated| rated.each.value);
        median(&rates.collect::<Vec<_>>())
    }

    /// Whether every figure was measured.
    pub fn is_measured(&self) -> bool {
        let apart = |at: usize| at / self.sites.len() != at % self.sites.len();
        let latencies = self.latencies.iter().enumerate().filter(|(at, _)| apart(*at));
        let far = latencies.into_iter().all(|(_, latency)| *latency > 0.0 && latency.is_finite());
        far && self.rows.iter().all(|row| row.rated.is_measured())
    }
}

/// Why nothing was measured. All ranks come to the same.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SitesError {
    /// All hosts are at one site, with their number.
    OneSite {
        /// All that the ranks run on; 1 where they share one.
        hosts: usize,
    },
    /// Latencies do not show which hosts are a site: some are farther from each other than a third
    /// of what they are from others.
    Torn {
        /// Names of some hosts that would be a site.
        hosts: Vec<String>,
        /// Seconds between them, one way.
        inside: f64,
        /// Seconds to the nearest others.
        outside: f64,
    },
    /// The message is hardly longer than those that leave at once, and has no rate to tell.
    TooShort {
        /// Bytes that were asked for.
        message: usize,
        /// Bytes that it takes at least.
        least: usize,
    },
    /// The communicator failed.
    Comm(CommError),
}

impl fmt::Display for SitesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SitesError::OneSite { hosts: 1 } => f.write_str("all ranks are on one host"),
            SitesError::OneSite { hosts } => write!(f, "the {hosts} hosts are at one site"),
            SitesError::Torn { hosts, inside, outside } => {
                let [inside, outside] = [inside, outside].map(|seconds| seconds * 1e6);
                let hosts = hosts.join(", ");
                write!(
                    f,
                    "{hosts} are {inside:.1} us from each other and {outside:.1} us from others; \
                     hosts of a site are at most a third as far from each other"
                )
            }
            SitesError::TooShort { message, least } => {
                write!(
                    f,
                    "{message} bytes are too short to measure a rate here; {least} are needed"
                )
            }
            SitesError::Comm(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SitesError {}

impl From<CommError> for SitesError {
    fn from(error: CommError) -> SitesError {
        SitesError::Comm(error)
    }
}
