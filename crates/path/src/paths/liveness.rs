//! Signs of life of a path, in both directions.
//!
//! Packets that arrive show that the path works towards this end; reports of the peer about packets
//! sent from here show that it works towards the peer. Only both together prove that it is alive. A
//! path may pass short packets only; that it carries the longest ones is proved by these.

use crate::Nanos;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    /// When the latest packet arrived over the path.
    arrived_at: Option<Nanos>,
    /// The same over another connection, whose word was taken.
    vouched_at: Option<Nanos>,
    /// When the latest packet left that is known to have arrived at the peer.
    confirmed_sent_at: Option<Nanos>,
    /// When the peer last reported the arrival of any packet.
    reported_at: Option<Nanos>,
    /// When the latest packet of full length left that is known to have arrived at the peer.
    carried_sent_at: Option<Nanos>,
    /// When the peer last reported the arrival of such a packet.
    carried_at: Option<Nanos>,
}

impl Liveness {
    /// A packet arrived over the path.
    pub fn on_arrival(&mut self, now: Nanos) {
        self.arrived_at = Some(now);
    }

    /// The peer reports that a packet has arrived there.
    pub fn on_report(&mut self, now: Nanos) {
        self.reported_at = Some(now);
    }

    /// A packet that left at this time has arrived at the peer.
    pub fn on_confirmed(&mut self, sent_at: Nanos) {
        self.confirmed_sent_at = Some(sent_at);
    }

    /// A packet of full length that left at this time has arrived at the peer.
    pub fn on_carried(&mut self, now: Nanos, sent_at: Nanos) {
        self.carried_at = self.carried_at.max(Some(now));
        self.carried_sent_at = self.carried_sent_at.max(Some(sent_at));
    }

    /// Takes what another connection has seen of the path.
    pub fn take_word(&mut self, other: &Liveness) {
        self.vouched_at = self.vouched_at.max(other.arrived_at);
        self.confirmed_sent_at = self.confirmed_sent_at.max(other.confirmed_sent_at);
        self.reported_at = self.reported_at.max(other.reported_at);
        self.carried_sent_at = self.carried_sent_at.max(other.carried_sent_at);
        self.carried_at = self.carried_at.max(other.carried_at);
    }

    fn came_at(&self) -> Option<Nanos> {
        self.arrived_at.max(self.vouched_at)
    }

    /// When the latest packet left that has proved that the path works in both directions, and the
    /// latest one of full length.
    pub fn proved_at(&self) -> [Option<Nanos>; 2] {
        let [alive, carried] = [self.confirmed_sent_at, self.carried_sent_at];
        [alive, carried].map(|at| at.filter(|at| self.came_at() >= Some(*at)))
    }

    /// When the latest packet of this connection arrived.
    pub fn arrived_at(&self) -> Option<Nanos> {
        self.arrived_at
    }

    /// Whether packets went through in both directions since then.
    pub fn is_alive_since(&self, then: Nanos) -> bool {
        self.came_at() >= Some(then) && self.confirmed_sent_at >= Some(then)
    }

    /// The same for packets of full length towards the peer.
    pub fn carries_since(&self, then: Nanos) -> bool {
        self.came_at() >= Some(then) && self.carried_sent_at >= Some(then)
    }

    /// When the path last proved that it carries packets of full length.
    pub fn last_carried(&self) -> Option<Nanos> {
        self.came_at().min(self.carried_at)
    }

    /// When the path last showed a sign of life in both directions; this proves nothing about
    /// packets that left later.
    pub fn last_sign(&self) -> Option<Nanos> {
        self.came_at().min(self.reported_at)
    }
}
