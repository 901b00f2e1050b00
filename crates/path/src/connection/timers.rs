//! What happens because time passes.

use super::{Connection, Watch, Why};
use crate::detection::{Suspicion, Verdict, patience};
use crate::state::MigrationState;
use crate::wire::Body;
use crate::{Nanos, PathId};

/// The probe interval of an armed path while there is traffic, and while there is none.
const WATCH_BUSY: Nanos = 50_000_000;
const WATCH_IDLE: Nanos = 500_000_000;
/// The number of unanswered probes that make it unhealthy, if the primary path is alive or there is
/// a third one.
const UNANSWERED: u32 = 4;
/// The longest interval at which the epoch is sent again.
const EPOCH_RESEND_MOST: Nanos = 500_000_000;
/// Questions and answers that wait, at most; more are as good as lost on their way.
const MOST_CONTROL: usize = 64;

impl Connection {
    /// The time at which [`Connection::on_timeout`] or [`Connection::poll_transmit`] has something
    /// to do, if nothing arrives before.
    pub fn next_timeout(&self) -> Option<Nanos> {
        if !self.state.receives() {
            return None;
        }
        let watch_at = self.watch.map(|watch| watch.asked_at + self.watch_apart());
        let epoch_at = (!self.epoch_acked && !self.held).then_some(self.epoch_resend_at);
        let arm_at = self.arming.filter(|_| !self.held).map(|arming| arming.next_at);
        let mut first = Nanos::MAX;
        let mut consider = |at: Option<Nanos>| first = first.min(at.unwrap_or(Nanos::MAX));
        consider(self.ack_at);
        consider(self.not_ready_until);
        consider(self.retry_at());
        consider(self.suspect_at());
        consider(watch_at);
        consider(epoch_at);
        consider(arm_at);
        consider(self.data_due_at());
        (first < Nanos::MAX).then_some(first)
    }

    /// Whether a control packet is due now.
    pub fn has_due_control(&self, now: Nanos) -> bool {
        let resends = !self.epoch_acked && !self.held && self.epoch_resend_at <= now;
        let acknowledges = self.ack_at.is_some_and(|at| at <= now);
        resends || acknowledges || self.not_ready_due || !self.control.is_empty()
    }

    /// Time has passed, and everything that had arrived by now was handed in.
    pub fn on_timeout(&mut self, now: Nanos) {
        if !self.state.receives() {
            return;
        }
        if self.not_ready_until.is_some_and(|until| until <= now) {
            self.not_ready_until = None;
        }
        if self.suspect_at().is_some_and(|at| at <= now) {
            self.suspect(now);
        }
        if self.retry_at().is_some_and(|at| at <= now) {
            self.retry(now);
        }
        if self.watch.is_some_and(|watch| watch.asked_at + self.watch_apart() <= now) {
            self.watch_alternate(now);
        }
        self.ask_to_arm(now);
    }

    /// Whether packets wait for an acknowledgement of the peer.
    fn is_waiting(&self) -> bool {
        self.not_ready_until.is_none() && self.outgoing.has_outstanding()
    }

    /// When the packet that waits has waited for as long as one may.
    fn retry_at(&self) -> Option<Nanos> {
        let timeout = self.ack_timeout.nanos().filter(|_| self.is_waiting())?;
        Some(self.waiting_since.max(self.outgoing.oldest_sent_at()?) + timeout)
    }

    fn retry(&mut self, now: Nanos) {
        if self.retries_left == 0 {
            let healthy =
                self.armed_route().is_some_and(|route| route.is_alive_since(self.waiting_since));
            if !(healthy && self.leave_dead_path(now)) {
                self.fail(Why::Retries);
            }
            return;
        }
        self.retries_left -= 1;
        if let Some(path) = self.lose_oldest() {
            self.route(path).window.restart();
        }
        self.waiting_since = now;
    }

    /// When the primary path is suspected, or asked again.
    fn suspect_at(&self) -> Option<Nanos> {
        if !self.is_waiting() {
            return None;
        }
        match &self.suspicion {
            Some(suspicion) => Some(suspicion.next_at()),
            None => {
                let since = self.waiting_since.max(self.outgoing.oldest_sent_at()?);
                Some(since + patience(self.primary_route()))
            }
        }
    }

    /// No sign of life while packets wait for one: both paths are asked.
    fn suspect(&mut self, now: Nanos) {
        let Some(mut suspicion) = self.suspicion.take() else {
            self.suspicion = Some(Suspicion::new(now));
            let primary = self.primary;
            self.route(primary).queued_there = false;
            self.counters.suspicions += 1;
            return self.ask_both(now);
        };
        match suspicion.judge(now, self.primary_route(), self.armed_route()) {
            Verdict::Alive => {
                // Questions went through that left after the packets: these are lost.
                if let Some(heard_of) = self.primary_route().heard_of {
                    self.lose_up_to(now, self.primary, heard_of);
                }
                self.waiting_since = now;
            }
            Verdict::Dead => {
                self.leave_dead_path(now);
            }
            Verdict::Wait => self.suspicion = Some(suspicion),
            Verdict::Ask => {
                self.suspicion = Some(suspicion);
                self.ask_both(now);
            }
        }
    }

    fn ask_both(&mut self, now: Nanos) {
        self.push_control(now, self.primary, Body::Probe { id: 0 });
        let armed = self.migration == MigrationState::Armed;
        if let Some(path) = self.alternate.filter(|_| armed) {
            self.push_control(now, path, Body::Probe { id: 0 });
            if let Some(watch) = &mut self.watch {
                *watch = Watch { asked_at: now, ..*watch };
            }
        }
    }

    fn watch_apart(&self) -> Nanos {
        if self.outgoing.is_empty() { WATCH_IDLE } else { WATCH_BUSY }
    }

    /// The alternate path must be known to work before it is needed.
    fn watch_alternate(&mut self, now: Nanos) {
        let (Some(watch), Some(path)) = (self.watch, self.alternate) else { return };
        let alive = |path: PathId| self.routes[usize::from(path.0)].is_alive_since(watch.asked_at);
        let unanswered = match (alive(path), alive(self.primary)) {
            (true, _) => 0,
            (false, true) => watch.unanswered + 1,
            // Perhaps the peer is busy. If both are dead, a third path may work: it is tried, and
            // nothing migrates before that one answers.
            (false, false) => watch.unanswered + u32::from(self.routes.len() > 2),
        };
        self.watch = Some(Watch { asked_at: now, unanswered });
        if unanswered >= UNANSWERED {
            return self.alternate_is_unhealthy(now);
        }
        self.push_control(now, path, Body::Probe { id: 0 });
        self.push_control(now, self.primary, Body::Probe { id: 0 });
    }

    /// Whether the epoch is to be sent again now, to a peer that has not followed a migration.
    pub(super) fn resend_epoch(&mut self, now: Nanos) -> bool {
        if self.epoch_acked || self.held || now < self.epoch_resend_at {
            return false;
        }
        self.epoch_resend_at = now + self.epoch_resend_interval;
        self.epoch_resend_interval = (2 * self.epoch_resend_interval).min(EPOCH_RESEND_MOST);
        true
    }

    pub(super) fn push_control(&mut self, since: Nanos, path: PathId, body: Body<'static>) {
        if self.control.len() < MOST_CONTROL {
            self.control.push_back(super::Control { path, body, since });
        }
    }
}
