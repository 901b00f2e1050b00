//! What a survey found, as a document: a row for each pair, or a line for each node.

use laneway_core::{Document, Rank, Row};
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Node, Pair};

use super::Asked;
use super::doubt::Judged;
use super::picture;

/// The pairs that are done, by their ranks.
pub struct Found {
    pub env: Row,
    pub hosts: Vec<String>,
    pub pairs: Vec<Pair>,
}

pub const IMPRECISE: &str = "precision";
pub const MISSED: &str = "no time";

/// Whether a figure is none: what takes no time, or less, was not measured.
pub fn is_missed(figure: &Estimate) -> bool {
    !(figure.value > 0.0 && figure.value.is_finite())
}

/// What a reader must know of a pair.
pub fn flags(pair: &Pair, rule: &Rule) -> Vec<&'static str> {
    let both = [&pair.latency, &pair.transfer];
    let imprecise = both.iter().any(|figure| !figure.reached);
    let missed = both.iter().any(|figure| is_missed(figure));
    let mut all = Vec::new();
    all.extend(imprecise.then_some(IMPRECISE));
    all.extend(missed.then_some(MISSED));
    all.extend(both.iter().filter_map(|figure| figure.caution(rule)));
    all.dedup();
    all
}

impl Found {
    pub fn add(&mut self, pairs: Vec<Pair>) {
        self.pairs.extend(pairs);
        self.pairs.sort_by_key(|pair| (pair.from, pair.to));
    }

    /// All that is known; without the verdict, which takes all pairs, where some are missing.
    pub fn document(&self, asked: &Asked, judged: Option<&Judged>, summary: Row) -> Document {
        let params = Row::new()
            .with("size_bytes", asked.sizes.bandwidth as u64)
            .with("min_bandwidth", asked.limits.least_bandwidth)
            .with("most_latency", asked.limits.most_latency)
            .with("sequential", asked.sequential);
        Document {
            verb: "measure-pairs",
            env: self.env.clone(),
            params,
            rows: (0..self.pairs.len()).map(|index| self.row(asked, judged, index)).collect(),
            summary: Some(summary),
        }
    }

    /// What a program reads of a verdict.
    pub fn summary(&self, judged: &Judged, sentences: &[String]) -> Row {
        let verdict = &judged.verdict;
        let name = |rank: Rank| self.hosts.get(rank as usize).map_or("", String::as_str);
        let slow: Vec<&str> = verdict.slow_nodes.iter().map(|node| name(node.rank)).collect();
        Row::new()
            .with("complete", true)
            .with("pairs", self.pairs.len() as u64)
            .with("slow_pairs", verdict.slow.iter().filter(|slow| **slow).count() as u64)
            .with("not_surely_slow_pairs", judged.not_surely_slow(&self.pairs).len() as u64)
            .with("slow_nodes", slow.join(","))
            .with("healthy", verdict.is_healthy())
            .with("verdict", sentences.join("; "))
    }

    /// One pair with everything that is known of it.
    fn row(&self, asked: &Asked, judged: Option<&Judged>, index: usize) -> Row {
        let pair = &self.pairs[index];
        let host = |rank: Rank| self.hosts.get(rank as usize).cloned();
        let latency = pair.latency.map(|seconds| seconds * 1e6);
        let rate = pair.transfer.map(|seconds| asked.sizes.bandwidth as f64 / seconds / 1e6);
        let usual = judged.map(|judged| judged.usual_percent(&self.pairs, index));
        let unsure = |judged: &Judged| judged.is_not_surely_slow(&self.pairs, index);
        Row::new()
            .with("from", pair.from)
            .with("to", pair.to)
            .with("from_host", host(pair.from))
            .with("to_host", host(pair.to))
            .with("latency_us", latency.value)
            .with("latency_ci_low_us", latency.interval.map(|i| i.low))
            .with("latency_ci_high_us", latency.interval.map(|i| i.high))
            .with("latency_reps", latency.reps)
            .with("bandwidth_mb_s", rate.value)
            .with("bandwidth_ci_low_mb_s", rate.interval.map(|i| i.low))
            .with("bandwidth_ci_high_mb_s", rate.interval.map(|i| i.high))
            .with("bandwidth_reps", rate.reps)
            .with("ci_level", rate.interval.map(|i| i.level))
            .with("usual_percent", usual.map(|usual| usual.value))
            .with("usual_low_percent", usual.and_then(|usual| Some(usual.interval?.low)))
            .with("usual_high_percent", usual.and_then(|usual| Some(usual.interval?.high)))
            .with("slow", judged.map(|judged| judged.verdict.slow[index]))
            .with("not_surely_slow", judged.map(unsure))
            .with("flags", flags(pair, &asked.rule).join(","))
    }

    /// A line for each node: what is usual for it, and its row of the map.
    pub fn nodes(&self, asked: &Asked, judged: &Judged) -> Vec<Row> {
        let line = |node: &Node| {
            Row::new()
                .with("rank", node.rank)
                .with("host", self.hosts.get(node.rank as usize).cloned())
                .with("latency_us", node.latency * 1e6)
                .with("bandwidth_mb_s", asked.sizes.bandwidth as f64 / node.transfer / 1e6)
                .with("slow_pairs", format!("{} of {}", node.slow, node.pairs))
                .with("map", picture::shades(&self.pairs, &judged.verdict, node.rank))
        };
        judged.verdict.nodes.iter().map(line).collect()
    }
}
