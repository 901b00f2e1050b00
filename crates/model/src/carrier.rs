//! Fluid flows whose latency and rate follow the size of their message.

use laneway_sim::{Carrier, Flows, MessageId, ResourceId, Route};

use crate::lmo::{SizeFactor, at_size};

/// The simulator's flows, with the ways that the factors say.
pub(crate) struct BySize<'f> {
    pub flows: Flows,
    pub factors: &'f [SizeFactor],
    pub route: Route,
}

impl Carrier for BySize<'_> {
    fn start(&mut self, now: f64, left: f64, message: MessageId, bytes: u64, route: &Route) {
        let SizeFactor { latency, per_byte, .. } = at_size(self.factors, bytes);
        self.route.resources.clone_from(&route.resources);
        self.route.latency = latency * route.latency;
        self.route.most = route.most;
        // What makes bytes slower takes from cards as well, as more bytes would.
        let bytes = (bytes as f64 * per_byte).round() as u64;
        self.flows.start(now, left, message, bytes, &self.route);
    }

    fn stop(&mut self, now: f64, message: MessageId) {
        self.flows.stop(now, message);
    }

    fn set_rate(&mut self, now: f64, resource: ResourceId, rate: f64) {
        self.flows.set_rate(now, resource, rate);
    }

    fn next(&mut self, now: f64) -> Option<f64> {
        self.flows.next(now)
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        self.flows.arrived(now, messages);
    }

    fn stands(&self, message: MessageId) -> bool {
        self.flows.stands(message)
    }

    fn load(&self, resource: ResourceId) -> f64 {
        self.flows.load(resource)
    }
}
