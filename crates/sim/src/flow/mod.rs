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
use crate::instant::{after, between};
use crate::network::{Fairness, Resource, ResourceId, Route};
use queue::Queue;
use share::Sharing;
use table::{Flow, Link, Table};

/// Times that differ by so small a part are one instant: the same sums in another order differ by
/// rounding alone, and what should happen together must be settled together.
const SAME_INSTANT: f64 = 1.0 + 1e-13;

/// The rate of a flow that has just come: no share is equal to it, also where it has to stand.
const UNSETTLED: f64 = -1.0;

/// The fluid engine.
#[derive(Debug, Default)]
pub struct Flows {
    table: Table,
    fairness: Fairness,
    queue: Queue,
    sharing: Sharing,
    /// Links on which a flow came or went that others feel, and flows that came or have another
    /// limit, since the last settlement.
    changed: Vec<ResourceId>,
    unsettled: Vec<MessageId>,
    started: u64,
    /// The part of its length by which a transfer may end early, and of its latency.
    early: f64,
}

impl Flows {
    /// No flow yet, on these resources, whose rates must be positive; all flows are equal.
    pub fn new(resources: &[Resource]) -> Flows {
        Flows::with(resources, Fairness::Equal)
    }

    /// No flow yet, on these resources, whose rates must be positive, with another fairness.
    pub fn with(resources: &[Resource], fairness: Fairness) -> Flows {
        // What has no end cannot be shared out, and need not be.
        let shared = |r: &Resource| r.shared && r.rate.is_finite();
        let link = |r: &Resource| Link {
            rate: r.rate,
            shared: shared(r),
            congestion: r.congestion.clone(),
            ..Link::default()
        };
        let table = Table::new(resources.iter().map(link).collect());
        Flows { table, fairness, ..Flows::default() }
    }

    /// Events that are near each other happen together: see
    /// [`Simulation::coarse`](crate::Simulation::coarse).
    pub fn coarse(mut self, part: f64) -> Flows {
        self.early = part;
        self
    }

    /// Whether what a flow waits for may happen with what happens now.
    fn is_near(&self, now: f64, time: f64, message: MessageId) -> bool {
        let flow = &self.table.flows[message as usize];
        let (rest, whole) = match flow.flowing {
            true => ((time - now) * flow.rate, flow.bytes),
            false => (time - now, time - flow.since),
        };
        time <= now * SAME_INSTANT || rest < self.early * whole
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
    /// by message.
    pub fn rates(&self) -> impl Iterator<Item = (MessageId, f64)> {
        let flows = self.table.flows.iter().enumerate();
        let sharing = flows.filter(|(_, flow)| flow.active && flow.flowing && flow.hops > 0);
        sharing.map(|(message, flow)| (message as MessageId, flow.rate))
    }

    /// The latency is over: the flow joins its links.
    fn flow(&mut self, now: f64, message: MessageId) {
        let flow = &mut self.table.flows[message as usize];
        flow.flowing = true;
        flow.since = now;
        if flow.hops > 0 && flow.bytes > 0.0 {
            self.unsettled.push(message);
            return self.table.join(message, &mut self.changed);
        }
        // It shares no link; an empty message takes no time whatever its rate.
        flow.hops = 0;
        let most = flow.most;
        self.run_at(now, message, most);
    }

    /// From now on the flow runs at this rate.
    fn run_at(&mut self, now: f64, message: MessageId, rate: f64) {
        let flow = &mut self.table.flows[message as usize];
        flow.left = (flow.left - flow.rate * between(flow.since, now)).max(0.0);
        flow.since = now;
        flow.rate = rate;
        let end = if flow.left > 0.0 { after(now, flow.left / rate) } else { now };
        self.queue.set(message, end, flow.order);
    }

    /// Ends the flow.
    fn end(&mut self, message: MessageId) {
        let flow = &mut self.table.flows[message as usize];
        if !flow.flowing {
            flow.hops = 0;
        }
        self.table.leave(message, &mut self.changed);
    }

    /// Works out the rates of all flows that the changes since the last time can reach.
    fn settle(&mut self, now: f64) {
        let first = self.sharing.begin();
        while let Some(link) = self.changed.pop() {
            if self.sharing.gather(&mut self.table, link, first) {
                self.share_out(now);
            }
        }
        while let Some(message) = self.unsettled.pop() {
            if self.sharing.gather_flow(&mut self.table, message, first) {
                self.share_out(now);
            }
        }
    }

    /// Gives the flows of a component their shares.
    fn share_out(&mut self, now: f64) {
        self.sharing.share_out(&mut self.table);
        let flows = std::mem::take(&mut self.sharing.flows);
        for &message in &flows {
            let flow = &self.table.flows[message as usize];
            if flow.share != flow.rate {
                self.run_at(now, message, flow.share);
            }
        }
        self.sharing.flows = flows;
    }
}

impl Carrier for Flows {
    fn start(&mut self, now: f64, left: f64, message: MessageId, bytes: u64, route: &Route) {
        self.started += 1;
        let (order, bytes, limit) = (self.started, bytes as f64, route.most);
        let weight = match self.fairness {
            Fairness::ByLatency if route.latency > 0.0 => 1.0 / route.latency,
            _ => 1.0,
        };
        let rate = UNSETTLED;
        let since = left;
        let flow =
            Flow { order, bytes, left: bytes, since, rate, limit, weight, ..Flow::default() };
        self.table.insert(message, flow, &route.resources);
        let begins = after(left, route.latency);
        if begins > now {
            self.queue.set(message, begins, order);
        } else {
            self.flow(now, message);
        }
    }

