//! Hosts of one kind, which share their parameters: some of them are measured in full, and the
//! others only so far as to see that they are alike.

use laneway_core::Rank;
use laneway_stats::median;

use crate::experiments::{Experiments, Timed};
use crate::hockney::{Hockney, Lines};
use crate::line::Line;
use crate::lmo::{Host, Lmo, Pair, pairs};
use crate::model::Model;
use crate::parameter::Parameter;

/// Which hosts were taken as alike, and how that was tested.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Alike {
    /// The kind of each rank's host, numbered from 0 in the order of their first ranks.
    pub kinds: Vec<u32>,
    /// The ranks that were measured in full, in order; some of every kind.
    pub measured: Vec<Rank>,
    /// The ranks that every other rank was compared through, by round trips with them.
    pub references: Vec<Rank>,
    /// Hosts are alike where no overhead and no round trip differs by more than this part, beyond
    /// the measured intervals.
    pub limit: f64,
    /// The largest part by which hosts differ that were taken as alike.
    pub differ: f64,
    /// How many overheads and round trips were compared.
    pub compared: u64,
}

impl Alike {
    /// How many kinds there are.
    pub fn count(&self) -> u32 {
        self.kinds.iter().max().map_or(0, |&most| most + 1)
    }

    /// How that was tested, and what came of it.
    pub fn sentence(&self, hosts: &[String]) -> String {
        let name = |rank: Rank| hosts.get(rank as usize).map_or("", String::as_str);
        let kind = |kind: u32| {
            let first = self.members(kind).next().unwrap_or_default();
            format!("{} as {} (rank {first})", self.members(kind).count(), name(first))
        };
        let kinds: Vec<String> = (0..self.count()).map(kind).collect();
        let (measured, differ) = (self.measured.len(), 100.0 * self.differ);
        format!(
            "Taken as alike: {}; in {} comparisons of overheads and round trips they differ by \
             {differ:.2} % at most ({:.0} % is the limit), and {measured} hosts were measured in \
             full.",
            kinds.join(", "),
            self.compared,
            100.0 * self.limit
        )
    }

    /// The ranks of a kind, in order.
    pub fn members(&self, kind: u32) -> impl Iterator<Item = Rank> {
        let ranks = (0..).zip(&self.kinds);
        ranks.filter(move |(_, own)| **own == kind).map(|(rank, _)| rank)
    }

    /// The first two ranks of every kind: each pair of kinds has a pair of them.
    pub(crate) fn shown(&self) -> Vec<Rank> {
        let mut shown: Vec<Rank> =
            (0..self.count()).flat_map(|kind| self.members(kind).take(2)).collect();
        shown.sort_unstable();
        shown
    }

    /// Every kind is there and has a measured rank.
    pub(crate) fn is_sound(&self) -> bool {
        let in_order = self.measured.windows(2).all(|two| two[0] < two[1]);
        let known = |rank: &Rank| (*rank as usize) < self.kinds.len();
        let all_known = self.measured.iter().chain(&self.references).all(known);
        // Kinds that come up in order are as many as the last of them says.
        let count = self.count() as usize;
        count <= self.kinds.len()
            && in_order
            && all_known
            && (0..count as u32).all(|kind| self.members(kind).next().is_some())
    }

    /// The experiments of the ranks that were measured in full, as if there were no others.
    pub(crate) fn part(&self, experiments: &Experiments) -> Experiments {
        let place = |rank: &Rank| self.measured.binary_search(rank).ok().map(|at| at as Rank);
        let own = |timed: &Timed| {
            let ranks = timed.ranks.iter().map(place).collect::<Option<Vec<Rank>>>()?;
            Some(Timed { ranks, ..timed.clone() })
        };
        let host = |&rank: &Rank| experiments.hosts[rank as usize].clone();
        let hosts = self.measured.iter().map(host).collect();
        let timed = experiments.timed.iter().filter_map(own).collect();
        let (eager_bytes, cost) = (experiments.eager_bytes, experiments.cost);
        Experiments { hosts, eager_bytes, timed, cost, alike: None }
    }

    /// The model of all hosts, from that of the ranks that were measured in full.
    pub(crate) fn expand(&self, model: Model) -> Model {
        match model {
            Model::Lmo(lmo) => Model::Lmo(self.expand_lmo(&lmo)),
            Model::Hockney(hockney) if hockney.hosts.is_some() => {
                let lines = |[i, j]: [Rank; 2]| hockney.lines(i, j);
                let lines = self.all_pairs(&|ranks| middle_lines(ranks.iter().copied().map(lines)));
                Model::Hockney(Hockney { hosts: Some(self.kinds.len() as u32), lines })
            }
            // These have one set of parameters for all.
            other => other,
        }
    }

