//! The paper's three modules at one connection: an alternate path is specified, loaded, and takes
//! over; by request, because the primary path died, or because the peer did so.

use super::{Connection, Event, Refusal};
use crate::paths::Requested;
use crate::state::{Cause, QpState};
use crate::wire::Body;
use crate::{Nanos, PathId};

impl Connection {
    /// Alternate path specification (paper: 3.1.1), from INIT to RTR on. What was loaded is not
    /// loaded any more.
    pub fn specify(&mut self, path: PathId) -> Result<(), Refusal> {
        if !self.state().receives() {
            return Err(Refusal::State { state: self.state(), wanted: "RTR, RTS or SQD" });
        }
        if !self.paths.knows(path) {
            return Err(Refusal::UnknownPath { path });
        }
        if path == self.primary() {
            return Err(Refusal::AlternateIsPrimary { path });
        }
        self.paths.specify(path);
        Ok(())
    }

    /// Path loading request (paper: 3.1.2); [`Event::Armed`] reports its completion.
    pub fn load(&mut self, now: Nanos) -> Result<(), Refusal> {
        if !self.state().receives() {
            return Err(Refusal::State { state: self.state(), wanted: "RTR, RTS or SQD" });
        }
        if self.alternate().is_none() {
            return Err(Refusal::NoAlternate);
        }
        self.paths.load(now);
        Ok(())
    }

    /// Removes the alternate path.
    pub fn unload(&mut self) {
        self.paths.unload();
    }

    /// Path migration by request (paper: 3.1.3).
    pub fn migrate(&mut self, now: Nanos) -> Result<(), Refusal> {
        if !matches!(self.state(), QpState::Rts | QpState::Sqd) {
            return Err(Refusal::State { state: self.state(), wanted: "RTS or SQD" });
        }
        let refused = Refusal::NotArmed { migration: self.migration() };
        let to = self.paths.armed().ok_or(refused)?;
        self.take_over(now, to, Cause::Request, self.paths.next_epoch());
        Ok(())
    }

    /// Handles gain or loss of an interface's carrier.
    pub fn on_carrier(&mut self, now: Nanos, path: PathId, up: bool) {
        if !self.paths.knows(path) {
            return;
        }
        self.paths.set_carrier(now, path, up);
        if up {
            return;
        }
        if path == self.primary() {
            self.leave_path(now, Cause::Failure);
        } else if self.alternate() == Some(path) {
            self.disarm(now);
        }
    }

    /// Asks the peer, over the alternate path, to load it as well.
    pub(super) fn ask_to_arm(&mut self, now: Nanos) {
        if let Some(path) = self.paths.ask_to_arm(now) {
            // A stream cuts what it carries: the length of its packets is proved by probes.
            let bytes = if self.has_streams { 0 } else { self.sender.packet_bytes() };
            self.control.push(now, path, Body::Arm { bytes });
        }
    }

    /// The peer wants a path as its alternate one.
    pub(super) fn on_arm(&mut self, now: Nanos, path: PathId, bytes: usize) {
        match self.paths.on_arm(now, path) {
            Requested::Same => self.control.push(now, path, Body::Arming { bytes }),
            Requested::Other => self.events.push_back(Event::Wanted { path }),
            Requested::Primary => {}
        }
    }

    /// The peer loads the same path, and a packet of full length came back over it.
    pub(super) fn on_arming(&mut self, now: Nanos, path: PathId) {
        if self.paths.on_arming(now, path) {
            self.events.push_back(Event::Armed { path });
            // Nothing leaves by a path without carrier, so that nothing would be missed there.
            if !self.paths.primary_route().link.carrier {
                self.leave_path(now, Cause::Failure);
            }
        }
    }

    /// The alternate path does not work any more: it is loaded again.
    pub(super) fn disarm(&mut self, now: Nanos) {
        if let Some(path) = self.paths.disarm(now) {
            self.events.push_back(Event::Unhealthy { path });
        }
    }

    /// The primary path does not work: the alternate one takes over if it can.
    pub(super) fn leave_path(&mut self, now: Nanos, cause: Cause) -> bool {
        let Some(to) = self.paths.failover() else { return false };
        self.take_over(now, to, cause, self.paths.next_epoch());
        true
    }

    /// The peer's packets say which path it uses in which epoch; whether this was news.
    pub(super) fn follow(&mut self, now: Nanos, epoch: u32, primary: PathId) -> bool {
        let is_news = self.paths.is_news(epoch, primary);
        if is_news && primary != self.primary() {
            self.take_over(now, primary, Cause::Peer, epoch);
        }
        self.paths.on_peer_epoch(epoch, primary);
        is_news
    }

    fn take_over(&mut self, now: Nanos, to: PathId, cause: Cause, epoch: u32) {
        let goes_on = self.paths.in_use() == to;
        let stall = if goes_on { self.stalled } else { self.stalled_for(now) };
        let Some(from) = self.paths.take_over(now, to, cause, epoch) else { return };
        let mut stalls = || stall.into_iter().for_each(|stall| self.counters.stalls.count(stall));
        match cause {
            Cause::Failure => {
                stalls();
                self.counters.left_dead += 1;
            }
            Cause::Length => {
                stalls();
                self.counters.left_short += 1;
            }
            Cause::Loss => self.counters.left_lossy += 1,
            _ => {}
        }
        if !goes_on {
            self.sender.send_all_again(now, self.paths.routes());
        }
        self.counters.migrations += 1;
        self.events.push_back(Event::Migrated { from, to, cause });
    }

    /// How long a message has waited for an acknowledgement.
    fn stalled_for(&self, now: Nanos) -> Option<Nanos> {
        let waits = !self.sender.is_idle();
        waits.then(|| now.saturating_sub(self.sender.last_progress()))
    }

    /// The primary path seems dead: until that is certain, data goes over the alternate one;
    /// whether this is new.
    pub(super) fn divert(&mut self, now: Nanos) -> bool {
        let stalled = self.stalled_for(now);
        let begins = self.paths.divert();
        if begins {
            self.stalled = stalled;
            self.sender.send_all_again(now, self.paths.routes());
        }
        begins
    }
}
