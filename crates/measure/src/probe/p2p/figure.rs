//! One figure of all pairs, latency or bandwidth: what is usual, what is slow, and who is to blame.

use std::collections::BTreeMap;

use laneway_core::Rank;

use super::blame::{Blame, BlamedEnd, Model, Seen, blame};
use super::disjoint::Estimate;
use super::kinds::{Kind, Places};
use super::survey::Pair;
use super::usual::{Timed, lower_quantile, usual};
use super::verdict::{
    BANDWIDTH, Direction, LATENCY, Limits, Mark, Scope, SlowNode, SlowPair, Verdict,
};

/// One figure of all pairs.
pub(super) struct Figure<'p> {
    measure: &'static str,
    model: Model,
    /// The multiple of the usual time that it may take.
    most: f64,
    most_seconds: Option<f64>,
    ways: Vec<Way<'p>>,
}

/// One way of a pair.
struct Way<'p> {
    pair: usize,
    from: Rank,
    to: Rank,
    kind: Kind,
    ends: [usize; 4],
    estimate: &'p Estimate,
}

/// A culprit in one of two directions, for ways of a scope.
#[derive(Clone, Copy, PartialEq, Eq)]
struct End {
    culprit: usize,
    receives: bool,
    scope: Scope,
}

impl End {
    /// Of each culprit.
    const COUNT: usize = 2 * Scope::ALL.len();

    fn number(self) -> usize {
        (2 * self.culprit + usize::from(self.receives)) * Scope::ALL.len() + self.scope as usize
    }

    fn of(number: usize) -> End {
        let (rest, scope) = (number / Scope::ALL.len(), number % Scope::ALL.len());
        End { culprit: rest / 2, receives: rest % 2 == 1, scope: Scope::ALL[scope] }
    }

    /// The numbers of a culprit at one end of a way.
    fn at(culprit: usize, receives: bool, kind: Kind) -> [usize; 2] {
        let scope = match kind {
            Kind::Sites { from, to } if from != to => Scope::Far,
            _ => Scope::Near,
        };
        [Scope::All, scope].map(|scope| End { culprit, receives, scope }.number())
    }
}

pub(super) fn long<'p>(pairs: &'p [Pair], places: &Places, limits: &Limits) -> Figure<'p> {
    let way = |pair: usize, from: Rank, to: Rank, estimate: &'p Estimate| {
        let kind = places.kind(from, to);
        let [a, b] = End::at(places.culprit(from, to), false, kind);
        let [c, d] = End::at(places.culprit(to, from), true, kind);
        Way { pair, from, to, kind, ends: [a, b, c, d], estimate }
    };
    let both = |(place, pair): (usize, &'p Pair)| {
        let there = way(place, pair.from, pair.to, &pair.there);
        [there, way(place, pair.to, pair.from, &pair.back)]
    };
    Figure {
        measure: BANDWIDTH,
        model: Model::Slowest,
        most: 1.0 / limits.least_bandwidth,
        most_seconds: limits.least_rate.map(|rate| rate.seconds()),
        ways: pairs.iter().enumerate().flat_map(both).collect(),
    }
}

pub(super) fn short<'p>(pairs: &'p [Pair], places: &Places, limits: &Limits) -> Figure<'p> {
    let way = |(pair, &Pair { from, to, ref latency, .. }): (usize, &'p Pair)| {
        let kind = places.kind_both_ways(from, to);
        let [a, b] = End::at(places.culprit(from, to), false, kind);
        let [c, d] = End::at(places.culprit(to, from), false, kind);
        Way { pair, from, to, kind, ends: [a, b, c, d], estimate: latency }
    };
    Figure {
        measure: LATENCY,
        model: Model::Sum,
        most: limits.most_latency,
        most_seconds: None,
        ways: pairs.iter().enumerate().map(way).collect(),
    }
}

impl Estimate {
    /// Whether it is a figure: what takes no time, or less, was not measured.
    pub fn is_measured(&self) -> bool {
        self.value > 0.0 && self.value.is_finite()
    }

    fn fastest(&self) -> f64 {
        self.interval.map_or(self.value, |interval| interval.low)
    }
}

