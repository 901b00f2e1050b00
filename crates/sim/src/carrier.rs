//! What carries messages between hosts: the seam between a running schedule and an engine.

use crate::network::Route;

/// Names a message under way; small numbers that are used again.
pub type MessageId = u32;

/// An engine in virtual time. [`Flows`](crate::flow::Flows) shares resources as a fluid does; one
/// that moves packets fits the same seam. Times never go back from call to call.
pub trait Carrier {
    /// A message leaves its sender; the route's latency is the engine's to wait for.
    fn start(&mut self, now: f64, message: MessageId, bytes: u64, route: &Route);

    /// When something happens next, provided that nothing else starts before.
    fn next(&mut self, now: f64) -> Option<f64>;

    /// Goes on to `now` and appends the messages whose last byte has arrived, in order.
    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>);
}
