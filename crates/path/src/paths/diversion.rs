//! Data that goes over the alternate path for a while: before it is certain that the primary one is
//! dead, and as a trial of probes where the primary one loses packets.

use super::trial::Answered;
use super::{Paths, Route, Step};
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

    /// Data goes over the alternate path from now on; false if it did so before, or cannot.
    pub fn divert(&mut self) -> bool {
        let Some(to) = self.failover().filter(|_| !self.diverted) else { return false };
        self.diverted = true;
        self.restart_flights(to);
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

    /// Everything is to leave anew, by this path.
    pub(super) fn restart_flights(&mut self, path: PathId) {
        self.routes.iter_mut().for_each(|route| route.flight.clear());
        self.route(path).flight.restart();
    }
}

/// Trials of both paths, where the primary one loses packets.
impl Paths {
    fn answered(&self, alternate: PathId) -> Answered {
        let alternate = self.routes[usize::from(alternate.0)].probes_answered();
        Answered { primary: self.primary_route().probes_answered(), alternate }
    }

    /// Begins one if the primary path loses too much.
    pub fn consider_trial(&mut self, now: Nanos) {
        let Some(lost) = self.primary_route().loss().sustained() else { return };
        let Some(to) = self.failover().filter(|_| !self.diverted) else { return };
        if self.trial.may_begin(now) {
            let answered = self.answered(to);
            self.trial.begin(now, lost, answered);
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
        let trip = |route: &Route| route.trips().longest();
        let longest = trip(self.primary_route()).max(trip(&self.routes[usize::from(path.0)]));
        let answered = self.answered(path);
        Some((self.trial.step(now, answered, longest), path))
    }
}
