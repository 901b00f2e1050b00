//! What carries messages between hosts: the seam between a running schedule and an engine.

use crate::network::{ResourceId, Route};

/// The name of a message in progress; small numbers that are reused.
pub type MessageId = u32;

/// An engine in virtual time. [`Flows`](crate::flow::Flows) shares resources as a fluid does; one
/// that moves packets fits the same seam. `now` never goes back from call to call.
pub trait Carrier {
    /// Starts a message on the network. The route's latency is the engine's to wait for, from
    /// `left` on: now, or before where the message waited behind another, or later where it was
    /// lost and leaves once more.
    fn start(&mut self, now: f64, left: f64, message: MessageId, bytes: u64, route: &Route);

    /// Removes a message from the network: it does not arrive.
    fn stop(&mut self, now: f64, message: MessageId);

    /// Sets a resource's rate in bytes a second from now on; `None` if it is dead.
    fn set_rate(&mut self, now: f64, resource: ResourceId, rate: f64);

    /// The time of the next event, provided that nothing else starts before.
    fn next(&mut self, now: f64) -> Option<f64>;

    /// Goes on to `now` and appends the messages whose last byte has arrived, in order.
    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>);

    /// Whether a message under way cannot move, as of the last [`Carrier::next`].
    fn stands(&self, message: MessageId) -> bool;

    /// The bytes a second that a resource carries, as of the last [`Carrier::next`].
    fn load(&self, resource: ResourceId) -> f64;

    /// The work done so far, in units that are equal on any machine; 0 if it is not counted.
    fn work(&self) -> u64 {
        0
    }
}

impl<C: Carrier + ?Sized> Carrier for &mut C {
    fn start(&mut self, now: f64, left: f64, message: MessageId, bytes: u64, route: &Route) {
        (**self).start(now, left, message, bytes, route);
    }

    fn stop(&mut self, now: f64, message: MessageId) {
        (**self).stop(now, message);
    }

    fn set_rate(&mut self, now: f64, resource: ResourceId, rate: f64) {
        (**self).set_rate(now, resource, rate);
    }

    fn next(&mut self, now: f64) -> Option<f64> {
        (**self).next(now)
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        (**self).arrived(now, messages);
    }

    fn stands(&self, message: MessageId) -> bool {
        (**self).stands(message)
    }

    fn load(&self, resource: ResourceId) -> f64 {
        (**self).load(resource)
    }

    fn work(&self) -> u64 {
        (**self).work()
    }
}
