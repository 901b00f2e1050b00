//! Messages as fluid flows: each has the max-min fair part of every shared resource on its way.
//!
//! A flow waits for its latency, then runs at a rate that changes only when a flow that it can feel
//! (through shared resources, however many steps away) comes or goes. All changes of one instant
//! are settled together, and only for the flows that they reach; the bytes of a flow are brought
//! up to date only when its rate changes.
//!
//! Begin with [`Flows`], then `share.rs`, then `table.rs`.

mod queue;
mod share;
mod table;

use crate::carrier::{Carrier, MessageId};
use crate::network::{Resource, ResourceId, Route};
use queue::{Queue, Slot};
use share::Sharing;
use table::{Flow, Table};

/// Times that differ by so small a part are one instant: the same sums in another order differ by
/// rounding alone, and what should happen together must be settled together.
const SAME_INSTANT: f64 = 1.0 + 1e-13;

/// How flows part a link that is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Everybody has the same.
    #[default]
    Equal,
    /// In inverse proportion to the latency of their ways, as connections of TCP tend to and as
    /// SimGrid's model CM02 has it; without latency, as with one of a second.
    ByLatency,
}

/// The fluid engine.
#[derive(Debug, Default)]
pub struct Flows {
    table: Table,
    /// For each resource whether it is shared; the rate alone counts where it is not.
    shared: Vec<bool>,
    fairness: Fairness,
    queue: Queue,
    sharing: Sharing,
    /// Links on which a flow came or went since the last settlement.
    changed: Vec<ResourceId>,
    started: u64,
}

impl Flows {
    /// No flow yet, on these resources, whose rates must be positive; all flows are equal.
    pub fn new(resources: &[Resource]) -> Flows {
        Flows::with(resources, Fairness::Equal)
    }

    pub fn with(resources: &[Resource], fairness: Fairness) -> Flows {
        let table = Table::new(resources.iter().map(|resource| resource.rate));
        // What has no end cannot be shared out, and need not be.
        let shared = resources.iter().map(|r| r.shared && r.rate.is_finite()).collect();
        Flows { table, shared, fairness, ..Flows::default() }
    }

    /// Flows started so far.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// How many times a flow's share was worked out: the cost of a run, the same on any machine.
    pub fn shares(&self) -> u64 {
        self.sharing.worked
    }

    /// The rate of every flow on shared resources, as of the last settlement ([`Carrier::next`]),
    /// in no particular order.
    pub fn rates(&self) -> impl Iterator<Item = (MessageId, f64)> {
        let first = |link: ResourceId, slot: Slot| self.table.hops(slot)[0].link == link;
        self.table.links.iter().enumerate().flat_map(move |(number, link)| {
            let own = link.flows.iter().filter(move |on| first(number as ResourceId, on.flow));
            own.map(|on| &self.table.flows[on.flow as usize]).map(|flow| (flow.message, flow.rate))
        })
    }

    /// The latency is over: the flow joins its links.
    fn flow(&mut self, now: f64, slot: Slot) {
        let flow = &mut self.table.flows[slot as usize];
        flow.flowing = true;
        flow.since = now;
        if flow.hops > 0 && flow.bytes > 0.0 {
            return self.table.join(slot, &mut self.changed);
        }
        // Nobody shares anything with it; an empty message takes no time whatever its rate.
        flow.hops = 0;
        flow.rate = flow.most;
        self.queue.set(slot, now + flow.bytes / flow.rate, flow.order);
    }

    /// Works out the rates of all flows that the changes since the last time can reach.
    fn settle(&mut self, now: f64) {
        let first = self.sharing.begin();
        while let Some(link) = self.changed.pop() {
            if !self.sharing.gather(&mut self.table, link, first) {
                continue;
            }
            self.sharing.share_out(&mut self.table);
            for &slot in &self.sharing.flows {
                let flow = &mut self.table.flows[slot as usize];
                if flow.share == flow.rate {
                    continue;
                }
                flow.left = (flow.left - flow.rate * (now - flow.since)).max(0.0);
                flow.since = now;
                flow.rate = flow.share;
                self.queue.set(slot, now + flow.left / flow.rate, flow.order);
            }
        }
    }
}

impl Carrier for Flows {
    fn start(&mut self, now: f64, message: MessageId, bytes: u64, route: &Route) {
        self.started += 1;
        let (links, shared) = (&self.table.links, &self.shared);
        let alone = route.resources.iter().filter(|&&r| !shared[r as usize]);
        let most = alone.map(|&r| links[r as usize].rate).fold(route.most, f64::min);
        let (order, bytes) = (self.started, bytes as f64);
        let weight = match self.fairness {
            Fairness::ByLatency if route.latency > 0.0 => 1.0 / route.latency,
            _ => 1.0,
        };
        let flow = Flow { message, order, bytes, left: bytes, most, weight, ..Flow::default() };
        let hops = route.resources.iter().copied().filter(|&r| shared[r as usize]);
        let slot = self.table.insert(flow, hops);
        if route.latency > 0.0 {
            self.queue.set(slot, now + route.latency, order);
        } else {
            self.flow(now, slot);
        }
    }

    fn next(&mut self, now: f64) -> Option<f64> {
        if !self.changed.is_empty() {
            self.settle(now);
        }
        self.queue.first().map(|(time, _)| time.max(now))
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        while let Some((time, slot)) = self.queue.first() {
            if time > now * SAME_INSTANT {
                return;
            }
            self.queue.pop();
            let flow = &self.table.flows[slot as usize];
            if !flow.flowing {
                self.flow(now, slot);
                continue;
            }
            messages.push(flow.message);
            self.table.leave(slot, &mut self.changed);
        }
    }
}
