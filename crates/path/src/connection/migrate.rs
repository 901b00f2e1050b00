//! The paper's three modules at one connection: an alternate path is specified, loaded, and takes
//! over; by request, because the primary path died, or because the peer did so.

use super::{Arming, Connection, Event, Refusal, Watch};
use crate::state::{Cause, MigrationState, QpState, migration};
use crate::wire::Body;
use crate::{Nanos, PathId};

/// Requests to load a path: the first are so far apart, then rarer and rarer.
const ARM_APART: Nanos = 2_000_000;
const ARM_MOST_APART: Nanos = 250_000_000;
/// The first interval at which the epoch is sent again to a peer that has not followed a migration;
/// it doubles each time.
const EPOCH_RESEND_INTERVAL: Nanos = 5_000_000;

impl Arming {
    fn new(now: Nanos) -> Arming {
        Arming { next_at: now, apart: ARM_APART, is_hurried: false }
    }
}

impl Connection {
    /// Alternate path specification (paper: 3.1.1), from INIT to RTR on. What was loaded is not
    /// loaded any more.
    pub fn specify(&mut self, path: PathId) -> Result<(), Refusal> {
        if !self.state.receives() {
            return Err(Refusal::State { state: self.state, wanted: "RTR, RTS or SQD" });
        }
        if usize::from(path.0) >= self.routes.len() {
            return Err(Refusal::UnknownPath { path });
        }
        if path == self.primary {
            return Err(Refusal::AlternateIsPrimary { path });
        }
        self.set_alternate(path);
        Ok(())
    }

    /// Path loading request (paper: 3.1.2); [`Event::Armed`] reports its completion.
    pub fn load(&mut self, now: Nanos) -> Result<(), Refusal> {
        if !self.state.receives() {
            return Err(Refusal::State { state: self.state, wanted: "RTR, RTS or SQD" });
        }
        if self.alternate.is_none() {
            return Err(Refusal::NoAlternate);
        }
        self.begin_loading(now);
        Ok(())
    }

    /// Removes the alternate path.
    pub fn unload(&mut self) {
        self.alternate = None;
        self.migration = MigrationState::Migrated;
        (self.arming, self.watch) = (None, None);
    }

    /// Path migration by request (paper: 3.1.3).
    pub fn migrate(&mut self, now: Nanos) -> Result<(), Refusal> {
        if !matches!(self.state, QpState::Rts | QpState::Sqd) {
            return Err(Refusal::State { state: self.state, wanted: "RTS or SQD" });
        }
        let refused = Refusal::NotArmed { migration: self.migration };
        let to = self.alternate.filter(|_| self.migration == MigrationState::Armed);
        self.take_over(now, to.ok_or(refused)?, Cause::Request, self.epoch.wrapping_add(1));
        Ok(())
    }

    /// Handles gain or loss of an interface's carrier.
    pub fn on_carrier(&mut self, now: Nanos, path: PathId, up: bool) {
        let Some(route) = self.routes.get_mut(usize::from(path.0)) else { return };
        route.carrier = up;
        if up {
            if let Some(arming) = self.arming.as_mut().filter(|_| self.alternate == Some(path)) {
                *arming = Arming::new(now);
            }
            return;
        }
        if path == self.primary {
            self.leave_dead_path(now);
        } else if self.alternate == Some(path) {
            self.alternate_is_unhealthy(now);
        }
    }

    pub(super) fn set_alternate(&mut self, path: PathId) {
        self.alternate = Some(path);
        self.migration = MigrationState::Migrated;
        (self.arming, self.watch) = (None, None);
    }

    pub(super) fn begin_loading(&mut self, now: Nanos) {
        if self.step(Cause::Load) {
            self.arming = Some(Arming::new(now));
            self.watch = None;
        }
    }

    /// Changes the migration state as its table says; false where it does not apply.
    fn step(&mut self, cause: Cause) -> bool {
        let to = migration(self.migration, cause);
        self.migration = to.unwrap_or(self.migration);
        to.is_some()
    }

