//! Only what is to blame: names, and a row for each host and each link.

use laneway_core::{Rank, Row};

use super::findings::Findings;
use crate::p2p::{BANDWIDTH, SlowNode, SlowPair};

impl Findings {
    fn host(&self, rank: Rank) -> &str {
        self.hosts.get(rank as usize).map_or("", String::as_str)
    }

    fn slow_nodes(&self) -> &[SlowNode] {
        self.verdict.as_ref().map_or(&[], |verdict| &verdict.slow_nodes)
    }

    fn slow_pairs(&self) -> &[SlowPair] {
        self.verdict.as_ref().map_or(&[], |verdict| &verdict.slow_pairs)
    }

    /// The names of hosts to blame, each once.
    pub fn slow_hosts(&self) -> Vec<String> {
        once(self.slow_nodes().iter().map(|node| self.host(node.rank).to_string()))
    }

    /// The links to blame as `from:to`, each once.
    pub fn slow_links(&self) -> Vec<String> {
        let link = |pair: &SlowPair| format!("{}:{}", self.host(pair.from), self.host(pair.to));
        once(self.slow_pairs().iter().map(link))
    }

    /// Every one in a few words: who, which figure, which direction.
    pub fn suspects(&self) -> Vec<String> {
        let node = |node: &SlowNode| {
            format!("{} {} {}", self.host(node.rank), node.measure, node.direction.name())
        };
        let link = |pair: &SlowPair| {
            let (from, to) = (self.host(pair.from), self.host(pair.to));
            format!("{from}:{to} {} {}", pair.measure, direction(pair))
        };
        let links = self.slow_pairs().iter().map(link);
        self.slow_nodes().iter().map(node).chain(links).collect()
    }

    /// A row for each host and each link to blame.
    pub fn suspect_rows(&self) -> Vec<Row> {
        let unclear = self.verdict.as_ref().map_or(&[][..], |verdict| &verdict.unclear_pairs);
        let nodes = self.slow_nodes().iter().map(|node| self.node_row(node));
        let links = self.slow_pairs().iter().map(|pair| self.link_row("link", pair));
        let unclear = unclear.iter().map(|pair| self.link_row("host or link", pair));
        nodes.chain(links).chain(unclear).collect()
    }

    fn node_row(&self, node: &SlowNode) -> Row {
        let row = Row::new()
            .with("suspect", "host")
            .with("rank", node.rank)
            .with("host", self.hosts.get(node.rank as usize).cloned())
            .with("to", None::<u32>)
            .with("to_host", None::<String>)
            .with("direction", node.direction.name());
        let slow = format!("{} of {}", node.slow, node.pairs);
        with_figure(row, node.measure, node.ratio).with("slow_pairs", slow)
    }

    fn link_row(&self, suspect: &str, pair: &SlowPair) -> Row {
        let row = Row::new()
            .with("suspect", suspect)
            .with("rank", pair.from)
            .with("host", self.hosts.get(pair.from as usize).cloned())
            .with("to", pair.to)
            .with("to_host", self.hosts.get(pair.to as usize).cloned())
            .with("direction", direction(pair));
        with_figure(row, pair.measure, pair.ratio).with("slow_pairs", None::<String>)
    }
}

fn direction(pair: &SlowPair) -> &'static str {
    if pair.both_ways { "both" } else { "there" }
}

fn with_figure(row: Row, measure: &'static str, ratio: f64) -> Row {
    let is_bandwidth = measure == BANDWIDTH;
    row.with("measure", measure)
        .with("usual_percent", is_bandwidth.then_some(100.0 / ratio))
        .with("latency_times", (!is_bandwidth).then_some(ratio))
}

/// Each name where it comes first.
fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
