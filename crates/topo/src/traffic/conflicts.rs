//! How many messages of a phase share a link.
//!
//! paper: fullmesh 6.1. The conflict of a message is the largest number of messages, itself
//! included, on any link of its way; a message to its own host shares no link and has 1.
//!
//! A message costs a look at its way and an increment for each link of it; counts are whole
//! numbers, so the sum over all phases is the same however many threads share them.

use std::borrow::Cow;
use std::ops::Range;

use laneway_core::{Observer, Phases, Stage};

use crate::routing::Routing;
use crate::routing::table::Table;
use crate::threads::shared;
use crate::traffic::ways::{self, Number, Ways};
use crate::wiring::links::Links;
use crate::wiring::{Host, Wiring};

/// A tally of conflicts. Everything that a report needs follows from the two histograms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// The number of phases by their largest conflict.
    pub phases: Vec<u64>,
    /// The number of messages by their conflict.
    pub flows: Vec<u64>,
    /// Messages that do not arrive; they are in no histogram of messages.
    pub lost: u64,
}

fn add(histogram: &mut Vec<u64>, at: usize, count: u64) {
    if histogram.len() <= at {
        histogram.resize(at + 1, 0);
    }
    histogram[at] += count;
}

/// The mean of 1 / value, over a histogram; 0 where nothing was counted.
fn mean_inverse(histogram: &[u64]) -> f64 {
    let all: u64 = histogram.iter().sum();
    let inverse = |(value, &count): (usize, &u64)| count as f64 / value.max(1) as f64;
    histogram.iter().enumerate().map(inverse).sum::<f64>() / all.max(1) as f64
}

impl Tally {
    /// The largest conflict.
    pub fn worst(&self) -> u32 {
        self.phases.len().saturating_sub(1) as u32
    }

    /// The mean over phases of 1 / their largest conflict: what a barrier after each one leaves.
    pub fn phase_mean(&self) -> f64 {
        mean_inverse(&self.phases)
    }

    /// The mean over messages of 1 / conflict.
    pub fn flow_mean(&self) -> f64 {
        mean_inverse(&self.flows)
    }

    /// The sum of the phases' largest conflicts: the time of phase after phase, in messages.
    pub fn time(&self) -> u64 {
        self.phases.iter().enumerate().map(|(worst, count)| worst as u64 * count).sum()
    }

    /// One more phase with this largest conflict.
    pub(crate) fn add_phase(&mut self, worst: u32) {
        add(&mut self.phases, worst.max(1) as usize, 1);
    }

    /// One more message with this conflict.
    pub(crate) fn add_flow(&mut self, conflict: u32) {
        add(&mut self.flows, conflict as usize, 1);
    }

    /// A resting host was counted like one that keeps a message to itself, and sends none.
    pub(crate) fn rest(&mut self, resting: u64) {
        if resting > 0 {
            self.flows[1] -= resting;
        }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Tally) {
        for (into, from) in [(&mut self.phases, &other.phases), (&mut self.flows, &other.flows)] {
            from.iter().enumerate().for_each(|(at, &count)| add(into, at, count));
        }
        self.lost += other.lost;
    }
}

/// Ways with numbers of the size that the fabric needs.
enum Held {
    Few(Ways<u16>),
    Many(Ways<u32>),
}

/// What the stage of counting is called.
const COUNTED: &str = "phases counted";

/// Counts conflicts over one wiring and routing.
pub struct Counter {
    hosts: u32,
    links: Links,
    ways: Held,
}

/// The load of every link in one phase.
pub struct Load<'c> {
    counter: &'c Counter,
    counts: Vec<u32>,
}

impl Load<'_> {
    /// The number of messages on a link.
    pub fn on(&self, link: u32) -> u32 {
        self.counts[link as usize]
    }

    /// The numbers of the links.
    pub fn links(&self) -> &Links {
        &self.counter.links
    }
}

impl Counter {
    /// Works out all ways; refuses a fabric whose ways do not fit into memory.
    pub fn new(wiring: &dyn Wiring, routing: &dyn Routing) -> Result<Counter, String> {
        Counter::observed(wiring, routing, &())
    }

    /// The same, with progress reports.
    pub fn observed(
        wiring: &dyn Wiring,
        routing: &dyn Routing,
        observer: &dyn Observer,
    ) -> Result<Counter, String> {
        let table = || Cow::Owned(Table::of_observed(wiring, routing, observer));
        Counter::over(wiring, table, observer)
    }