impl Figure<'_> {
    fn usual(&self) -> BTreeMap<Kind, f64> {
        let measured = self.ways.iter().filter(|way| way.estimate.is_measured());
        usual(measured.map(|way| Timed {
            kind: way.kind,
            ends: [way.ends[0], way.ends[2]],
            seconds: way.estimate.value,
        }))
    }

    fn mark(&self, way: &Way, usual: f64) -> Mark {
        if !way.estimate.is_measured() {
            return Mark { usual, ratio: f64::NAN, ..Mark::default() };
        }
        let beyond = |seconds: f64| {
            [seconds > self.most * usual, self.most_seconds.is_some_and(|most| seconds > most)]
        };
        let (sure, likely) = (beyond(way.estimate.fastest()), beyond(way.estimate.value));
        let slow = sure[0] || sure[1];
        Mark {
            usual,
            ratio: way.estimate.value / usual,
            slow,
            borderline: !slow && (likely[0] || likely[1]),
            only_below_rate: sure[1] && !sure[0],
        }
    }

    /// What the marks are, way by way, and who is to blame.
    pub fn judge(&self, places: &Places) -> (Vec<Mark>, Vec<Seen>, Blame) {
        let usual = self.usual();
        let usual = |way: &Way| usual.get(&way.kind).copied().unwrap_or(f64::NAN);
        let measured = self.ways.iter().filter(|way| way.estimate.is_measured());
        let seen: Vec<Seen> = measured
            .map(|way| Seen {
                pair: way.pair,
                ends: way.ends,
                usual: usual(way),
                seconds: way.estimate.value,
                fastest: way.estimate.fastest(),
            })
            .collect();
        let blame = blame(&seen, End::COUNT * places.culprits(), self.model, self.most);
        (self.ways.iter().map(|way| self.mark(way, usual(way))).collect(), seen, blame)
    }

    /// Adds what the figure says to a verdict.
    pub fn add(&self, places: &Places, seen: &[Seen], blame: &Blame, verdict: &mut Verdict) {
        let ways: Vec<&Way> = self.ways.iter().filter(|way| way.estimate.is_measured()).collect();
        let ratio = |place: usize| seen[place].seconds / seen[place].usual;
        let pairs = |places: &[usize]| {
            let mut merged: BTreeMap<usize, SlowPair> = BTreeMap::new();
            for &place in places {
                let Way { from, to, pair, .. } = *ways[place];
                let both_ways = self.model == Model::Sum;
                let (measure, ratio) = (self.measure, ratio(place));
                let slow = SlowPair { from, to, both_ways, measure, ratio };
                merged
                    .entry(pair)
                    .and_modify(|known| {
                        // The other way of the same pair: they are named as the pair is.
                        let worse = known.ratio.max(ratio);
                        *known = SlowPair { from: to, to: from, ratio: worse, ..slow };
                        known.both_ways = true;
                    })
                    .or_insert(slow);
            }
            merged.into_values().collect::<Vec<_>>()
        };
        let between = pairs(&blame.between);
        match between.len() > most_links(places) {
            true => verdict.scattered_pairs.extend(between),
            false => verdict.slow_pairs.extend(between),
        }
        verdict.slow_together.extend(pairs(&blame.together));
        verdict.unclear_pairs.extend(pairs(&blame.unclear));
        let nodes = by_culprit(&blame.ends, self.model).into_iter();
        verdict.slow_nodes.extend(nodes.map(|slow| self.node(&slow, places, seen)));
        self.count_others(&ways, seen, blame, verdict);
    }

    fn node(&self, slow: &SlowCulprit, places: &Places, seen: &[Seen]) -> SlowNode {
        let distinct = |mut pairs: Vec<usize>| {
            pairs.sort_unstable();
            pairs.dedup();
            pairs.len()
        };
        let is_own = |way: &&Seen| way.ends.iter().any(|&end| End::of(end).culprit == slow.culprit);
        let ratio = |&place: &usize| seen[place].seconds / seen[place].usual;
        let ranks = places.ranks(slow.culprit);
        SlowNode {
            rank: ranks.first().copied().unwrap_or_default(),
            ranks: ranks.len(),
            measure: self.measure,
            direction: slow.direction,
            scope: slow.scope,
            ratio: lower_quantile(slow.ways.iter().map(ratio).collect(), 2),
            slow: distinct(slow.ways.iter().map(|&place| seen[place].pair).collect()),
            pairs: distinct(seen.iter().filter(is_own).map(|way| way.pair).collect()),
            others_slow: 0,
            others: 0,
        }
    }

    /// Partners are those that are not to blame themselves.
    fn count_others(&self, ways: &[&Way], seen: &[Seen], blame: &Blame, verdict: &mut Verdict) {
        let culprit = |end: usize| End::of(end).culprit;
        let blamed =
            |end: &usize| blame.ends.iter().any(|other| culprit(other.end) == culprit(*end));
        let mut others: BTreeMap<usize, bool> = BTreeMap::new();
        for (way, seen) in ways.iter().zip(seen) {
            if !way.ends.iter().any(blamed) {
                *others.entry(way.pair).or_default() |= seen.fastest > self.most * seen.usual;
            }
        }
        let slow = others.values().filter(|slow| **slow).count();
        for node in verdict.slow_nodes.iter_mut().filter(|node| node.measure == self.measure) {
            (node.others_slow, node.others) = (slow, others.len());
        }
    }
}

/// A culprit with the ways that it explains.
struct SlowCulprit {
    culprit: usize,
    direction: Direction,
    scope: Scope,
    ways: Vec<usize>,
}

/// The two directions of one culprit are one.
fn by_culprit(ends: &[BlamedEnd], model: Model) -> Vec<SlowCulprit> {
    let mut all: Vec<SlowCulprit> = Vec::new();
    for BlamedEnd { end, ways } in ends {
        let End { culprit, receives, scope } = End::of(*end);
        let known = all.iter_mut().find(|known| known.culprit == culprit && known.scope == scope);
        match known {
            Some(known) => {
                known.direction = Direction::Both;
                known.ways.extend(ways);
            }
            None => {
                let direction = match (model, receives) {
                    (Model::Sum, _) => Direction::Both,
                    (Model::Slowest, false) => Direction::Out,
                    (Model::Slowest, true) => Direction::In,
                };
                all.push(SlowCulprit { culprit, direction, scope, ways: ways.clone() });
            }
        }
    }
    all
}

/// The number of links that may be slow each for itself.
fn most_links(places: &Places) -> usize {
    (places.culprits() / 4).max(4)
}
