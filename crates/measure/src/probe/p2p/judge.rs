//! Who is to blame for slow pairs.
//!
//! Every way is compared with what is usual for its kind (`kinds.rs`, `usual.rs`), and what is slow
//! is put down to as few causes as possible (`blame.rs`): bandwidths by direction, latencies there
//! and back (`figure.rs`).

use laneway_core::Rank;

use super::figure::{long, short};
use super::kinds::Places;
use super::survey::Pair;
use super::usual::lower_quantile;
use super::verdict::{Limits, Marks, Node, Verdict};

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
