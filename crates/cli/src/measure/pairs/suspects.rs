//! Only what is to blame: a row for each host and each link.

use laneway_core::{Rank, Row};
use laneway_measure::p2p::{BANDWIDTH, SlowNode, SlowPair, Verdict};

/// Host names as rows have them.
struct Named<'h>(&'h [String]);

impl Named<'_> {
    fn host(&self, rank: Rank) -> Option<String> {
        self.0.get(rank as usize).cloned()
    }

    fn node(&self, node: &SlowNode) -> Row {
        let row = Row::new()
            .with("suspect", "host")
            .with("rank", node.rank)
            .with("host", self.host(node.rank))
            .with("to", None::<u32>)
            .with("to_host", None::<String>)
            .with("direction", node.direction.name());
        let slow = format!("{} of {}", node.slow, node.pairs);
        with_figure(row, node.measure, node.ratio).with("slow_pairs", slow)
    }

    fn pair(&self, suspect: &str, pair: &SlowPair) -> Row {
        let direction = if pair.both_ways { "both" } else { "there" };
        let row = Row::new()
            .with("suspect", suspect)
            .with("rank", pair.from)
            .with("host", self.host(pair.from))
            .with("to", pair.to)
            .with("to_host", self.host(pair.to))
            .with("direction", direction);
        with_figure(row, pair.measure, pair.ratio).with("slow_pairs", None::<String>)
    }
}

fn with_figure(row: Row, measure: &'static str, ratio: f64) -> Row {
    let is_bandwidth = measure == BANDWIDTH;
    row.with("measure", measure)
        .with("usual_percent", is_bandwidth.then_some(100.0 / ratio))
        .with("latency_times", (!is_bandwidth).then_some(ratio))
}

/// All of them.
pub fn rows(verdict: &Verdict, hosts: &[String]) -> Vec<Row> {
    let named = Named(hosts);
    let nodes = verdict.slow_nodes.iter().map(|node| named.node(node));
    let links = verdict.slow_pairs.iter().map(|pair| named.pair("link", pair));
    let unclear = verdict.unclear_pairs.iter().map(|pair| named.pair("host or link", pair));
    nodes.chain(links).chain(unclear).collect()
}

/// The names of hosts to blame, each once.
pub fn hosts(verdict: &Verdict, hosts: &[String]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for node in &verdict.slow_nodes {
        let name = hosts.get(node.rank as usize).map_or("", String::as_str);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(",")
}

/// The links to blame as `from:to`, each once.
pub fn links(verdict: &Verdict, hosts: &[String]) -> String {
    let name = |rank: Rank| hosts.get(rank as usize).map_or("", String::as_str);
    let mut names: Vec<String> = Vec::new();
    for pair in &verdict.slow_pairs {
        let link = format!("{}:{}", name(pair.from), name(pair.to));
        if !names.contains(&link) {
            names.push(link);
        }
    }
    names.join(",")
}

/// Every one in a few words: who, which figure, which direction.
pub fn brief(verdict: &Verdict, hosts: &[String]) -> String {
    let name = |rank: Rank| hosts.get(rank as usize).map_or("", String::as_str);
    let nodes = verdict
        .slow_nodes
        .iter()
        .map(|node| format!("{} {} {}", name(node.rank), node.measure, node.direction.name()));
    let links = verdict.slow_pairs.iter().map(|pair| {
        let direction = if pair.both_ways { "both" } else { "there" };
        format!("{}:{} {} {direction}", name(pair.from), name(pair.to), pair.measure)
    });
    nodes.chain(links).collect::<Vec<_>>().join(",")
}
