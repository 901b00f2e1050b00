//! A verdict in sentences.

use laneway_core::Rank;

use super::verdict::{BANDWIDTH, Direction, Limits, Scope, SlowNode, SlowPair, Verdict};

/// Slow pairs that no host and no link explains are named up to this number.
const NAMED: usize = 8;

impl Limits {
    /// What is slow, in words, at this confidence level.
    pub fn words(&self, level: f64) -> String {
        // As many places as distinguish a percentage from its neighbours.
        let percent = |part: f64| (part * 1e4).round() / 100.0;
        let least = percent(self.least_bandwidth);
        let times = match self.most_latency {
            2.0 => "twice".to_string(),
            times => format!("{times} times"),
        };
        let rate = self
            .least_rate
            .map_or(String::new(), |rate| format!("below {} MB/s, ", rate.bytes_per_second / 1e6));
        let level = percent(level);
        format!(
            "slow: {rate}below {least} % of the usual bandwidth, or above {times} the usual \
             latency, with {level} % confidence"
        )
    }
}

/// A rank as people know it.
pub fn name(hosts: &[String], rank: Rank) -> String {
    match hosts.get(rank as usize) {
        Some(host) => format!("{host} (rank {rank})"),
        None => format!("rank {rank}"),
    }
}

impl SlowNode {
    /// The host with its ranks.
    pub fn name(&self, hosts: &[String]) -> String {
        match (self.ranks, hosts.get(self.rank as usize)) {
            (2.., Some(host)) => format!("{host} ({} ranks from rank {})", self.ranks, self.rank),
            _ => name(hosts, self.rank),
        }
    }

    fn sentence(&self, hosts: &[String]) -> String {
        let SlowNode { slow, pairs, others_slow, others, .. } = self;
        let verb = match self.direction {
            Direction::Both => "is slow",
            Direction::In => "receives slowly",
            Direction::Out => "sends slowly",
        };
        let scope = match self.scope {
            Scope::All => "",
            Scope::Near => " within its site",
            Scope::Far => " with other sites",
        };
        let extent = match slow == pairs {
            true => format!("all {pairs} pairs"),
            false => format!("{slow} of {pairs} pairs"),
        };
        let others_slow = if *others_slow == 0 { "none".into() } else { others_slow.to_string() };
        format!(
            "{} {verb}{scope} in {extent}: {} in the median; of the {others} pairs of the other \
             hosts {others_slow} {} slow",
            self.name(hosts),
            compared(self.measure, self.ratio),
            if others_slow == "none" || others_slow == "1" { "is" } else { "are" },
        )
    }
}

impl SlowPair {
    fn figure(&self) -> String {
        compared(self.measure, self.ratio)
    }

    fn direction(&self, hosts: &[String]) -> String {
        match self.both_ways {
            true => String::new(),
            false => format!(" towards {}", name(hosts, self.to)),
        }
    }
}

impl Verdict {
    /// The verdict in words, a sentence each.
    pub fn sentences(&self, hosts: &[String], limits: &Limits) -> Vec<String> {
        let pairs = self.marks.len();
        if pairs == 1 && limits.least_rate.is_none() {
            return vec!["a single pair has no other pair to compare with".to_string()];
        }
        let mut all = self.blame(hosts);
        let below = self.marks.iter().filter(|m| m.there.only_below_rate || m.back.only_below_rate);
        match below.count() {
            0 => {}
            below => all.push(format!(
                "{below} of {pairs} pairs are below the requested bandwidth, but not below the \
                 usual bandwidth of their kind"
            )),
        }
        if all.is_empty() {
            all.push(format!("none of {pairs} pairs is slow"));
        }
        all
    }

    /// A sentence for each cause, and for each slow pair without one.
    fn blame(&self, hosts: &[String]) -> Vec<String> {
        let named = |pair: &SlowPair| (name(hosts, pair.from), name(hosts, pair.to));
        let nodes = self.slow_nodes.iter().map(|node| node.sentence(hosts));
        let links = self.slow_pairs.iter().map(|pair| {
            let (from, to) = named(pair);
            format!(
                "the link between {from} and {to} is slow{}: {}; the other pairs of both hosts \
                 are not slow",
                pair.direction(hosts),
                pair.figure(),
            )
        });
        let unclear = self.unclear_pairs.iter().map(|pair| {
            let (from, to) = named(pair);
            format!(
                "{from} and {to} have {}{}; host or link: cannot tell",
                pair.figure(),
                pair.direction(hosts),
            )
        });
        let together = self.slow_together.iter().map(|pair| {
            let (from, to) = named(pair);
            format!(
                "{from} and {to} have {} together: both hosts are slightly slow, the link is not",
                pair.figure(),
            )
        });
        let scattered = match self.scattered_pairs.len() {
            0 => None,
            count => Some(format!(
                "{count} pairs are slow without a common host or link: possible causes are a \
                 shared bottleneck, such as a switch between groups of hosts, or pairs that are \
                 measured at the same time"
            )),
        };
        let mut all: Vec<String> = nodes.chain(links).chain(scattered).collect();
        let doubts = [unclear.collect(), together.collect()];
        for mut sentences in doubts.into_iter().filter(|list: &Vec<String>| !list.is_empty()) {
            let more = sentences.len().saturating_sub(NAMED);
            sentences.truncate(NAMED);
            all.append(&mut sentences);
            all.extend((more > 0).then(|| format!("likewise {more} more pairs")));
        }
        all
    }
}

fn compared(measure: &str, ratio: f64) -> String {
    match measure {
        BANDWIDTH => format!("{:.1} % of the usual bandwidth", 100.0 / ratio),
        _ => format!("{ratio:.1} times the usual latency"),
    }
}
