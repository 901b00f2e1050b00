//! Who is to blame for slow pairs: a node, if most of its pairs are slow while its partners are
//! fast with each other; else what lies between the two.
//!
//! Pairs are compared with what is usual for their kind: within a host, within a site, between two
//! sites. The usual time is the median over the ranks of each rank's median, so that one slow node,
//! which spoils a pair of everybody, moves it for nobody. The lower of two middle values is taken:
//! of few pairs half may be slow.
//!
//! Two nodes that are a little slower than others may be too slow together, with nothing wrong
//! between them. So the time of a pair is taken as a product of what each node adds and what is
//! between, and it is blamed on what is between only if that is the larger part.

use std::collections::BTreeMap;

use laneway_core::Rank;

use super::disjoint::Estimate;
use super::survey::Pair;

/// When a pair is slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The part of the usual bandwidth that it must reach.
    pub least_bandwidth: f64,
    /// So many times the usual latency it may have.
    pub most_latency: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { least_bandwidth: 0.8, most_latency: 2.0 }
    }
}

impl Limits {
    /// What is slow, in words.
    pub fn words(&self) -> String {
        // As many places as a percentage needs to be told from its neighbours.
        let percent = (self.least_bandwidth * 1e4).round() / 100.0;
        let times = self.most_latency;
        format!(
            "less than {percent} % of the usual bandwidth or more than {times} times the usual \
             latency"
        )
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
    /// Of each pair, in its order, how many times the usual time a long message takes.
    pub ratios: Vec<f64>,
    /// Pairs, in their order, that are too slow for long messages.
    pub slow: Vec<bool>,
}

/// A rank over all its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub rank: Rank,
    /// Seconds, in the middle.
    pub latency: f64,
    pub transfer: f64,
    /// Pairs that are too slow for long messages, of all that it has.
    pub slow: usize,
    pub pairs: usize,
}

/// A node that explains slow pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowNode {
    pub rank: Rank,
    pub measure: &'static str,
    /// In the middle of its pairs, how many times the usual time.
    pub ratio: f64,
    pub slow: usize,
    pub pairs: usize,
    /// Pairs of its partners with each other that are slow, and all of them.
    pub others_slow: usize,
    pub others: usize,
}

/// A pair that no slow node explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowPair {
    pub from: Rank,
    pub to: Rank,
    pub measure: &'static str,
    pub ratio: f64,
}

/// The lower of the two middle ones.
fn lower_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// The places of each rank's pairs.
fn by_rank(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let ranks = pairs.iter().map(|pair| pair.from.max(pair.to) + 1).max().unwrap_or(0);
    let mut own = vec![Vec::new(); ranks as usize];
    for (index, pair) in pairs.iter().enumerate() {
        own[pair.from as usize].push(index);
        own[pair.to as usize].push(index);
    }
    own
}

/// One figure of every pair, over what is usual for its kind.
struct Compared<'p> {
    pairs: &'p [Pair],
    measure: &'static str,
    ratios: Vec<f64>,
    slow: Vec<bool>,
}

