//! Findings as a document: a row for each pair, and for people a line for each node.

use laneway_core::{Document, Rank, Row};

use super::findings::{Findings, flags_of, percent};
use super::sample::PARTNERS;
use crate::p2p::{Estimate, Marks, Node, Pair};

impl Findings {
    /// All that is known; `env` tells of the machine. Pairs are not compared where there is no
    /// verdict.
    pub fn document(&self, env: Row) -> Document {
        Document {
            verb: "measure-pairs",
            env,
            params: self.params(),
            rows: self.pair_rows(),
            summary: Some(self.summary()),
        }
    }

    /// What was asked for.
    pub fn params(&self) -> Row {
        let limits = self.survey.limits();
        Row::new()
            .with("size_bytes", self.survey.size as u64)
            .with("min_bandwidth", limits.least_bandwidth)
            .with("min_mb_s", limits.least_rate.map(|rate| rate.bytes_per_second / 1e6))
            .with("most_latency", limits.most_latency)
            .with("sequential", self.survey.sequential)
            .with("sample", self.survey.sample.map(|s| s.partners.unwrap_or(PARTNERS)))
            .with("seed", self.survey.sample.map(|sample| sample.seed))
    }

    /// What a program reads of the verdict.
    pub fn summary(&self) -> Row {
        let row = Row::new()
            .with("complete", self.verdict.is_some())
            .with("pairs", self.pairs.len() as u64);
        let row = match self.coverage {
            None => row,
            Some(seen) => row
                .with("all_pairs", seen.all)
                .with("quick_pairs", seen.quick)
                .with("stand_out_pairs", seen.stand_out)
                .with("open_pairs", seen.open)
                .with("unseen_pairs", seen.unseen),
        };
        let row = match &self.verdict {
            None => row,
            Some(verdict) => row
                .with("slow_pairs", verdict.count_slow() as u64)
                .with("borderline_pairs", self.borderline().len() as u64)
                .with("slow_nodes", self.slow_hosts().join(","))
                .with("slow_links", self.slow_links().join(","))
                .with("suspects", self.suspects().join(","))
                .with("healthy", self.is_healthy()),
        };
        row.with("verdict", self.sentences().join("; "))
    }

    /// Every pair with everything that is known of it.
    pub fn pair_rows(&self) -> Vec<Row> {
        let marks = |index: usize| self.verdict.as_ref().map(|verdict| verdict.marks[index]);
        let pairs = self.pairs.iter().enumerate();
        pairs.map(|(index, pair)| self.pair_row(pair, marks(index))).collect()
    }

    fn pair_row(&self, pair: &Pair, marks: Option<Marks>) -> Row {
        let host = |rank: Rank| self.hosts.get(rank as usize).cloned();
        let latency = pair.latency.map(|seconds| seconds * 1e6);
        let bytes = self.survey.size as f64;
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
            .with("borderline", marks.map(|marks| marks.is_borderline()))
            .with("flags", flags_of(pair, &self.survey).join(","))
    }

    /// A line for each node: what is usual for it. None before there is a verdict.
    pub fn node_rows(&self) -> Vec<Row> {
        let rate = |seconds: f64| {
            let rate = self.survey.size as f64 / seconds / 1e6;
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
        };
        self.verdict.iter().flat_map(|verdict| &verdict.nodes).map(line).collect()
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