    fn expand_lmo(&self, lmo: &Lmo) -> Lmo {
        let host = |kind: u32| {
            let own = self.places(kind).into_iter().map(|at| lmo.hosts[at as usize]);
            middle_host(&own.collect::<Vec<Host>>())
        };
        let by_kind: Vec<Host> = (0..self.count()).map(host).collect();
        let hosts = self.kinds.iter().map(|&kind| by_kind[kind as usize]).collect();
        let way = |&[i, j]: &[Rank; 2]| {
            let pair = *lmo.pair(i, j);
            if i < j { pair } else { pair.turned() }
        };
        let pairs =
            self.all_pairs(&|ranks| middle_pair(&ranks.iter().map(way).collect::<Vec<Pair>>()));
        Lmo { hosts, pairs, ..lmo.among(&[]) }
    }

    /// Places of a kind's ranks among those that were measured in full.
    fn places(&self, kind: u32) -> Vec<Rank> {
        let measured = (0..).zip(&self.measured);
        let own = measured.filter(|(_, rank)| self.kinds[**rank as usize] == kind);
        own.map(|(place, _)| place).collect()
    }

    /// What belongs to each pair of ranks, from the measured pairs of their kinds.
    fn all_pairs<T: Clone>(&self, of: &dyn Fn(&[[Rank; 2]]) -> T) -> Vec<T> {
        let kinds = self.count();
        let places: Vec<Vec<Rank>> = (0..kinds).map(|kind| self.places(kind)).collect();
        let measured = |one: u32, other: u32| -> Vec<[Rank; 2]> {
            let others = &places[other as usize];
            let ways =
                places[one as usize].iter().flat_map(|&i| others.iter().map(move |&j| [i, j]));
            ways.filter(|[i, j]| i != j).collect()
        };
        let table: Vec<T> =
            (0..kinds * kinds).map(|at| of(&measured(at / kinds, at % kinds))).collect();
        let kind = |rank: Rank| self.kinds[rank as usize];
        let ranks = self.kinds.len() as u32;
        pairs(ranks).map(|[i, j]| table[(kind(i) * kinds + kind(j)) as usize].clone()).collect()
    }
}

/// The middle of what several hosts have; the interval holds those of all of them.
fn middle(all: impl Iterator<Item = Parameter>) -> Parameter {
    let all: Vec<Parameter> = all.collect();
    let values: Vec<f64> = all.iter().map(|one| one.value).collect();
    let Some(value) = median(&values) else { return Parameter::default() };
    let low = all.iter().map(|one| one.low).fold(value, f64::min);
    let high = all.iter().map(|one| one.high).fold(value, f64::max);
    Parameter { value, low, high }
}

/// The same of limits, where most of them have one.
fn middle_limit(all: impl Iterator<Item = Option<Parameter>>) -> Option<Parameter> {
    let (mut known, mut count) = (Vec::new(), 0);
    for one in all {
        known.extend(one);
        count += 1;
    }
    (2 * known.len() > count).then(|| middle(known.into_iter()))
}

fn middle_host(all: &[Host]) -> Host {
    let of = |part: fn(&Host) -> Parameter| middle(all.iter().map(part));
    let limit = |part: fn(&Host) -> Option<Parameter>| middle_limit(all.iter().map(part));
    Host {
        send: of(|host| host.send),
        receive: of(|host| host.receive),
        per_byte_sent: of(|host| host.per_byte_sent),
        per_byte_received: of(|host| host.per_byte_received),
        card_out: limit(|host| host.card_out),
        card_in: limit(|host| host.card_in),
        load_out: of(|host| host.load_out),
        load_in: of(|host| host.load_in),
    }
}

fn middle_pair(all: &[Pair]) -> Pair {
    let of = |part: fn(&Pair) -> Parameter| middle(all.iter().map(part));
    let limit = |part: fn(&Pair) -> Option<Parameter>| middle_limit(all.iter().map(part));
    let free = [0, 1].map(|way| {
        let own: Vec<f64> = all.iter().map(|pair| pair.free[way]).collect();
        median(&own).unwrap_or(0.0)
    });
    let (there, back) = (of(|pair| pair.there), of(|pair| pair.back));
    // Nobody is slower alone.
    let free = [free[0].min(there.value), free[1].min(back.value)];
    Pair {
        latency: of(|pair| pair.latency),
        there,
        back,
        free,
        all_there: limit(|pair| pair.all_there),
        all_back: limit(|pair| pair.all_back),
    }
}

fn middle_lines(all: impl Iterator<Item = Lines>) -> Lines {
    let all: Vec<Lines> = all.collect();
    let line = |lines: Vec<Line>| Line {
        startup: middle(lines.iter().map(|line| line.startup)),
        per_byte: middle(lines.iter().map(|line| line.per_byte)),
    };
    let long: Vec<Line> = all.iter().filter_map(|lines| lines.long).collect();
    let short = line(all.iter().map(|lines| lines.short).collect());
    Lines { short, long: (!long.is_empty()).then(|| line(long)) }
}