    /// The same for a table.
    pub fn of(wiring: &dyn Wiring, table: &Table) -> Result<Counter, String> {
        Counter::over(wiring, || Cow::Borrowed(table), &())
    }

    fn over<'t>(
        wiring: &dyn Wiring,
        table: impl FnOnce() -> Cow<'t, Table>,
        observer: &dyn Observer,
    ) -> Result<Counter, String> {
        let (hosts, links) = (wiring.hosts(), Links::of(wiring));
        // A table that would not serve is not made either.
        let ways = if ways::are_few(&links, hosts) {
            ways::ensure_fit::<u16>(wiring, 2)?;
            Held::Few(Ways::new(wiring, &table(), &links, observer)?)
        } else {
            ways::ensure_fit::<u32>(wiring, 2)?;
            Held::Many(Ways::new(wiring, &table(), &links, observer)?)
        };
        Ok(Counter { hosts, links, ways })
    }

    /// The numbers of the links.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Counts the phases of an order, with all cores.
    pub fn count(&self, order: &(dyn Phases + Sync)) -> Tally {
        self.count_observed(order, &())
    }

    /// The same, with progress reports.
    pub fn count_observed(&self, order: &(dyn Phases + Sync), observer: &dyn Observer) -> Tally {
        let stage = Stage::new(observer, COUNTED, order.count());
        let mut all = Tally::default();
        let parts = shared(order.count() as usize, |phases| {
            let mut part = Tally::default();
            self.visit(order, phases, &mut part, |_| stage.step());
            part
        });
        parts.iter().for_each(|part| all.merge(part));
        all
    }

    /// A tally for each phase of an order, with all cores and progress reports.
    pub fn count_each(&self, order: &(dyn Phases + Sync), observer: &dyn Observer) -> Vec<Tally> {
        let stage = Stage::new(observer, COUNTED, order.count());
        let parts = shared(order.count() as usize, |phases| {
            let mut each = Vec::new();
            self.visit(order, phases, &mut Tally::default(), |tally| {
                each.push(std::mem::take(tally));
                stage.step();
            });
            each
        });
        parts.into_iter().flatten().collect()
    }

    /// Counts some phases in this thread, and calls a function after each.
    fn visit(
        &self,
        order: &dyn Phases,
        phases: Range<usize>,
        tally: &mut Tally,
        look: impl FnMut(&mut Tally),
    ) {
        match &self.ways {
            Held::Few(ways) => self.visit_ways(ways, order, phases, tally, look),
            Held::Many(ways) => self.visit_ways(ways, order, phases, tally, look),
        }
    }

    fn visit_ways<N: Number>(
        &self,
        ways: &Ways<N>,
        order: &dyn Phases,
        phases: Range<usize>,
        tally: &mut Tally,
        mut look: impl FnMut(&mut Tally),
    ) {
        let mut partners = vec![0; self.hosts as usize];
        let mut scratch = Scratch::<N>::new(&self.links, self.hosts);
        for phase in phases {
            order.partners(phase as u64, &mut partners);
            scratch.phase(ways, &partners, tally);
            tally.rest(order.resting(phase as u64, &partners));
            look(tally);
        }
    }

    /// The number of messages on each link when every host sends to its partner.
    pub fn load(&self, partners: &[Host]) -> Load<'_> {
        let counts = match &self.ways {
            Held::Few(ways) => Scratch::new(&self.links, self.hosts).counted(ways, partners),
            Held::Many(ways) => Scratch::new(&self.links, self.hosts).counted(ways, partners),
        };
        Load { counter: self, counts }
    }
}

/// Counts, used again for each phase.
struct Scratch<N: Number> {
    /// Of each link between switches.
    counts: Vec<N::Count>,
    /// Of the link to each host.
    arrivals: Vec<N::Count>,
    nowhere: usize,
    lost: usize,
}

impl<N: Number> Scratch<N> {
    fn new(links: &Links, hosts: u32) -> Scratch<N> {
        let (nowhere, lost) = (ways::nowhere(links) as usize, ways::lost(links) as usize);
        let counts = vec![N::Count::default(); N::ROOM.max(lost + 1)];
        let arrivals = vec![N::Count::default(); hosts as usize];
        Scratch { counts, arrivals, nowhere, lost }
    }