impl<'p> Compared<'p> {
    fn new(
        pairs: &'p [Pair],
        measure: &'static str,
        kind: &dyn Fn(&Pair) -> (u32, u32),
        figure: fn(&Pair) -> &Estimate,
        most: f64,
    ) -> Compared<'p> {
        let mut kinds: BTreeMap<(u32, u32), BTreeMap<Rank, Vec<f64>>> = BTreeMap::new();
        for pair in pairs {
            let ranks = kinds.entry(kind(pair)).or_default();
            for rank in [pair.from, pair.to] {
                ranks.entry(rank).or_default().push(figure(pair).value);
            }
        }
        let usual = |ranks: BTreeMap<Rank, Vec<f64>>| {
            lower_median(ranks.into_values().map(lower_median).collect())
        };
        let usual: BTreeMap<_, f64> =
            kinds.into_iter().map(|(kind, ranks)| (kind, usual(ranks))).collect();
        let usual = |pair: &Pair| usual.get(&kind(pair)).copied().unwrap_or(f64::NAN);
        // Slow is what is slow even at the fast end of its interval.
        let surely = |pair: &Pair| figure(pair).interval.map_or(figure(pair).value, |i| i.low);
        Compared {
            pairs,
            measure,
            ratios: pairs.iter().map(|pair| figure(pair).value / usual(pair)).collect(),
            slow: pairs.iter().map(|pair| surely(pair) > most * usual(pair)).collect(),
        }
    }

    /// Blames the node with most slow pairs, takes its pairs away, and so on; a node is blamed for
    /// two slow pairs or more that are most of those it has left. What remains is between nodes.
    fn blame(&self, by_rank: &[Vec<usize>], verdict: &mut Verdict) {
        let middle = |own: &Vec<usize>| lower_median(own.iter().map(|&i| self.ratios[i]).collect());
        // What is usual for the pairs of each rank.
        let usual: Vec<f64> = by_rank.iter().map(middle).collect();
        let mut left = vec![true; self.pairs.len()];
        loop {
            let count = |own: &Vec<usize>| {
                let own = || own.iter().filter(|&&index| left[index]);
                (own().filter(|&&index| self.slow[index]).count(), own().count())
            };
            let counts = by_rank.iter().map(count).zip(0..);
            let blamed = counts.filter(|((slow, own), _)| *slow >= 2 && slow * 2 > *own);
            let worst = blamed.max_by_key(|((slow, _), rank)| (*slow, std::cmp::Reverse(*rank)));
            let Some((_, rank)) = worst else { break };
            let own = &by_rank[rank as usize];
            own.iter().for_each(|&index| left[index] = false);
            verdict.slow_nodes.push(SlowNode {
                rank,
                measure: self.measure,
                ratio: usual[rank as usize],
                slow: own.iter().filter(|&&index| self.slow[index]).count(),
                pairs: own.len(),
                others_slow: 0,
                others: 0,
            });
        }
        // Its partners are those that are not to blame themselves.
        let rest = || (0..left.len()).filter(|&index| left[index]);
        let slow = || rest().filter(|&index| self.slow[index]);
        for node in verdict.slow_nodes.iter_mut().filter(|node| node.measure == self.measure) {
            (node.others_slow, node.others) = (slow().count(), rest().count());
        }
        let pair = |index: usize| SlowPair {
            from: self.pairs[index].from,
            to: self.pairs[index].to,
            measure: self.measure,
            ratio: self.ratios[index],
        };
        let is_between = |index: &usize| {
            let Pair { from, to, .. } = self.pairs[*index];
            let nodes = usual[from as usize] * usual[to as usize];
            self.ratios[*index] / nodes > nodes
        };
        let (between, together): (Vec<_>, Vec<_>) = slow().partition(is_between);
        verdict.slow_pairs.extend(between.into_iter().map(pair));
        verdict.slow_together.extend(together.into_iter().map(pair));
    }
}

/// What the pairs say; each rank has a host and a site.
pub fn verdict(pairs: &[Pair], hosts: &[String], sites: &[u32], limits: &Limits) -> Verdict {
    let site = |rank: Rank| sites.get(rank as usize).copied().unwrap_or(0);
    let kind = |pair: &Pair| {
        let host = |rank: Rank| hosts.get(rank as usize);
        if host(pair.from) == host(pair.to) {
            return (u32::MAX, u32::MAX);
        }
        let (a, b) = (site(pair.from), site(pair.to));
        (a.min(b), a.max(b))
    };
    let most = 1.0 / limits.least_bandwidth;
    let long = Compared::new(pairs, "bandwidth", &kind, |pair| &pair.transfer, most);
    let short = Compared::new(pairs, "latency", &kind, |pair| &pair.latency, limits.most_latency);
    let by_rank = by_rank(pairs);
    let mut verdict = Verdict::default();
    long.blame(&by_rank, &mut verdict);
    short.blame(&by_rank, &mut verdict);
    let node = |(own, rank): (&Vec<usize>, Rank)| {
        let middle = |figure: fn(&Pair) -> &Estimate| {
            lower_median(own.iter().map(|&index| figure(&pairs[index]).value).collect())
        };
        Node {
            rank,
            latency: middle(|pair| &pair.latency),
            transfer: middle(|pair| &pair.transfer),
            slow: own.iter().filter(|&&index| long.slow[index]).count(),
            pairs: own.len(),
        }
    };
    verdict.nodes = by_rank.iter().zip(0..).map(node).filter(|node| node.pairs > 0).collect();
    (verdict.ratios, verdict.slow) = (long.ratios, long.slow);
    verdict
}

impl Verdict {
    /// Whether nothing is to blame for anything.
    pub fn is_healthy(&self) -> bool {
        self.slow_nodes.is_empty() && self.slow_pairs.is_empty()
    }

    /// The verdict in words, a sentence each.
    pub fn sentences(&self, hosts: &[String], limits: &Limits) -> Vec<String> {
        let pairs = self.ratios.len();
        if pairs == 1 {
            return vec!["one pair has nothing that it could be compared with".to_string()];
        }
        if self.is_healthy() && self.slow_together.is_empty() {
            let bounds = limits.words();
            return vec![format!(
                "nothing is surely slow: even at the fast end of its interval none of {pairs} \
                 pairs has {bounds}"
            )];
        }
        let name = |rank: Rank| match hosts.get(rank as usize) {
            Some(host) => format!("{host} (rank {rank})"),
            None => format!("rank {rank}"),
        };
        let nodes = self.slow_nodes.iter().map(|node| {
            let SlowNode { slow, pairs, others_slow, others, .. } = node;
            format!(
                "{} is slow: {slow} of its {pairs} pairs are, with {} in the middle; it and not \
                 its partners, for of their {others} pairs with each other {others_slow} are slow",
                name(node.rank),
                compared(node.measure, node.ratio),
            )
        });
        let links = self.slow_pairs.iter().map(|pair| {
            format!(
                "what is between {} and {} is slow, with {}; not the two, for most of their other \
                 pairs are not",
                name(pair.from),
                name(pair.to),
                compared(pair.measure, pair.ratio),
            )
        });
        let together = self.slow_together.iter().map(|pair| {
            format!(
                "{} and {} have {} together, for each of them is a little slower than most; \
                 nothing is wrong between them",
                name(pair.from),
                name(pair.to),
                compared(pair.measure, pair.ratio),
            )
        });
        nodes.chain(links).chain(together).collect()
    }
}

