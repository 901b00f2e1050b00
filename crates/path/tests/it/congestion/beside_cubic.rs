//! A connection beside a TCP flow, which is a model of CUBIC, on a link with a queue.

use super::flow::Flow;
use super::link::Link;
use super::net::{MS, Net, US};

/// The connection's part of what arrives within 10 s, and the part of the link that both use.
fn share(longest_queue: u64, trip: u64) -> (f64, f64) {
    let link = Link::new(1.0, trip / 2, longest_queue);
    let back = Link::new(100.0, trip / 2, 100 * MS);
    let mut net = Net::new(vec![[link, back]], vec![Flow::new(1, 64 << 10)]);
    net.pass(MS);
    net.send(0, 64);
    net.begin_cubic();
    let own = net.rate(0, 10_000 * MS);
    let cubic = net.cubic.as_ref().map_or(0, |cubic| cubic.received_bytes) as f64;
    let cubic = cubic * 8.0 / 10e9;
    (own / (own + cubic), own + cubic)
}

#[test]
fn it_shares_with_cubic() {
    for queue_ms in [1, 4, 16] {
        let (share, used) = share(queue_ms * MS, 100 * US);
        println!("{queue_ms} ms of queue: {share:.3} of {used:.3}");
        assert!(used >= 0.9, "{queue_ms} ms of queue: {used}");
        assert!((0.3..=0.7).contains(&share), "{queue_ms} ms of queue: {share}");
    }
}