    /// Asks the peer, over the alternate path, to load it as well.
    pub(super) fn ask_to_arm(&mut self, now: Nanos) {
        let Some((arming, path)) = self.arming.as_mut().zip(self.alternate) else { return };
        if self.held || now < arming.next_at {
            return;
        }
        arming.next_at = now + arming.apart;
        arming.apart = (2 * arming.apart).min(ARM_MOST_APART);
        if self.routes[usize::from(path.0)].carrier {
            self.push_control(now, path, Body::Arm { bytes: self.packet_bytes });
        }
    }

    /// The peer wants a path as its alternate one.
    pub(super) fn on_arm(&mut self, now: Nanos, path: PathId, bytes: usize) {
        if self.alternate != Some(path) || self.migration == MigrationState::Migrated {
            if path != self.primary {
                self.events.push_back(Event::Wanted { path });
            }
            return;
        }
        self.push_control(now, path, Body::Arming { bytes });
        // The peer has it: no need to wait for the time of the next request. Only once at once: if
        // answers got lost, both ends would do nothing else.
        if let Some(arming) = &mut self.arming {
            let apart = if std::mem::replace(&mut arming.is_hurried, true) { ARM_APART } else { 0 };
            arming.next_at = arming.next_at.min(now + apart);
        }
    }

    /// The peer loads the same path, and a packet of full length came back over it.
    pub(super) fn on_arming(&mut self, now: Nanos, path: PathId) {
        if self.alternate == Some(path) && self.step(Cause::Loaded) {
            self.arming = None;
            self.watch = Some(Watch { asked_at: now, unanswered: 0 });
            self.events.push_back(Event::Armed { path });
            // Nothing leaves by a path without carrier, so that nothing would be missed there.
            if !self.primary_route().carrier {
                self.leave_dead_path(now);
            }
        }
    }

    pub(super) fn alternate_is_unhealthy(&mut self, now: Nanos) {
        let Some(path) = self.alternate else { return };
        if self.step(Cause::Unhealthy) {
            self.watch = None;
            self.arming = Some(Arming::new(now));
            self.events.push_back(Event::Unhealthy { path });
        }
    }

    /// The primary path is dead: the alternate one takes over if it can.
    pub(super) fn leave_dead_path(&mut self, now: Nanos) -> bool {
        let armed = self.armed_route().is_some_and(|route| route.carrier);
        match self.alternate.filter(|_| armed) {
            Some(to) => {
                self.take_over(now, to, Cause::Failure, self.epoch.wrapping_add(1));
                true
            }
            None => false,
        }
    }

    /// The peer's packets say which path it uses in which epoch; whether this was news.
    pub(super) fn follow(&mut self, now: Nanos, epoch: u32, primary: PathId) -> bool {
        let ahead = epoch.wrapping_sub(self.epoch) as i32;
        // Both may have migrated at once, to different paths: the lower number wins at both ends.
        let is_news = ahead > 0 || ahead == 0 && primary < self.primary;
        if is_news {
            if primary == self.primary {
                // It has moved twice, and back.
                self.epoch = epoch;
            } else {
                self.take_over(now, primary, Cause::Peer, epoch);
            }
        }
        self.epoch_acked |= is_news || ahead == 0 && primary == self.primary;
        is_news
    }

    fn take_over(&mut self, now: Nanos, to: PathId, cause: Cause, epoch: u32) {
        if !self.step(cause) {
            return;
        }
        if cause == Cause::Failure && !self.outgoing.is_empty() {
            self.counters.stalls.count(now - self.waiting_since.min(now));
        }
        let from = std::mem::replace(&mut self.primary, to);
        (self.alternate, self.arming, self.watch, self.suspicion) = (None, None, None, None);
        self.epoch = epoch;
        self.outgoing.lose_all();
        self.routes.iter_mut().for_each(|route| route.in_flight = 0);
        self.route(to).window.restart();
        self.retries_left = self.retries.count();
        self.waiting_since = now;
        (self.epoch_acked, self.held) = (cause == Cause::Peer, false);
        (self.epoch_resend_at, self.epoch_resend_interval) = (now, EPOCH_RESEND_INTERVAL);
        self.counters.migrations += 1;
        self.events.push_back(Event::Migrated { from, to, cause });
    }
}