fn compared(measure: &str, ratio: f64) -> String {
    match measure {
        "bandwidth" => format!("{:.1} % of the usual bandwidth", 100.0 / ratio),
        _ => format!("{ratio:.1} times the usual latency"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs, with a latency of 1 and the long message's time given.
    fn all(ranks: u32, time: impl Fn(Rank, Rank) -> f64) -> Verdict {
        let estimate =
            |value: f64| Estimate { value, interval: None, error: None, reps: 6, reached: true };
        let pairs = (0..ranks).flat_map(|from| (from + 1..ranks).map(move |to| (from, to)));
        let pair = |(from, to)| Pair {
            from,
            to,
            latency: estimate(1.0),
            transfer: estimate(time(from, to)),
        };
        let pairs: Vec<Pair> = pairs.map(pair).collect();
        let hosts: Vec<String> = (0..ranks).map(|rank| format!("n{rank}")).collect();
        // The last two are another site, a hundred times as far.
        let sites: Vec<u32> = (0..ranks).map(|rank| u32::from(rank + 2 >= ranks)).collect();
        verdict(&pairs, &hosts, &sites, &Limits::default())
    }

    fn names(verdict: &Verdict) -> Vec<Rank> {
        verdict.slow_nodes.iter().map(|node| node.rank).collect()
    }

    #[test]
    fn one_or_several_slow_nodes_are_named() {
        for ranks in 5..12 {
            for slow in 0..ranks - 2 {
                let found = all(ranks, |a, b| if a == slow || b == slow { 10.0 } else { 1.0 });
                assert_eq!((names(&found), found.slow_pairs.len()), (vec![slow], 0), "{ranks}");
                assert_eq!(found.slow_nodes[0].slow, ranks as usize - 1);
                assert_eq!(found.slow_nodes[0].others_slow, 0);
            }
        }
        let slow = [1, 4, 6];
        let found = all(16, |a, b| if slow.contains(&a) || slow.contains(&b) { 3.0 } else { 1.0 });
        assert_eq!(names(&found), slow);
    }

    #[test]
    fn a_slow_pair_is_no_slow_node() {
        let found = all(8, |a, b| if (a, b) == (2, 5) { 10.0 } else { 1.0 });
        assert_eq!(names(&found), []);
        assert_eq!((found.slow_pairs[0].from, found.slow_pairs[0].to), (2, 5));
        assert!((found.slow_pairs[0].ratio - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_link_that_is_a_little_too_slow_is_still_the_link() {
        let little = |rank: Rank| if rank == 1 { 1.05 } else { 1.0 };
        let bad = |a: Rank, b: Rank| if (a, b) == (1, 4) { 1.3 } else { 1.0 };
        let found = all(8, |a, b| little(a) * little(b) * bad(a, b));
        assert_eq!((found.slow_pairs.len(), found.slow_together.len()), (1, 0), "{found:?}");
        assert_eq!((found.slow_pairs[0].from, found.slow_pairs[0].to), (1, 4));
    }

    #[test]
    fn two_that_are_a_little_slow_are_so_together() {
        let little = |rank: Rank| if rank == 1 || rank == 3 { 1.2 } else { 1.0 };
        let found = all(8, |a, b| little(a) * little(b));
        assert!(found.is_healthy(), "{found:?}");
        let together: Vec<_> = found.slow_together.iter().map(|p| (p.from, p.to)).collect();
        assert_eq!(together, [(1, 3)]);
        assert!(found.sentences(&[], &Limits::default())[0].contains("a little slower"));
    }

    #[test]
    fn far_pairs_are_not_slow_pairs() {
        let far = |a: Rank, b: Rank| (a >= 6) != (b >= 6);
        let found = all(8, |a, b| if far(a, b) { 100.0 } else { 1.0 });
        assert!(found.is_healthy(), "{found:?}");
    }

    #[test]
    fn few_or_no_pairs_are_no_trouble() {
        let limits = Limits::default();
        assert!(verdict(&[], &[], &[], &limits).is_healthy());
        let two = all(2, |_, _| 5.0);
        assert!(two.sentences(&[], &limits)[0].starts_with("one pair"), "{two:?}");
    }
}
