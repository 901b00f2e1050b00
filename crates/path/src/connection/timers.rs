//! What happens because time passes.

use super::{Connection, Why};
use crate::paths::Verdict;
use crate::wire::Body;
use crate::{Nanos, PathId};

impl Connection {
    /// The time at which [`Connection::on_timeout`] or [`Connection::poll_transmit`] has something
    /// to do, if nothing arrives before.
    pub fn next_timeout(&self) -> Option<Nanos> {
        if !self.state().receives() {
            return None;
        }
        let times = [
            self.receiver.ack_at(),
            self.sender.next_timeout(),
            self.suspect_at(),
            self.paths.next_timeout(!self.sender.is_idle()),
            self.data_due_at(),
        ];
        times.into_iter().flatten().min()
    }

    /// Whether a control packet is due now.
    pub fn has_due_control(&self, now: Nanos) -> bool {
        self.paths.has_due_epoch(now) || self.receiver.has_due(now) || !self.control.is_empty()
    }

    /// Time has passed, and everything that had arrived by now was handed in.
    pub fn on_timeout(&mut self, now: Nanos) {
        if !self.state().receives() {
            return;
        }
        self.sender.on_timeout(now);
        if let Some(path) = self.sender.take_doubtful(now) {
            self.sender.detect_losses(now, self.paths.route(path));
        }
        if self.suspect_at().is_some_and(|at| at <= now) {
            self.suspect(now);
        }
        if self.sender.retry_at().is_some_and(|at| at <= now) {
            self.retry(now);
        }
        if self.paths.has_due_probe(now, !self.sender.is_idle()) {
            self.probe_alternate(now);
        }
        self.ask_to_arm(now);
    }

    fn retry(&mut self, now: Nanos) {
        if self.sender.retry(now, self.paths.routes()) {
            return;
        }
        let healthy = self.paths.armed_is_alive_since(self.sender.last_progress());
        if !(healthy && self.leave_dead_path(now)) {
            self.fail(Why::Retries);
        }
    }

    /// When the primary path is suspected, or probed again.
    fn suspect_at(&self) -> Option<Nanos> {
        self.sender.waiting_since().map(|since| self.paths.suspect_at(since))
    }

    /// No sign of life while packets wait for one: both paths are probed.
    fn suspect(&mut self, now: Nanos) {
        if !self.paths.is_suspected() {
            self.paths.suspect(now);
            self.counters.suspicions += 1;
            return self.probe_both(now);
        }
        match self.paths.judge(now) {
            Verdict::Alive => {
                // Probes went through that left after the packets: these are lost.
                self.sender.detect_losses(now, self.paths.route(self.paths.primary()));
                self.sender.wait_anew(now);
            }
            Verdict::Dead => {
                self.leave_dead_path(now);
            }
            Verdict::Wait => {}
            Verdict::Ask => self.probe_both(now),
        }
    }

    fn probe_both(&mut self, now: Nanos) {
        self.probe(now, self.primary());
        if let Some(path) = self.paths.probe_armed(now) {
            self.probe(now, path);
        }
    }

    /// Probes the armed path, and the primary one for comparison.
    fn probe_alternate(&mut self, now: Nanos) {
        match self.paths.probe_alternate(now) {
            None => {}
            Some(Err(_)) => self.disarm(now),
            Some(Ok(path)) => {
                self.probe(now, path);
                self.probe(now, self.primary());
            }
        }
    }

    fn probe(&mut self, now: Nanos, path: PathId) {
        self.control.push(now, path, Body::Probe);
    }
}
