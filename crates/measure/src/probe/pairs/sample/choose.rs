//! Which further pairs the verdict needs. A host with a slow pair is measured with further partners
//! that are sound; a pair that stood out at a quick look, and that no slow host explains, is
//! measured with care.

use std::collections::{BTreeMap, BTreeSet};

use laneway_core::Rank;

use super::super::findings::{Coverage, Findings};
use super::super::found::Found;
use super::draw::{Distance, Draw};
use super::quick::{Quick, StandOut};
use super::usual::Usual;
use crate::p2p::{BANDWIDTH, Direction, Limits, Scope, SlowNode};

/// Further partners of a host that is suspected.
const FURTHER: usize = 8;

/// A host of which more pairs stand out gets further partners at random first: pairs that stand out
/// alone would make it look worse than it is.
const MANY: usize = 3;

/// Pairs for each rank that are chosen at a time, at most.
const FOR_EACH_RANK: usize = 4;

pub(super) struct Chooser {
    draw: Draw,
    quick: Quick,
    /// Pairs that were measured a second time.
    again: BTreeSet<(Rank, Rank)>,
    /// Hosts, and ranks within one, that have their further partners.
    extended: BTreeSet<(Rank, Distance)>,
    /// Hosts whose pairs that stood out were chosen.
    followed: BTreeSet<u32>,
}

/// What slow hosts explain: times of the usual figure by host, sending and receiving.
struct Explained<'f> {
    limits: Limits,
    nodes: BTreeMap<u32, Vec<&'f SlowNode>>,
}

impl Explained<'_> {
    fn times(&self, host: u32, measure: &str, sends: bool, far: bool) -> f64 {
        let nodes = self.nodes.get(&host).map_or(&[][..], Vec::as_slice).iter();
        let counts = |node: &&&SlowNode| {
            let direction = match node.direction {
                Direction::Both => true,
                Direction::In => !sends,
                Direction::Out => sends,
            };
            let scope = match node.scope {
                Scope::Near => !far,
                Scope::Far => far,
                _ => true,
            };
            node.measure == measure && direction && scope
        };
        nodes.filter(counts).map(|node| node.ratio).fold(1.0, f64::max)
    }

    /// Whether a transfer of this multiple of the usual is what its hosts explain.
    fn is_transfer(&self, times: f64, from: u32, to: u32, far: bool) -> bool {
        let own = self.times(from, BANDWIDTH, true, far).max(self.times(to, BANDWIDTH, false, far));
        times <= own / self.limits.least_bandwidth
    }

    fn is_latency(&self, times: f64, from: u32, to: u32, far: bool) -> bool {
        let more = |host| self.times(host, crate::p2p::LATENCY, true, far) - 1.0;
        times <= self.limits.most_latency * (1.0 + more(from) + more(to))
    }
}

impl Chooser {
    pub fn new(draw: Draw, quick: Quick) -> Chooser {
        let (again, extended) = (BTreeSet::new(), BTreeSet::new());
        Chooser { draw, quick, again, extended, followed: BTreeSet::new() }
    }

