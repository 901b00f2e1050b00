//! What a survey found, as a document: a row for each pair, or a line for each node.

use std::collections::BTreeMap;

use laneway_core::{Document, Rank, Row};
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Look, Marks, Node, Pair, Sizes};

use super::Asked;
use super::doubt::{Judged, percent};
use super::suspects;

/// The pairs that are done, by their ranks.
pub struct Found {
    pub env: Row,
    pub hosts: Vec<String>,
    pub pairs: Vec<Pair>,
    /// What they come from, by rank.
    looks: BTreeMap<(Rank, Rank), Look>,
    sizes: Sizes,
}

pub const IMPRECISE: &str = "precision";
pub const MISSED: &str = "no time";

/// What a reader must know of a pair.
pub fn flags(pair: &Pair, rule: &Rule) -> Vec<&'static str> {
    let figures = [&pair.latency, &pair.there, &pair.back];
    let imprecise = figures.iter().any(|figure| !figure.reached);
    let missed = figures.iter().any(|figure| !figure.is_measured());
    let mut all = Vec::new();
    all.extend(imprecise.then_some(IMPRECISE));
    all.extend(missed.then_some(MISSED));
    all.extend(figures.iter().filter_map(|figure| figure.caution(rule)));
    all.dedup();
    all
}

impl Found {
    pub fn new(env: Row, hosts: Vec<String>, sizes: Sizes) -> Found {
        Found { env, hosts, pairs: Vec::new(), looks: BTreeMap::new(), sizes }
    }

    /// Adds looks at pairs; of two at one pair the faster figures count.
    pub fn add(&mut self, looks: Vec<Look>) {
        for look in looks {
            let known = self.looks.entry((look.from, look.to)).or_insert(look);
            *known = known.faster(&look);
        }
    }

    /// Makes pairs of all looks so far.
    pub fn settle(&mut self) {
        self.pairs = self.looks.values().map(|look| look.pair(self.sizes)).collect();
    }

    /// All that is known; without the verdict, which takes all pairs, where some are missing.
    pub fn document(&self, asked: &Asked, judged: Option<&Judged>, summary: Row) -> Document {
        let params = Row::new()
            .with("size_bytes", asked.sizes.bandwidth as u64)
            .with("min_bandwidth", asked.limits.least_bandwidth)
            .with("min_mb_s", asked.limits.least_rate.map(|rate| rate.bytes_per_second / 1e6))
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
        Row::new()
            .with("complete", true)
            .with("pairs", self.pairs.len() as u64)
            .with("slow_pairs", verdict.count_slow() as u64)
            .with("not_surely_slow_pairs", judged.not_surely_slow().len() as u64)
            .with("slow_nodes", suspects::hosts(verdict, &self.hosts))
            .with("slow_links", suspects::links(verdict, &self.hosts))
            .with("suspects", suspects::brief(verdict, &self.hosts))
            .with("healthy", verdict.is_healthy() && verdict.count_slow() == 0)
            .with("verdict", sentences.join("; "))
    }

    /// One pair with everything that is known of it.
    fn row(&self, asked: &Asked, judged: Option<&Judged>, index: usize) -> Row {
        let pair = &self.pairs[index];
        let marks = judged.map(|judged| judged.verdict.marks[index]);
        let host = |rank: Rank| self.hosts.get(rank as usize).cloned();
        let latency = pair.latency.map(|seconds| seconds * 1e6);
        let bytes = asked.sizes.bandwidth as f64;
        // What was not measured has no rate.
        let rate = |figure: &Estimate| match figure.is_measured() {
            true => figure.map(|seconds| bytes / seconds / 1e6),
            false => Estimate { value: f64::NAN, interval: None, ..*figure },
        };
        let ways = Ways::of(pair, marks.as_ref());
        let (slower, there, back) = (rate(ways.slower), rate(&pair.there), rate(&pair.back));
        let low = |figure: Estimate| figure.interval.map(|interval| interval.low);
        let high = |figure: Estimate| figure.interval.map(|interval| interval.high);
        Row::new()
            .with("from", pair.from)
            .with("to", pair.to)
            .with("from_host", host(pair.from))
            .with("to_host", host(pair.to))
            .with("latency_us", latency.value)
            .with("latency_ci_low_us", low(latency))
            .with("latency_ci_high_us", high(latency))
            .with("latency_reps", latency.reps)
            .with("latency_times", marks.map(|marks| marks.latency.ratio))
            .with("bandwidth_mb_s", slower.value)
            .with("bandwidth_ci_low_mb_s", low(slower))
            .with("bandwidth_ci_high_mb_s", high(slower))
            .with("bandwidth_reps", slower.reps)
            .with("ci_level", slower.interval.map(|i| i.level))
            .with("usual_percent", ways.usual.map(|usual| usual.value))
            .with("usual_low_percent", ways.usual.and_then(low))
            .with("usual_high_percent", ways.usual.and_then(high))
            .with("there_mb_s", there.value)
            .with("there_ci_low_mb_s", low(there))
            .with("there_ci_high_mb_s", high(there))
            .with("there_percent", marks.map(|marks| 100.0 / marks.there.ratio))
            .with("back_mb_s", back.value)
            .with("back_ci_low_mb_s", low(back))
            .with("back_ci_high_mb_s", high(back))
            .with("back_percent", marks.map(|marks| 100.0 / marks.back.ratio))
            .with("slow", marks.map(|marks| marks.is_slow()))
            .with("slow_in", marks.as_ref().map(slow_in))
            .with("not_surely_slow", marks.map(|marks| marks.is_not_surely_slow()))
            .with("flags", flags(pair, &asked.rule).join(","))
    }

    /// A line for each node: what is usual for it, and its row of the map.
    pub fn nodes(&self, asked: &Asked, judged: &Judged, shades: &[String]) -> Vec<Row> {
        let rate = |seconds: f64| {
            let rate = asked.sizes.bandwidth as f64 / seconds / 1e6;
            (seconds > 0.0).then_some(rate)
        };
        let line = |node: &Node| {
            Row::new()
                .with("rank", node.rank)
                .with("host", self.hosts.get(node.rank as usize).cloned())
                .with("latency_us", node.latency * 1e6)
                .with("out_mb_s", rate(node.sent))
                .with("in_mb_s", rate(node.received))
                .with("slow_pairs", format!("{} of {}", node.slow, node.pairs))
                .with("map", shades.get(node.rank as usize).cloned())
        };
        judged.verdict.nodes.iter().map(line).collect()
    }
}

/// The slower direction of a pair, and its percent of what is usual.
struct Ways<'p> {
    slower: &'p Estimate,
    usual: Option<Estimate>,
}

impl<'p> Ways<'p> {
    fn of(pair: &'p Pair, marks: Option<&Marks>) -> Ways<'p> {
        let back_is_slower = match marks {
            Some(marks) => marks.back.ratio > marks.there.ratio,
            None => pair.back.value > pair.there.value,
        };
        let slower = if back_is_slower { &pair.back } else { &pair.there };
        let mark = marks.map(|marks| if back_is_slower { &marks.back } else { &marks.there });
        Ways { slower, usual: mark.map(|mark| percent(slower, mark)) }
    }
}

/// In which of its figures a pair is slow.
fn slow_in(marks: &Marks) -> String {
    let all = [(marks.there, "there"), (marks.back, "back"), (marks.latency, "latency")];
    let slow = all.iter().filter(|(mark, _)| mark.slow).map(|(_, name)| *name);
    slow.collect::<Vec<_>>().join(",")
}
