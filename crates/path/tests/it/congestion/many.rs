//! Many senders into one port.

use laneway_needs::{amount, some_of};
use laneway_stats::SplitMix64;

use super::flow::{Flow, PACKET_BYTES};
use super::link::{Late, Link};
use super::net::{MS, Net, US};

/// The time that is measured, and the time before it, which begins with the first sender.
const MEASURED: u64 = 2000 * MS;
const BEFORE: u64 = 1000 * MS;

struct Case {
    senders: usize,
    /// The longest queue of the port.
    queue_ms: u64,
    marks_above: Option<u64>,
    seed: u64,
}

struct Shared {
    /// The part of the rate at which messages arrive.
    goodput: f64,
    /// Of the sender with the least, as a part of an even share.
    least: f64,
    /// The longest wait in the queue.
    longest_wait: u64,
}

impl Case {
    /// When each sender begins: all at once with the first two seeds, else within 0.2 s.
    fn beginnings(&self) -> Vec<(u64, usize)> {
        let mut random = SplitMix64::new(self.seed);
        let within = if self.seed < 2 { 0.0 } else { (200 * MS) as f64 };
        let at = (0..self.senders).map(|flow| ((random.uniform() * within) as u64, flow));
        let mut all: Vec<(u64, usize)> = at.collect();
        all.sort_unstable();
        all
    }

    /// Senders that have each sent before, when they were alone.
    fn net(&self) -> Net {
        let mut port = Link::new(1.0, 50 * US, self.queue_ms * MS);
        port.marks_above = self.marks_above;
        let mut back = Link::new(100.0, 50 * US, 100 * MS);
        // With every other seed hosts take a while to look at a packet.
        back.late = (self.seed % 2 == 1).then_some(Late { part: 1.0, by: 20 * US });
        let message = PACKET_BYTES * (2048 / self.senders).min(16);
        let first = 10_000 * self.seed as u32;
        let flows = (0..self.senders as u32).map(|k| Flow::numbered(first + k, 1, message));
        let mut net = Net::new(vec![[port, back]], flows.collect());
        net.pass(MS);
        for flow in 0..self.senders {
            net.flows[flow].goes_on = false;
            net.send(flow, 1);
            net.pass(300 * US);
            net.flows[flow].goes_on = true;
        }
        net
    }

    fn share(&self) -> Shared {
        let mut net = self.net();
        let began = net.now;
        for (at, flow) in self.beginnings() {
            net.pass(began + at - net.now);
            net.send(flow, 16);
        }
        net.pass(began + BEFORE - net.now);
        net.links[0][0].longest_wait = 0;
        let before: Vec<u64> = net.flows.iter().map(|flow| flow.received_bytes).collect();
        net.pass(MEASURED);
        let bytes = net.flows.iter().zip(before).map(|(flow, before)| flow.received_bytes - before);
        let bytes: Vec<u64> = bytes.collect();
        let sum: u64 = bytes.iter().sum();
        let least = bytes.iter().min().copied().unwrap_or(0);
        Shared {
            goodput: sum as f64 * 8.0 / MEASURED as f64,
            least: least as f64 / (sum as f64 / self.senders as f64),
            longest_wait: net.links[0][0].longest_wait,
        }
    }

    fn measure(&self) -> Shared {
        let shared = self.share();
        let Case { senders, queue_ms, marks_above, seed } = self;
        let marks = marks_above.map(|above| format!(", marks above {} us", above / US));
        let case =
            format!("{senders} senders, {queue_ms} ms of queue{}", marks.unwrap_or_default());
        let (goodput, least, wait) = (shared.goodput, shared.least, shared.longest_wait / US);
        println!("{case}, seed {seed}: {goodput:.3}, least {least:.3}, {wait} us of queue");
        assert!(shared.goodput >= 0.9, "{}", shared.goodput);
        shared
    }
}

/// What does not fit is dropped, and nothing else says that there are many. Gives the least share.
fn share_a_port(senders: usize) -> f64 {
    let seeds = 0..amount(1, if senders > 512 { 2 } else { 4 });
    let queues = some_of(vec![1, 2, 4, 8, 16]).into_iter();
    let cases = queues.flat_map(|queue_ms| seeds.clone().map(move |seed| (queue_ms, seed)));
    let shares = cases.map(|(queue_ms, seed)| {
        Case { senders, queue_ms, marks_above: None, seed }.measure().least
    });
    shares.fold(1.0, f64::min)
}

#[test]
fn senders_32_share_a_port() {
    let least = share_a_port(32);
    assert!(least >= 0.25, "{least}");
}

#[test]
fn senders_128_share_a_port() {
    let least = share_a_port(128);
    assert!(least >= 0.25, "{least}");
}

#[test]
fn senders_512_share_a_port() {
    let least = share_a_port(512);
    assert!(least >= 0.25, "{least}");
}

/// Each gets some tens of packets in the time that is measured: shares differ by chance.
#[test]
fn senders_2048_use_a_port() {
    share_a_port(2048);
}

#[test]
fn many_senders_share_a_port_that_marks() {
    for senders in amount(vec![512], vec![32, 128, 512, 2048]) {
        for seed in 0..amount(1, 4) {
            let case = Case { senders, queue_ms: 8, marks_above: Some(500 * US), seed };
            let Shared { least, longest_wait, .. } = case.measure();
            if senders <= 512 {
                assert!(least >= 0.25, "{least}");
                assert!(longest_wait <= 3 * MS, "{} us", longest_wait / US);
            }
        }
    }
}
