//! What happens because time passes.

use super::{Connection, Why};
use crate::paths::{Doubt, Probe, Step, Verdict};
use crate::sending::Retry;
use crate::state::Cause;
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
            self.receiver.not_ready_at(),
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
        self.receiver.on_timeout(now);
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
        if let Some((step, path)) = self.paths.step_trial(now) {
            self.step_trial(now, step, path);
        }
        if self.paths.has_due_probe(now, !self.sender.is_idle()) {
            self.probe_alternate(now);
        }
        self.ask_to_arm(now);
    }

    fn retry(&mut self, now: Nanos) {
        let healthy = self.paths.armed_carries_since(self.sender.last_progress());
        let goes_on = match self.sender.retry(now, self.paths.routes()) {
            Retry::Sent => true,
            Retry::LastPath => healthy && self.leave_path(now, Cause::Failure),
            Retry::GiveUp => false,
        };
        if !goes_on {
            self.fail(Why::Retries);
        }
    }

    /// When the primary path is suspected, or probed again. While data is diverted, whether it has
    /// failed must be found out even if nothing waits.
    fn suspect_at(&self) -> Option<Nanos> {
        if self.paths.is_diverted() {
            return Some(self.paths.suspect_at(0));
        }
        let since = self.sender.waiting_since()? + self.sender.allowance();
        let silent = self.paths.suspect_at(since);
        Some(self.doubt_at().map_or(silent, |at| at.min(silent)))
    }

    /// When the primary path, which answers, is asked whether it passes packets of full length.
    fn doubt_at(&self) -> Option<Nanos> {
        let since = self.sender.stuck_since()?.max(self.carried_at);
        self.paths.doubt_at(since + self.sender.allowance())
    }

    /// No sign of life, or no progress, while packets wait for one: both paths are probed.
    fn suspect(&mut self, now: Nanos) {
        if !self.paths.is_suspected() {
            let stuck = self.doubt_at().is_some_and(|at| at <= now);
            self.paths.suspect(now, if stuck { Doubt::Length } else { Doubt::Silence });
            self.counters.suspicions += 1;
            return self.probe_both(now);
        }
        if self.paths.has_lost_diversion() {
            self.paths.end_diversion();
            self.sender.send_all_again(now, self.paths.routes());
        }
        let doubts_length = self.paths.doubts_length();
        match self.paths.judge(now) {
            Verdict::Alive => {
                if doubts_length {
                    self.carried_at = now;
                    self.doubt_stream(now);
                }
                self.trust(now);
            }
            Verdict::Divert => {
                if self.divert(now) {
                    self.paths.count_diversion();
                }
                self.probe_both(now);
            }
            Verdict::Dead(cause) => {
                self.leave_path(now, cause);
            }
            Verdict::Wait => {}
            Verdict::Ask => self.probe_both(now),
        }
    }

    /// Follows the peer, which has diverted its data from this path. Whether it passes packets of
    /// full length is to be proved here as well: what the peer doubts is not known.
    pub(super) fn divert_with_peer(&mut self, now: Nanos, from: PathId) {
        if from == self.primary() && self.divert(now) {
            self.paths.suspect(now, Doubt::Length);
            self.probe_both(now);
        }
    }

    /// The primary path is alive. Probes went through that left after packets: these are lost.
    fn trust(&mut self, now: Nanos) {
        for path in [Some(self.primary()), self.paths.armed()].into_iter().flatten() {
            self.sender.detect_losses(now, self.paths.route(path));
        }
        self.paths.end_diversion();
        self.sender.wait_anew(now);
    }

    fn probe_both(&mut self, now: Nanos) {
        let bytes = if self.paths.doubts_length() { self.sender.packet_bytes() } else { 0 };
        self.control.push(now, self.primary(), Body::Probe { bytes });
        if let Some(path) = self.paths.probe_armed(now) {
            self.probe(now, path);
        }
    }

    /// Probes the armed path, and the primary one for comparison.
    fn probe_alternate(&mut self, now: Nanos) {
        match self.paths.probe_alternate(now, !self.sender.is_idle()) {
            None => {}
            Some(Err(_)) => self.disarm(now),
            Some(Ok(Probe { path, full })) => {
                let bytes = if full { self.sender.packet_bytes() } else { 0 };
                self.control.push(now, path, Body::Probe { bytes });
                self.control.push(now, self.primary(), Body::Probe { bytes: 0 });
            }
        }
    }

    /// A part of a trial of both paths, where the primary one loses packets.
    fn step_trial(&mut self, now: Nanos, step: Step, path: PathId) {
        match step {
            Step::Wait => {}
            Step::Probe => {
                self.probe(now, path);
                self.probe(now, self.primary());
            }
            Step::Migrate => {
                self.leave_path(now, Cause::Loss);
            }
        }
    }

    /// Probes a path in full length.
    fn probe(&mut self, now: Nanos, path: PathId) {
        let bytes = self.sender.packet_bytes();
        self.control.push(now, path, Body::Probe { bytes });
    }
}
