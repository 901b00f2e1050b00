//! The life of a message: it is made ready, meets its receive, departs, travels, arrives, and is
//! received.

use super::connection::{Connection, Joined};
use super::matching::{Envelope, Label, Message};
use super::{BACKGROUND, Cluster, Delivery, Event, Over};
use crate::carrier::{Carrier, MessageId};
use crate::error::SimError;
use crate::network::HostId;

impl<C: Carrier> Cluster<'_, C> {
    pub(super) fn message(&mut self, id: MessageId) -> &mut Message {
        &mut self.matching.messages[id as usize]
    }

    pub(super) fn is_eager(&self, id: MessageId) -> bool {
        self.matching.messages[id as usize].bytes <= self.eager_bytes
    }

    pub(super) fn hosts_of(&self, id: MessageId) -> (HostId, HostId) {
        let Envelope { from, to, .. } = self.matching.messages[id as usize].envelope;
        (self.hosts[from as usize], self.hosts[to as usize])
    }

    /// Which connection a message is for.
    pub(super) fn connection(&self, id: MessageId) -> Connection {
        let (from, to) = self.hosts_of(id);
        let label = self.matching.messages[id as usize].envelope.label;
        let number = (label % Label::from(self.network.connections())) as u32;
        Connection { from, to, number }
    }

    pub(super) fn is_within_a_host(&self, id: MessageId) -> bool {
        let (from, to) = self.hosts_of(id);
        from == to
    }

    /// The sender's part is done: the message leaves as soon as it may.
    pub(super) fn ready(&mut self, id: MessageId) -> Result<(), SimError> {
        self.message(id).ready = true;
        // A long message announces itself; a short one is seen when it is there.
        if !self.is_eager(id) {
            self.see(id)?;
        }
        self.depart(id)
    }

    pub(super) fn end_eager_send(&mut self, id: MessageId) {
        let message = &self.matching.messages[id as usize];
        if let (true, Some(slot)) = (self.is_eager(id), message.send) {
            self.over.push(Over::ended(message.envelope.from, slot));
        }
    }

    /// The receiver can see the message from now on: receives that wait for anything may take it.
    pub(super) fn see(&mut self, id: MessageId) -> Result<(), SimError> {
        let message = self.message(id);
        if message.recv.is_some() {
            return Ok(());
        }
        let to = message.envelope.to;
        self.sights.push(to);
        let mut met = std::mem::take(&mut self.met);
        self.matching.see(id, &mut met);
        for id in met.drain(..) {
            self.meet(id)?;
        }
        self.met = met;
        Ok(())
    }

    pub(super) fn post(&mut self, id: MessageId) -> Result<(), SimError> {
        self.message(id).posted = true;
        self.meet(id)
    }

    /// A receive has begun: a message that is there is received, one that waits for it leaves.
    pub(super) fn meet(&mut self, id: MessageId) -> Result<(), SimError> {
        match self.message(id).arrived {
            true => self.receive(id),
            false => return self.depart(id),
        }
        Ok(())
    }

    /// Sends the message on its way, if it may leave now.
    pub(super) fn depart(&mut self, id: MessageId) -> Result<(), SimError> {
        let (eager, now) = (self.is_eager(id), self.now);
        let message = self.message(id);
        if !message.ready || message.departed || !(eager || message.posted) {
            return Ok(());
        }
        message.departed = true;
        message.left = now;
        let bytes = message.bytes;
        self.carried.bytes = self.carried.bytes.saturating_add(bytes);
        let hosts = self.hosts_of(id);
        if hosts.0 == hosts.1 {
            return self.arrive(id);
        }
        self.carried.flows += 1;
        self.under_way += 1;
        let on = self.connection(id);
        if let Some(connections) = &mut self.connections {
            let Joined { left, held, first } =
                connections.join(now, on, id, eager.then_some(bytes));
            let message = self.message(id);
            (message.left, message.held) = (left, held);
            if !first {
                return Ok(());
            }
        }
        self.launch(id)
    }

    /// Puts a message on the network.
    pub(super) fn launch(&mut self, id: MessageId) -> Result<(), SimError> {
        let (from, to) = self.hosts_of(id);
        self.find_route(from, to)?;
        let header = self.header_bytes;
        let message = self.message(id);
        message.moving = true;
        let (left, bytes) = (message.left, message.bytes.saturating_add(header));
        if let Some(rest) = &mut self.rest {
            rest.launch(self.now, bytes, &self.route, self.network.resources())?;
        }
        self.carrier.start(self.now, left, id, bytes, &self.route);
        Ok(())
    }

    pub(super) fn find_route(&mut self, from: HostId, to: HostId) -> Result<(), SimError> {
        let route = &mut self.route;
        route.resources.clear();
        (route.latency, route.most) = (0.0, f64::INFINITY);
        self.network.route(from, to, route);
        let resources = self.network.resources().len();
        let why = if route.resources.iter().any(|&resource| resource as usize >= resources) {
            "uses a resource that does not exist"
        } else if !route.latency.is_finite() || route.latency < 0.0 {
            "has an invalid latency"
        } else if route.most.is_nan() || route.most <= 0.0 {
            "has no rate"
        } else {
            return Ok(());
        };
        Err(SimError::Network { what: format!("the path from host {from} to {to} {why}") })
    }

    /// The last byte has crossed the network.
    pub(super) fn land(&mut self, id: MessageId) -> Result<(), SimError> {
        let message = self.message(id);
        message.moving = false;
        if message.envelope.to == BACKGROUND {
            self.matching.remove(id);
            return Ok(());
        }
        self.under_way -= 1;
        let on = self.connection(id);
        if let Some(next) = self.connections.as_mut().and_then(|all| all.arrived(on)) {
            self.launch(next)?;
        }
        self.arrive(id)
    }

    pub(super) fn arrive(&mut self, id: MessageId) -> Result<(), SimError> {
        let eager = self.is_eager(id);
        let message = self.message(id);
        message.arrived = true;
        let (from, send, posted) = (message.envelope.from, message.send, message.posted);
        if let (false, Some(slot)) = (eager, send) {
            self.over.push(Over { sent: Some(id), ..Over::ended(from, slot) });
        }
        if posted {
            self.receive(id);
            return Ok(());
        }
        self.see(id)
    }

    /// Both ends are there: the receiver's processor takes the message in.
    pub(super) fn receive(&mut self, id: MessageId) {
        let (from, to) = self.hosts_of(id);
        if from == to {
            return self.complete(id);
        }
        let bytes = self.message(id).bytes;
        let cost = self.cost_of(to, bytes);
        let end = self.work(to, self.now, cost.per_recv + bytes as f64 * cost.per_byte_received);
        if end > self.now { self.later(end, Event::Recv(id)) } else { self.complete(id) }
    }

    pub(super) fn complete(&mut self, id: MessageId) {
        let message = *self.message(id);
        let Envelope { from, to, .. } = message.envelope;
        if let (true, Some(connections)) = (message.held, &mut self.connections) {
            connections.received(self.hosts[to as usize], message.bytes);
        }
        if let Some(slot) = message.recv {
            self.over.push(Over { received: Some(id), ..Over::ended(to, slot) });
        }
        if let Some(observer) = &mut self.observer {
            let (bytes, start, end) = (message.bytes, message.start, self.now);
            observer.delivered(&Delivery { from, to, bytes, start, end });
        }
    }
}
