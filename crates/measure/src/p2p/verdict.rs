//! Who is to blame for slow pairs: a host, in one direction or both, or what lies between two.
//!
//! Every way is compared with what is usual for its kind (`kinds.rs`, `usual.rs`), and what is slow
//! is put down to as few causes as possible (`blame.rs`): bandwidths by direction, latencies there
//! and back. `words.rs` says it in sentences.

use std::collections::BTreeMap;

use laneway_core::Rank;

use super::blame::{Blame, BlamedEnd, Model, Seen, blame};
use super::disjoint::Estimate;
use super::kinds::{Kind, Places};
use super::survey::Pair;
use super::usual::{Timed, lower_quantile, usual};

/// When a pair is slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The part of the usual bandwidth that it must reach in both directions.
    pub least_bandwidth: f64,
    /// So many times the usual latency it may have.
    pub most_latency: f64,
    /// The rate that it must reach in both directions, whatever is usual.
    pub least_rate: Option<LeastRate>,
}

/// Bytes a second that a long message of so many bytes must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastRate {
    pub bytes_per_second: f64,
    pub bytes: usize,
}

impl LeastRate {
    /// What the long message may take.
    fn seconds(&self) -> f64 {
        self.bytes as f64 / self.bytes_per_second
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { least_bandwidth: 0.8, most_latency: 2.0, least_rate: None }
    }
}

/// What all pairs together say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    pub nodes: Vec<Node>,
    pub slow_nodes: Vec<SlowNode>,
    pub slow_pairs: Vec<SlowPair>,
    /// Pairs that are slow only as each of the two is a little.
    pub slow_together: Vec<SlowPair>,
    /// Pairs that are slow, and nothing tells whether it is one of the two or what is between.
    pub unclear_pairs: Vec<SlowPair>,
    /// Pairs that are slow, and too many for each to have a cause of its own: something that they
    /// share is narrow.
    pub scattered_pairs: Vec<SlowPair>,
    /// Of each pair, in its order, how it compares with what is usual.
    pub marks: Vec<Marks>,
}

/// How the figures of one pair compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marks {
    pub latency: Mark,
    pub there: Mark,
    pub back: Mark,
}

/// A figure beside what is usual for its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// Seconds.
    pub usual: f64,
    /// How many times the usual time.
    pub ratio: f64,
    /// Beyond a limit even at the fast end of its interval.
    pub slow: bool,
    /// Beyond a limit by its estimate, but not by the fast end of its interval.
    pub not_surely: bool,
    /// Slow by the limit in seconds alone, whatever is usual.
    pub only_below_rate: bool,
}

impl Marks {
    pub fn is_slow(&self) -> bool {
        self.latency.slow || self.there.slow || self.back.slow
    }

    pub fn is_not_surely_slow(&self) -> bool {
        self.latency.not_surely || self.there.not_surely || self.back.not_surely
    }

    /// How many times the usual time the slower direction takes.
    pub fn worse(&self) -> f64 {
        self.there.ratio.max(self.back.ratio)
    }
}

/// A rank over all its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub rank: Rank,
    /// Seconds, in the middle.
    pub latency: f64,
    /// Of long messages that it sends, and that it receives.
    pub sent: f64,
    pub received: f64,
    /// Slow pairs of all that it has.
    pub slow: usize,
    pub pairs: usize,
}

/// Which direction of a host's card is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Both,
    /// Towards it.
    In,
    /// From it.
    Out,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Direction::Both => "both",
            Direction::In => "in",
            Direction::Out => "out",
        }
    }
}

/// Which ways of a host are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that would show it.
    All,
    /// Those to its own site alone.
    Near,
    /// Those to other sites alone, which may have a card of their own.
    Far,
}

impl Scope {
    const ALL: [Scope; 3] = [Scope::All, Scope::Near, Scope::Far];
}

/// A host, or a rank among those of its host, that explains slow pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowNode {
    /// The first of its ranks, and how many there are.
    pub rank: Rank,
    pub ranks: usize,
    pub measure: &'static str,
    pub direction: Direction,
    pub scope: Scope,
    /// In the middle of the pairs that it explains, how many times the usual time.
    pub ratio: f64,
    /// Pairs that it explains, of all that it has.
    pub slow: usize,
    pub pairs: usize,
    /// Pairs of its partners with each other that are slow, and all of them.
    pub others_slow: usize,
    pub others: usize,
}