    fn stop(&mut self, _now: f64, message: MessageId) {
        self.queue.remove(message);
        self.end(message);
    }

    fn set_rate(&mut self, now: f64, resource: ResourceId, rate: f64) {
        let link = &mut self.table.links[resource as usize];
        link.rate = rate;
        if link.shared {
            link.note(resource, &mut self.changed);
            for message in 0..self.table.flows.len() as MessageId {
                if self.table.shares(message, resource) {
                    self.table.recap(message, &mut self.changed);
                }
            }
            return;
        }
        for message in 0..self.table.flows.len() as MessageId {
            if self.table.pipes_through(message, resource) {
                let most = self.table.most(message);
                self.table.flows[message as usize].most = most;
                match self.table.flows[message as usize] {
                    Flow { flowing: false, .. } => self.table.recap(message, &mut self.changed),
                    Flow { hops: 0, .. } => self.run_at(now, message, most),
                    _ => {
                        self.table.recap(message, &mut self.changed);
                        self.unsettled.push(message);
                    }
                }
            }
        }
    }

    fn next(&mut self, now: f64) -> Option<f64> {
        if !self.changed.is_empty() || !self.unsettled.is_empty() {
            self.settle(now);
        }
        self.queue.first().map(|(time, _)| time.max(now)).filter(|time| time.is_finite())
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        while let Some((time, message)) = self.queue.first() {
            if !self.is_near(now, time, message) {
                return;
            }
            self.queue.pop();
            if self.table.flows[message as usize].flowing {
                messages.push(message);
                self.end(message);
            } else {
                self.flow(now, message);
            }
        }
    }

    fn stands(&self, message: MessageId) -> bool {
        let flow = &self.table.flows[message as usize];
        flow.active && flow.flowing && flow.rate == 0.0 && flow.left > 0.0
    }

    fn load(&self, resource: ResourceId) -> f64 {
        let link = &self.table.links[resource as usize];
        match link.shared {
            true => link.flows.iter().map(|on| self.table.flows[on.flow as usize].rate).sum(),
            false => self.table.piped(resource),
        }
    }

    fn work(&self) -> u64 {
        self.sharing.worked
    }
}
