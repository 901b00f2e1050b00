//! Fluid flows whose latency and rate follow the size of their message.
//!
//! A factor on bytes has one of two meanings. Where a protocol makes some sizes slower, they take
//! from cards as well, as more bytes would. Where others use the cards now and then, a short
//! message that is alone meets none of them, and is faster than its card is in the long run; but
//! messages that meet on a card have what it carries in the long run.

use laneway_sim::{Carrier, Flows, MessageId, Resource, ResourceId, Route};

use crate::lmo::{SizeFactor, at_size};

/// The simulator's flows, with the ways that the factors say.
pub(crate) struct BySize<'f> {
    flows: Flows,
    factors: &'f [SizeFactor],
    route: Route,
    /// The first meaning, or the second.
    on_cards: bool,
    /// Messages on each resource.
    under_way: Vec<u32>,
    /// The two cards of each message.
    cards: Vec<[ResourceId; 2]>,
}

impl<'f> BySize<'f> {
    pub fn new(resources: &[Resource], factors: &'f [SizeFactor], on_cards: bool) -> BySize<'f> {
        let (flows, under_way) = (Flows::new(resources), vec![0; resources.len()]);
        BySize { flows, factors, route: Route::default(), on_cards, under_way, cards: Vec::new() }
    }

    fn meets_none(&mut self, message: MessageId, route: &Route) -> bool {
        let &[out, into, ..] = &route.resources[..] else { return true };
        let cards = [out, into].map(|card| card as usize);
        let alone = cards.iter().all(|&card| self.under_way[card] == 0);
        cards.iter().for_each(|&card| self.under_way[card] += 1);
        let message = message as usize;
        self.cards.resize(self.cards.len().max(message + 1), [0; 2]);
        self.cards[message] = [out, into];
        alone
    }

    fn leave(&mut self, message: MessageId) {
        let Some(cards) = self.cards.get(message as usize) else { return };
        for &card in cards {
            let under_way = &mut self.under_way[card as usize];
            *under_way = under_way.saturating_sub(1);
        }
    }
}

impl Carrier for BySize<'_> {
    fn start(&mut self, now: f64, left: f64, message: MessageId, bytes: u64, route: &Route) {
        // Others have one card, and no protocol.
        if route.resources.len() < 2 {
            return self.flows.start(now, left, message, bytes, route);
        }
        let SizeFactor { latency, per_byte, .. } = at_size(self.factors, bytes);
        self.route.resources.clone_from(&route.resources);
        self.route.latency = latency * route.latency;
        self.route.most = route.most;
        let mut bytes = bytes;
        if self.on_cards || self.meets_none(message, route) {
            bytes = (bytes as f64 * per_byte).round() as u64;
        } else {
            self.route.most /= per_byte;
        }
        self.flows.start(now, left, message, bytes, &self.route);
    }

    fn stop(&mut self, now: f64, message: MessageId) {
        self.leave(message);
        self.flows.stop(now, message);
    }

    fn set_rate(&mut self, now: f64, resource: ResourceId, rate: f64) {
        self.flows.set_rate(now, resource, rate);
    }

    fn next(&mut self, now: f64) -> Option<f64> {
        self.flows.next(now)
    }

    fn arrived(&mut self, now: f64, messages: &mut Vec<MessageId>) {
        let before = messages.len();
        self.flows.arrived(now, messages);
        messages[before..].iter().for_each(|&message| self.leave(message));
    }

    fn stands(&self, message: MessageId) -> bool {
        self.flows.stands(message)
    }

    fn load(&self, resource: ResourceId) -> f64 {
        self.flows.load(resource)
    }
}

#[cfg(test)]
mod tests {
    use laneway_sim::HostCost;

    use super::*;
    use crate::network::{Card, ModelNetwork, Way};
    use crate::probe::{Direction, Fan};

    /// Messages of 1,000 B at half the time of a byte, to a host whose card has 100 B/s as every
    /// way to it has.
    fn seconds(on_cards: bool, senders: u32) -> f64 {
        let free = Card { out: f64::INFINITY, into: f64::INFINITY };
        let cards = [Card { into: 100.0, ..free }, free, free];
        let ways = vec![Way { latency: 0.0, most: 100.0 }; 9];
        let factors = [SizeFactor { bytes: 1000, latency: 1.0, per_byte: 0.5 }];
        let network = ModelNetwork::new(vec![HostCost::default(); 3], &cards, ways, 1 << 20);
        let members = (0..=senders).collect();
        let fan = Fan { ranks: 3, members, bytes: 1000, direction: Direction::In };
        network.by_size(&factors, on_cards).run(&fan).expect("it ends")
    }

    #[test]
    fn messages_that_meet_on_a_card_have_what_it_carries_in_the_long_run() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found}, {expected}")
        };
        near(seconds(true, 1), 5.0);
        near(seconds(false, 1), 5.0);
        near(seconds(true, 2), 10.0);
        // The first of them met no contention.
        near(seconds(false, 2), 15.0);
    }
}
