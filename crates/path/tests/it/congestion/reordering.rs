//! Packets that overtake each other, as on fabrics that spray them over several ways.

use super::link::Late;
use super::net::{MS, Net, US};

/// The part of 10 Gbit/s that is left if a part of the packets is late, and packets that were sent
/// again for each that was sent.
fn rate(part: f64, by: u64) -> (f64, f64) {
    let mut net = Net::single(10.0, 100 * US, 5 * MS, 2);
    net.links[0][0].late = Some(Late { part, by });
    net.send(0, 64);
    net.pass(100 * MS);
    let rate = net.rate(0, 200 * MS);
    let counters = net.flows[0].ends[0].counters();
    assert_eq!(net.flows[0].migrations, 0, "late packets are no reason to leave a path");
    (rate, counters.sent_again as f64 / counters.sent as f64)
}

#[test]
fn late_packets_are_not_lost() {
    for late_us in [5, 10, 50, 500] {
        for part in [0.001, 0.1, 0.5] {
            let (rate, again) = rate(part, late_us * US);
            println!("{part} of the packets {late_us} us late: {rate:.3}, {again:.4} sent again");
            assert!(rate >= 0.9 && again < 0.05, "{part} {late_us} us late: {rate} {again}");
        }
    }
}

/// What is lost is sent again, whether packets are late or not.
#[test]
fn losses_are_found_among_late_packets() {
    let mut net = Net::single(1.0, 100 * US, MS, 1);
    net.links[0][0].late = Some(Late { part: 0.1, by: 50 * US });
    net.send(0, 64);
    net.pass(100 * MS);
    let rate = net.rate(0, 300 * MS);
    let dropped = net.links[0][0].dropped;
    println!("{rate:.3} with {dropped} packets lost");
    assert!(dropped > 0 && rate >= 0.9, "{rate}, {dropped} packets lost");
}
