//! Many senders into one port.

use super::flow::{Flow, PACKET_BYTES};
use super::link::Link;
use super::net::{MS, Net, US};

const SENDERS: usize = 512;
/// The port of a switch with a megabyte for its queue.
const QUEUE: u64 = 8 * MS;

struct Shared {
    /// The part of the rate at which messages arrive.
    goodput: f64,
    /// Of the sender with the least, as a part of an even share.
    least: f64,
    /// The longest wait in the queue.
    longest_wait: u64,
}

fn share(marks_above: Option<u64>) -> Shared {
    let mut port = Link::new(1.0, 50 * US, QUEUE);
    port.marks_above = marks_above;
    let back = Link::new(100.0, 50 * US, 100 * MS);
    let flows = (0..SENDERS as u32).map(|k| Flow::numbered(k, 1, PACKET_BYTES)).collect();
    let mut net = Net::new(vec![[port, back]], flows);
    net.pass(MS);
    // Each has sent before, when it was alone.
    for flow in 0..SENDERS {
        net.flows[flow].goes_on = false;
        net.send(flow, 1);
        net.pass(MS);
        net.flows[flow].goes_on = true;
    }
    (0..SENDERS).for_each(|flow| net.send(flow, 64));
    net.pass(1000 * MS);
    net.links[0][0].longest_wait = 0;
    let before: Vec<u64> = net.flows.iter().map(|flow| flow.received_bytes).collect();
    let time = 2000 * MS;
    net.pass(time);
    let bytes = net.flows.iter().zip(before).map(|(flow, before)| flow.received_bytes - before);
    let bytes: Vec<u64> = bytes.collect();
    let sum: u64 = bytes.iter().sum();
    let least = bytes.iter().min().copied().unwrap_or(0);
    Shared {
        goodput: sum as f64 * 8.0 / time as f64,
        least: least as f64 / (sum as f64 / SENDERS as f64),
        longest_wait: net.links[0][0].longest_wait,
    }
}

fn measure(marks_above: Option<u64>) -> Shared {
    let shared = share(marks_above);
    let (goodput, least) = (shared.goodput, shared.least);
    let wait_us = shared.longest_wait / US;
    println!("marks above {marks_above:?}: {goodput:.3}, least {least:.3}, {wait_us} us of queue");
    assert!(goodput >= 0.9, "{goodput}");
    shared
}

/// What does not fit is dropped, and nothing else says that there are many.
#[test]
fn many_senders_share_a_port() {
    let Shared { least, .. } = measure(None);
    assert!(least >= 0.25, "{least}");
}

#[test]
fn many_senders_share_a_port_that_marks() {
    let Shared { least, longest_wait, .. } = measure(Some(500 * US));
    assert!(least >= 0.25, "{least}");
    assert!(longest_wait <= 3 * MS, "{} us", longest_wait / US);
}