    fn counted(mut self, ways: &Ways<N>, partners: &[Host]) -> Vec<u32> {
        self.fill(ways, partners);
        self.take_back(ways, partners);
        let mut all: Vec<u32> = self.counts.iter().map(|&count| count.into()).collect();
        for (link, &arrived) in ways.last.iter().zip(&self.arrivals) {
            all[link.at()] = arrived.into();
        }
        all.truncate(self.nowhere);
        all
    }

    fn fill(&mut self, ways: &Ways<N>, partners: &[Host]) {
        match ways.hops {
            2 => self.fill_ways::<2>(ways, partners),
            4 => self.fill_ways::<4>(ways, partners),
            8 => self.fill_ways::<8>(ways, partners),
            hops => each_way(ways, partners, |to, row| self.pass(to, &row[to * hops..][..hops])),
        }
    }

    /// With a length that the compiler knows it is several times faster.
    fn fill_ways<const HOPS: usize>(&mut self, ways: &Ways<N>, partners: &[Host]) {
        each_way(ways, partners, |to, row| self.pass(to, &row[to * HOPS..][..HOPS]));
    }

    /// Does not check whether a message arrives; the caller subtracts those that do not.
    #[inline(always)]
    fn pass(&mut self, to: usize, way: &[N]) {
        for &link in way {
            N::add(&mut self.counts, link);
        }
        self.arrivals[to] = N::more(self.arrivals[to]);
    }

    /// What is lost loads no link to its destination; how many messages are lost.
    fn take_back(&mut self, ways: &Ways<N>, partners: &[Host]) -> u64 {
        let mut lost = 0;
        each_way(ways, partners, |to, row| {
            if row[to * ways.hops].at() == self.lost {
                self.arrivals[to] = N::less(self.arrivals[to]);
                lost += 1;
            }
        });
        lost
    }

    fn phase(&mut self, ways: &Ways<N>, partners: &[Host], tally: &mut Tally) {
        self.counts[..=self.lost].fill(N::Count::default());
        self.arrivals.fill(N::Count::default());
        self.fill(ways, partners);
        let lost = if self.counts[self.lost] > N::Count::default() {
            self.take_back(ways, partners)
        } else {
            0
        };
        let worst = most(&self.counts[..self.nowhere]).max(most(&self.arrivals));
        let worst: u32 = worst.max(1.into()).into();
        tally.lost += lost;
        tally.add_phase(worst);
        if worst == 1 {
            return add(&mut tally.flows, 1, partners.len() as u64 - lost);
        }
        self.counts[self.nowhere] = 1.into();
        if tally.flows.len() <= worst as usize {
            tally.flows.resize(worst as usize + 1, 0);
        }
        let mut met = 0;
        each_way(ways, partners, |to, row| {
            let way = &row[to * ways.hops..][..ways.hops];
            if way[0].at() == self.lost {
                return;
            }
            let mut conflict = self.arrivals[to];
            for link in way {
                conflict = conflict.max(self.counts[link.at()]);
            }
            tally.flows[conflict.into() as usize] += 1;
            met += 1;
        });
        // Those that keep their message to themselves share no link.
        tally.flows[1] += partners.len() as u64 - lost - met;
    }
}

/// A plain loop, as in all that looks at every message here: closures that iterators take are not
/// inlined where the crate is built in several units, which made counting 4.5 times slower.
#[inline(always)]
fn most<C: Copy + Default + Ord>(counts: &[C]) -> C {
    let mut most = C::default();
    for &count in counts {
        most = most.max(count);
    }
    most
}

/// Every message to another host, by its destination and the ways of its switch to all hosts.
#[inline(always)]
fn each_way<N>(ways: &Ways<N>, partners: &[Host], mut visit: impl FnMut(usize, &[N])) {
    let firsts = ways.runs.iter().map(|&first| first as usize);
    let ends = firsts.clone().skip(1).chain([partners.len()]);
    for (first, end) in firsts.zip(ends) {
        let row = &ways.links[ways.begin[first]..][..partners.len() * ways.hops];
        for (at, &to) in partners[first..end].iter().enumerate() {
            if to as usize != first + at {
                visit(to as usize, row);
            }
        }
    }
}
