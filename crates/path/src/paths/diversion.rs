//! Data that goes over the alternate path for a while: before it is certain that the primary one is
//! dead, and as a trial of probes where the primary one loses packets.
//!
//! An end that diverts its data counts it in the header of its packets. The peer then does so too,
//! or an answer would wait as long as its request did, and both find out for themselves whether the
//! primary path is dead.

use super::trial::Lost;
use super::{Paths, Route, Step};
use crate::wire::DIVERSIONS;
use crate::{Nanos, PathId};

/// Diversion.
impl Paths {
    /// The path that data leaves by: the primary one, or the alternate one while it is diverted.
    pub fn in_use(&self) -> PathId {
        let diverted = self.failover().filter(|_| self.diverted);
        diverted.unwrap_or(self.primary)
    }

    /// Whether data was diverted, to whatever path.
    pub fn is_diverted(&self) -> bool {
        self.diverted
    }

    /// Whether data was diverted to a path that cannot carry it any more.
    pub fn has_lost_diversion(&self) -> bool {
        self.diverted && self.in_use() == self.primary
    }

    /// How often this end has diverted its data before the peer did.
    pub fn diversions(&self) -> u8 {
        self.diversions[0]
    }

    /// Counts a diversion that this end has begun.
    pub fn count_diversion(&mut self) {
        self.diversions[0] = (self.diversions[0] + 1) % DIVERSIONS;
    }

    /// Takes the number of diversions that the peer has begun; whether it is news.
    pub fn on_peer_diversions(&mut self, count: u8) -> bool {
        let ahead = count.wrapping_sub(self.diversions[1]) % DIVERSIONS;
        let is_news = (1..DIVERSIONS / 2).contains(&ahead);
        if is_news {
            self.diversions[1] = count;
        }
        is_news
    }

    /// Data goes over the alternate path from now on; false if it did so before, or cannot.
    pub fn divert(&mut self) -> bool {
        let Some(to) = self.failover().filter(|_| !self.diverted) else { return false };
        self.diverted = true;
        self.route(to).flight.restart();
        true
    }

    /// Data goes over the primary path again; false if it did so before.
    pub fn end_diversion(&mut self) -> bool {
        let ends = std::mem::take(&mut self.diverted);
        if ends {
            let primary = self.primary;
            self.route(primary).flight.restart();
        }
        ends
    }
}

/// Trials of both paths, where the primary one loses packets.
impl Paths {
    /// Begins one if the primary path loses too much.
    pub fn consider_trial(&mut self, now: Nanos) {
        let Some(lost) = self.primary_route().loss().sustained() else { return };
        let can_leave = self.failover().is_some() && !self.diverted;
        if can_leave && self.trial.may_begin(now) {
            self.trial.begin(now, lost);
        }
    }

    /// What is to be done for a trial now, with the alternate path.
    pub fn step_trial(&mut self, now: Nanos) -> Option<(Step, PathId)> {
        if self.trial.next_at()? > now {
            return None;
        }
        let lossy = self.primary_route().loss().sustained().is_some() && !self.diverted;
        let Some(path) = self.failover().filter(|_| lossy) else {
            self.trial.stop();
            return None;
        };
        let [primary, alternate] = [self.primary, path].map(|id| &self.routes[usize::from(id.0)]);
        let trip = |route: &Route| route.trips().longest();
        let lost = |since| Lost {
            primary: primary.probes_lost_since(since),
            alternate: alternate.probes_lost_since(since),
        };
        Some((self.trial.step(now, trip(primary).max(trip(alternate)), lost), path))
    }
}