/// A pair that no slow node explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowPair {
    /// The slow direction is from here, if it is one alone.
    pub from: Rank,
    pub to: Rank,
    pub both_ways: bool,
    pub measure: &'static str,
    pub ratio: f64,
}

pub const BANDWIDTH: &str = "bandwidth";
pub const LATENCY: &str = "latency";

/// One figure of all pairs.
struct Figure<'p> {
    measure: &'static str,
    model: Model,
    /// So many times the usual time it may take.
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

fn long<'p>(pairs: &'p [Pair], places: &Places, limits: &Limits) -> Figure<'p> {
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

fn short<'p>(pairs: &'p [Pair], places: &Places, limits: &Limits) -> Figure<'p> {
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
            not_surely: !slow && (likely[0] || likely[1]),
            only_below_rate: sure[1] && !sure[0],
        }
    }

    /// What the marks are, way by way, and who is to blame.
    fn judge(&self, places: &Places) -> (Vec<Mark>, Vec<Seen>, Blame) {
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
    fn add(&self, places: &Places, seen: &[Seen], blame: &Blame, verdict: &mut Verdict) {
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

/// So many links may be slow each for itself.
fn most_links(places: &Places) -> usize {
    (places.culprits() / 4).max(4)
}

/// What the pairs say; each rank has a host and a site.
pub fn verdict(pairs: &[Pair], hosts: &[String], sites: &[u32], limits: &Limits) -> Verdict {
    let ranks = pairs.iter().map(|pair| pair.from.max(pair.to) as usize + 1).max().unwrap_or(0);
    let places = Places::new(ranks, hosts, sites);
    let (long, short) = (long(pairs, &places, limits), short(pairs, &places, limits));
    let mut verdict = Verdict::default();
    let (transfers, seen, blame) = long.judge(&places);
    long.add(&places, &seen, &blame, &mut verdict);
    let (latencies, seen, blame) = short.judge(&places);
    short.add(&places, &seen, &blame, &mut verdict);
    let marks = transfers.chunks(2).zip(latencies);
    let marks = marks.map(|(ways, latency)| Marks { latency, there: ways[0], back: ways[1] });
    verdict.marks = marks.collect();
    verdict.nodes = nodes(pairs, ranks, &verdict.marks);
    verdict
}

/// Every rank with its figures.
fn nodes(pairs: &[Pair], ranks: usize, marks: &[Marks]) -> Vec<Node> {
    let mut own = vec![Vec::new(); ranks];
    for (index, pair) in pairs.iter().enumerate() {
        own[pair.from as usize].push(index);
        own[pair.to as usize].push(index);
    }
    let node = |(own, rank): (&Vec<usize>, Rank)| {
        let middle = |figure: &dyn Fn(&Pair) -> f64| {
            lower_quantile(own.iter().map(|&index| figure(&pairs[index])).collect(), 2)
        };
        let sends = |pair: &Pair| pair.from == rank;
        let sent = |pair: &Pair| if sends(pair) { pair.there.value } else { pair.back.value };
        let received = |pair: &Pair| if sends(pair) { pair.back.value } else { pair.there.value };
        Node {
            rank,
            latency: middle(&|pair| pair.latency.value),
            sent: middle(&sent),
            received: middle(&received),
            slow: own.iter().filter(|&&index| marks[index].is_slow()).count(),
            pairs: own.len(),
        }
    };
    own.iter().zip(0..).map(node).filter(|node| node.pairs > 0).collect()
}

impl Verdict {
    /// Whether nothing is to blame for anything.
    pub fn is_healthy(&self) -> bool {
        let pairs = [&self.slow_pairs, &self.unclear_pairs, &self.scattered_pairs];
        self.slow_nodes.is_empty() && pairs.iter().all(|pairs| pairs.is_empty())
    }

    /// The places of pairs that are worth a second look: slow, surely or not.
    pub fn doubtful(&self) -> Vec<usize> {
        let marks = self.marks.iter().enumerate();
        let doubtful = marks.filter(|(_, marks)| marks.is_slow() || marks.is_not_surely_slow());
        doubtful.map(|(index, _)| index).collect()
    }

    /// Pairs with a slow figure.
    pub fn count_slow(&self) -> usize {
        self.marks.iter().filter(|marks| marks.is_slow()).count()
    }
}