    fn explained<'f>(&self, findings: &'f Findings) -> Explained<'f> {
        let mut nodes: BTreeMap<u32, Vec<&SlowNode>> = BTreeMap::new();
        for node in findings.verdict.iter().flat_map(|verdict| &verdict.slow_nodes) {
            nodes.entry(self.draw.host(node.rank)).or_default().push(node);
        }
        Explained { limits: findings.survey.limits(), nodes }
    }

    /// The pairs to be measured next; empty if the verdict needs no more.
    pub fn next(&mut self, findings: &Findings, found: &Found) -> Vec<Vec<Rank>> {
        let Some(verdict) = &findings.verdict else { return Vec::new() };
        let explained = self.explained(findings);
        let mut wanted = Vec::new();
        // Hosts that are no partners for others: named, or with a slow pair that nothing explains.
        let mut avoid: BTreeSet<u32> = explained.nodes.keys().copied().collect();
        let mut suspects: Vec<(Rank, Distance)> = Vec::new();
        for index in verdict.doubtful() {
            let (pair, marks) = (&findings.pairs[index], &verdict.marks[index]);
            let (from, to) = (pair.from, pair.to);
            wanted.extend(self.again.insert((from, to)).then_some((from, to)));
            let distance = self.draw.distance(from, to);
            let far = distance == Distance::Far;
            let [a, b] = [from, to].map(|rank| self.draw.host(rank));
            let is_explained = explained.is_transfer(marks.there.ratio, a, b, far)
                && explained.is_transfer(marks.back.ratio, b, a, far)
                && explained.is_latency(marks.latency.ratio, a, b, far);
            let is_named = |host: u32| explained.nodes.contains_key(&host);
            for (rank, host) in [(from, a), (to, b)] {
                if is_named(host) || !is_explained {
                    suspects.push((rank, distance));
                    avoid.insert(host);
                }
            }
        }
        let usual = Usual::of(findings, &found.numbers);
        let usual = (&usual, &found.sites[..]);
        let open = self.open(&explained, usual);
        let mut by_host: BTreeMap<u32, usize> = BTreeMap::new();
        for look in &open {
            for rank in [look.from, look.to] {
                *by_host.entry(self.draw.host(rank)).or_default() += 1;
            }
        }
        let many = by_host.iter().filter(|(_, count)| **count > MANY).map(|(host, _)| *host);
        let many: BTreeSet<u32> = many.collect();
        for look in &open {
            for rank in [look.from, look.to] {
                if many.contains(&self.draw.host(rank)) {
                    suspects.push((rank, self.draw.distance(look.from, look.to)));
                }
            }
        }
        avoid.extend(&many);
        for (rank, distance) in suspects {
            let key = match distance {
                Distance::Host => rank,
                _ => self.draw.host(rank),
            };
            if self.extended.insert((key, distance)) {
                wanted.extend(self.draw.further(rank, distance, FURTHER, &avoid));
            }
        }
        wanted.extend(self.follow(&open, &many, wanted.is_empty()));
        let most = FOR_EACH_RANK * findings.hosts.len();
        for pair in wanted.split_off(most.min(wanted.len())) {
            self.draw.give_back(pair);
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.into_iter().map(|(from, to)| vec![from, to]).collect()
    }

    /// Pairs that stood out, that were not measured with care and that no slow host explains.
    fn open(&self, explained: &Explained, (usual, sites): (&Usual, &[u32])) -> Vec<StandOut> {
        let is_open = |look: &&StandOut| {
            if self.draw.is_drawn(look.from, look.to) {
                return false;
            }
            let [a, b] = [look.from, look.to].map(|rank| self.draw.host(rank));
            let [one, other] = [look.from, look.to].map(|rank| sites[rank as usize]);
            let far = one != other;
            let (there, back) = (usual.get(one, other), usual.get(other, one));
            !(explained.is_transfer(look.there / there.transfer, a, b, far)
                && explained.is_transfer(look.back / back.transfer, b, a, far)
                && explained.is_latency(look.latency / there.latency, a, b, far))
        };
        self.quick.stand_out.iter().filter(is_open).copied().collect()
    }

    /// Pairs that stood out and are measured with care: those of hosts with a few of them at once,
    /// those of the others when their further partners did not explain them.
    fn follow(
        &mut self,
        open: &[StandOut],
        many: &BTreeSet<u32>,
        is_last: bool,
    ) -> Vec<(Rank, Rank)> {
        let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
        let mut pairs = Vec::new();
        for look in open {
            let hosts = [look.from, look.to].map(|rank| self.draw.host(rank));
            let crowded: Vec<u32> = hosts.into_iter().filter(|host| many.contains(host)).collect();
            if !crowded.is_empty() {
                let is_done = |host: &u32| {
                    self.followed.contains(host)
                        || taken.get(host).is_some_and(|&count| count >= FURTHER)
                };
                if !is_last || crowded.iter().any(is_done) {
                    continue;
                }
                crowded.iter().for_each(|host| *taken.entry(*host).or_default() += 1);
            }
            pairs.extend(self.draw.take(look.from, look.to));
        }
        self.followed.extend(taken.keys());
        pairs
    }

    /// What was looked at, for the reader of the verdict.
    pub fn coverage(&self, findings: &Findings, found: &Found) -> Coverage {
        let explained = self.explained(findings);
        let usual = Usual::of(findings, &found.numbers);
        let open = self.open(&explained, (&usual, &found.sites)).len() as u64;
        let quick = self.quick.near + self.quick.far;
        let all = self.draw.count_all();
        Coverage {
            measured: findings.pairs.len() as u64,
            quick,
            stand_out: self.quick.stand_out.len() as u64 + self.quick.dropped,
            open: open + self.quick.dropped,
            all,
            unseen: all.saturating_sub(quick + self.beside(findings)),
        }
    }

    /// Pairs that were measured with care, besides those that had a quick look.
    fn beside(&self, findings: &Findings) -> u64 {
        let mut pairs = BTreeSet::new();
        for pair in &findings.pairs {
            let (a, b) = (pair.from, pair.to);
            let distance = self.draw.distance(a, b);
            let [one, other] = [a, b].map(|rank| self.draw.host(rank));
            // Some of these may have had a look too, and are not counted twice.
            let looked = match distance {
                Distance::Host => false,
                Distance::Site => self.quick.near > 0,
                Distance::Far => self.quick.far > 0,
            };
            let key = match distance {
                Distance::Host => (a, b, true),
                _ => (one.min(other), one.max(other), false),
            };
            pairs.extend((!looked).then_some(key));
        }
        pairs.len() as u64
    }
}
