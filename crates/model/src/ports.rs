//! Messages through one port each way: what Hockney, LogGP and PLogP have in place of shared cards.
//!
//! A message takes its sender's port, then the latency, then its receiver's port. A port serves one
//! message after another, in the order of their coming.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use laneway_sim::{Carrier, HostId, MessageId, ResourceId, Route};

/// Times that differ by so small a part are one instant.
const SAME_INSTANT: f64 = 1.0 + 1e-13;

/// What a message takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// Until its sender's port is free again.
    pub out: f64,
    /// Between the ports.
    pub latency: f64,
    /// From the beginning at the receiver's port until it has arrived.
    pub transfer: f64,
    /// Until the receiver's port is free again.
    pub into: f64,
}

/// The passage of a message from one host to another, by its length.
pub(crate) type Passages<'m> = dyn Fn(HostId, HostId, u64) -> Passage + 'm;

/// A message under way.
struct Moving {
    to: usize,
    passage: Passage,
    /// It has begun at its receiver's port.
    landing: bool,
}

pub(crate) struct Ports<'m> {
    passages: &'m Passages<'m>,
    hosts: u32,
    /// Until when the ports are taken.
    out: Vec<f64>,
    into: Vec<f64>,
    moving: BTreeMap<MessageId, Moving>,
    /// By time, then in the order of their coming; times are not negative, so that they order as
    /// their bits do.
    events: BinaryHeap<Reverse<(u64, u64, MessageId)>>,
    order: u64,
}

impl<'m> Ports<'m> {
    pub fn new(hosts: u32, passages: &'m Passages<'m>) -> Ports<'m> {
        let free = vec![0.0; hosts as usize];
        let (moving, events) = (BTreeMap::new(), BinaryHeap::new());
        Ports { passages, hosts, out: free.clone(), into: free, moving, events, order: 0 }
    }

    fn later(&mut self, at: f64, message: MessageId) {
        self.order += 1;
        self.events.push(Reverse((at.to_bits(), self.order, message)));
    }
}

impl Carrier for Ports<'_> {
    fn start(&mut self, _now: f64, left: f64, message: MessageId, bytes: u64, route: &Route) {
        // A route of these models is the sender's port and the receiver's.
        let [from, into] = [0, 1].map(|at| route.resources.get(at).copied().unwrap_or(0));
        let to = into.saturating_sub(self.hosts);
        let passage = (self.passages)(from, to, bytes);
        let begins = left.max(self.out[from as usize]);
        self.out[from as usize] = begins + passage.out;
        self.moving.insert(message, Moving { to: to as usize, passage, landing: false });
        self.later(begins + passage.latency, message);
    }

    fn stop(&mut self, _now: f64, message: MessageId) {
        self.moving.remove(&message);
        self.events.retain(|Reverse((_, _, other))| *other != message);
    }

    fn set_rate(&mut self, _now: f64, _resource: ResourceId, _rate: f64) {}

    fn next(&mut self, now: f64) -> Option<f64> {
        self.events.peek().map(|Reverse((bits, ..))| f64::from_bits(*bits).max(now))
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        while let Some(&Reverse((bits, _, message))) = self.events.peek() {
            let time = f64::from_bits(bits);
            if time > now * SAME_INSTANT {
                return;
            }
            self.events.pop();
            let Some(moving) = self.moving.get_mut(&message) else { continue };
            if std::mem::replace(&mut moving.landing, true) {
                self.moving.remove(&message);
                messages.push(message);
                continue;
            }
            let Passage { transfer, into, .. } = moving.passage;
            let port = &mut self.into[moving.to];
            let begins = time.max(*port);
            *port = begins + into;
            self.later(begins + transfer, message);
        }
    }

    fn stands(&self, _message: MessageId) -> bool {
        false
    }

    fn load(&self, _resource: ResourceId) -> f64 {
        0.0
    }
}
