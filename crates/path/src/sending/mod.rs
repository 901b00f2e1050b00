//! The sending half of a connection: messages that wait, packets in flight, retransmission.
//!
//! Which path packets leave by is decided elsewhere; this half is given the path. A message stays
//! until all of it is acknowledged. Nothing new leaves while the peer is not ready.

mod outgoing;

pub use outgoing::Payload;

use crate::congestion::Flight;
use crate::connection::{Modify, Why};
use crate::encoding::{AckTimeout, NOT_READY_APART, NotReadyTimer, Retries};
use crate::number::is_held_back;
use crate::paths::Route;
use crate::wire::{MOST_PATHS, Range};
use crate::{Nanos, PathId};
use outgoing::{Arrived, Outgoing, Part};

pub(crate) struct Sender {
    outgoing: Outgoing,
    packet_bytes: usize,
    /// The longest part of a message in a frame, where data goes by streams.
    frame_bytes: Option<usize>,
    ack_timeout: AckTimeout,
    retries: Retries,
    not_ready_retries: Retries,
    /// Retries since the last progress.
    retried: u8,
    not_ready_left: u8,
    /// Over a stream, the peer has said that it has no receive, and not made progress since.
    waits_for_receive: bool,
    /// The peer was not ready: nothing leaves before.
    not_ready_until: Option<Nanos>,
    /// When the peer last said something new of what it received, or packets began to wait for it.
    waiting_since: Nanos,
    /// The latest packet over each path that the peer had reported before.
    reported: [Option<u64>; MOST_PATHS],
    /// A path with a packet that is lost unless it is known to have arrived by then.
    doubtful: Option<(PathId, Nanos)>,
    /// When the peer last acknowledged the oldest packet, or that packet left first.
    progress_at: Nanos,
}

/// The packet that leaves next.
#[derive(Clone, Copy)]
pub(crate) struct Next {
    pub number: u64,
    pub is_resent: bool,
}

/// What became of a retry.
pub(crate) enum Retry {
    Sent,
    /// Only another path can help.
    LastPath,
    GiveUp,
}

impl Default for Sender {
    fn default() -> Sender {
        Sender {
            outgoing: Outgoing::default(),
            packet_bytes: 0,
            frame_bytes: None,
            ack_timeout: AckTimeout::NEVER,
            retries: Retries::MOST,
            not_ready_retries: Retries::MOST,
            retried: 0,
            not_ready_left: 0,
            waits_for_receive: false,
            not_ready_until: None,
            waiting_since: 0,
            reported: [None; MOST_PATHS],
            doubtful: None,
            progress_at: 0,
        }
    }
}

impl Sender {
    /// Takes over the attributes that concern it.
    pub fn apply(&mut self, modify: &Modify) {
        self.packet_bytes = modify.packet_bytes.unwrap_or(self.packet_bytes);
        self.ack_timeout = modify.ack_timeout.unwrap_or(self.ack_timeout);
        self.retries = modify.retries.unwrap_or(self.retries);
        self.not_ready_retries = modify.not_ready_retries.unwrap_or(self.not_ready_retries);
        if let Some(number) = modify.send_number {
            self.outgoing.begin(u64::from(number));
        }
        self.retried = 0;
        self.not_ready_left = self.not_ready_retries.count();
    }

    /// Data goes by streams, in frames of at most this number of bytes.
    pub fn use_streams(&mut self, frame_bytes: usize) {
        self.frame_bytes = Some(frame_bytes);
    }

    pub fn push(&mut self, now: Nanos, id: u64, message: Vec<u8>) {
        if self.outgoing.is_empty() {
            self.waiting_since = now;
        }
        self.outgoing.push(id, message);
    }

    /// Gives back everything that waits.
    pub fn flush(&mut self) -> Vec<u64> {
        (self.not_ready_until, self.doubtful) = (None, None);
        self.outgoing.flush()
    }

    /// Whether every message has arrived.
    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Messages that have not arrived.
    pub fn messages(&self) -> usize {
        self.outgoing.messages()
    }

    /// Whether a packet is under way.
    pub fn has_outstanding(&self) -> bool {
        self.outgoing.has_outstanding()
    }

    /// The longest payload of a packet.
    pub fn packet_bytes(&self) -> usize {
        self.packet_bytes
    }

    /// The next message that has arrived.
    pub fn pop_done(&mut self) -> Option<(u64, Vec<u8>)> {
        self.outgoing.pop_done()
    }

    pub fn payload(&self, payload: &Payload) -> &[u8] {
        self.outgoing.payload(payload)
    }
}

/// Transmission.
impl Sender {
    /// When data may leave by this path, if there is any and the window has room; `fresh` if new
    /// packets may begin, besides those that are sent again.
    pub fn data_due_at(&self, route: &Route, fresh: bool) -> Option<Nanos> {
        if self.not_ready_until.is_some() {
            return None;
        }
        let wants = route.takes_data() && self.outgoing.wants_to_send(fresh);
        wants.then(|| route.next_departure())
    }

    /// The packet that leaves next.
    pub fn next_to_send(&mut self, fresh: bool) -> Option<Next> {
        let size = self.frame_bytes.unwrap_or(self.packet_bytes);
        let number = self.outgoing.next_to_send(size, fresh)?;
        Some(Next { number, is_resent: self.outgoing.was_sent(number) })
    }

    /// It leaves by this path, under this serial number; whether an acknowledgement is wanted.
    pub fn on_sent(
        &mut self,
        now: Nanos,
        next: Next,
        route: &mut Route,
        serial: u64,
    ) -> (Part, bool) {
        let (bytes, trip) = (self.outgoing.len(next.number) as u64, route.trip());
        let full = route.stream.is_none() && route.flight.on_sent(now, bytes, trip);
        if !self.outgoing.has_outstanding() {
            (self.progress_at, self.retried) = (now, 0);
        }
        let part = self.outgoing.on_sent(next.number, route.id(), serial, now);
        (part, full || next.is_resent)
    }

    /// A stream is lost: what it may still have carried is to leave again.
    pub fn lose_stream(&mut self, path: PathId) {
        self.outgoing.lose(path, u64::MAX, Nanos::MAX, |_| {});
    }

    /// Whether the peer leaves frames in its stream until it posts a receive.
    pub fn waits_for_receive(&self) -> bool {
        self.waits_for_receive
    }

    /// The kernel carries on with the oldest frame: the wait for its acknowledgement begins anew.
    pub fn on_stream_progress(&mut self, at: Nanos) {
        self.progress_at = self.progress_at.max(at);
    }

    /// Everything under way is to leave again, by another path: nothing counts as under way.
    pub fn send_all_again(&mut self, now: Nanos, routes: &mut [Route]) {
        self.outgoing.lose_all();
        routes.iter_mut().for_each(|route| route.flight.clear());
        self.doubtful = None;
        self.waiting_since = now;
    }
}

/// Acknowledgement and loss.
impl Sender {
    /// Whether the peer can expect this number next: all before it were sent.
    pub fn was_sent_before(&self, expects: u64) -> bool {
        expects <= self.outgoing.next()
    }

    /// Whether the peer's packet that expects this number next was held back on its way.
    pub fn is_held_back(&self, expects: u64) -> bool {
        is_held_back(expects, self.outgoing.base())
    }

    /// The peer has everything before `expects`, and some after it.
    pub fn on_ack(&mut self, now: Nanos, expects: u64, early: &[Range], routes: &mut [Route]) {
        let ranges = early.iter().map(|range| {
            let start = expects + u64::from(range.after);
            start..start + u64::from(range.count)
        });
        let (before, mut settled) = (self.outgoing.base(), false);
        let reported = &self.reported;
        self.outgoing.on_ack(expects, ranges, |arrived| {
            let path = usize::from(arrived.sent.path.0);
            settled |= !arrived.is_lost;
            on_arrived(now, &arrived, reported[path], &mut routes[path]);
        });
        if settled {
            self.waiting_since = self.waiting_since.max(now);
        }
        if self.outgoing.base() > before {
            (self.not_ready_until, self.waits_for_receive) = (None, false);
            self.waiting_since = now;
            (self.progress_at, self.retried) = (now, 0);
            self.not_ready_left = self.not_ready_retries.count();
        }
    }

    /// Packets that left a path are lost if one that left sufficiently later has arrived.
    pub fn detect_losses(&mut self, now: Nanos, route: &mut Route) {
        // A stream loses nothing while it is open.
        if route.stream.is_some() {
            return;
        }
        let (path, trip) = (route.id(), route.trip());
        let Some(reported) = route.reported() else { return };
        self.reported[usize::from(path.0)] = Some(reported);
        let flight = &mut route.flight;
        let window = flight.reordering_window(now, trip);
        let left_until = now.saturating_sub(trip.last + window);
        let next = self.outgoing.lose(path, reported, left_until, |bytes| {
            flight.on_loss(now, bytes, trip);
        });
        self.doubtful = match next {
            Some(left_at) => Some((path, left_at + trip.last + window)),
            None => self.doubtful.filter(|(doubtful, _)| *doubtful != path),
        };
    }

    /// The path of a packet that is lost if it is not known by now to have arrived.
    pub fn take_doubtful(&mut self, now: Nanos) -> Option<PathId> {
        let (path, _) = self.doubtful.take_if(|(_, at)| *at <= now)?;
        Some(path)
    }

    /// The oldest packet under way is lost: the flight of the path that it had left.
    fn lose_oldest<'r>(&mut self, routes: &'r mut [Route]) -> Option<&'r mut Flight> {
        let (path, bytes) = self.outgoing.lose_oldest()?;
        let flight = &mut routes[usize::from(path.0)].flight;
        flight.forget(bytes);
        Some(flight)
    }

    /// The peer has no receive for the next message; whether it is waited for. `Err` if it was for
    /// too often.
    pub fn on_not_ready(
        &mut self,
        now: Nanos,
        timer: NotReadyTimer,
        routes: &mut [Route],
    ) -> Result<bool, Why> {
        if self.not_ready_until.is_some() || !self.outgoing.has_outstanding() {
            return Ok(false);
        }
        if !self.not_ready_retries.has_no_end() {
            self.not_ready_left = self.not_ready_left.checked_sub(1).ok_or(Why::NotReadyRetries)?;
        }
        // A frame waits at the peer, which says so again. A packet is sent again.
        let again_at = if self.frame_bytes.is_some() {
            self.waits_for_receive = true;
            now + 2 * NOT_READY_APART
        } else {
            if let Some(flight) = self.lose_oldest(routes) {
                flight.on_not_ready();
            }
            self.not_ready_until = Some(now + timer.nanos());
            now + timer.nanos()
        };
        self.waiting_since = again_at;
        (self.progress_at, self.retried) = (again_at, 0);
        Ok(true)
    }
}

/// Timers.
impl Sender {
    /// How long the oldest packet may take by its length alone: nothing for a packet, and in a
    /// frame the time at 400 Mbit/s.
    pub fn allowance(&self) -> Nanos {
        let bytes = self.frame_bytes.map_or(0, |_| self.outgoing.oldest_bytes());
        bytes as Nanos * 20
    }

    /// Since when a packet has waited for a sign of the peer, if one does.
    pub fn waiting_since(&self) -> Option<Nanos> {
        let sent_at = self.outgoing.oldest_sent_at().filter(|_| self.not_ready_until.is_none())?;
        Some(self.waiting_since.max(sent_at))
    }

    /// When the peer last acknowledged the oldest packet, or that packet left first.
    pub fn last_progress(&self) -> Nanos {
        self.progress_at
    }

    /// The same, if a packet waits for its acknowledgement.
    pub fn stuck_since(&self) -> Option<Nanos> {
        self.waiting_since().map(|_| self.progress_at)
    }

    /// The peer is alive: the wait begins anew.
    pub fn wait_anew(&mut self, now: Nanos) {
        self.waiting_since = now;
    }

    /// When the packet that waits has waited for as long as one may; only an acknowledgement begins
    /// the wait anew.
    pub fn retry_at(&self) -> Option<Nanos> {
        let timeout = self.ack_timeout.nanos()?;
        Some(self.stuck_since()? + (u64::from(self.retried) + 1) * timeout)
    }

    /// Sends the oldest packet again, if that was not done as often as it may be.
    pub fn retry(&mut self, now: Nanos, routes: &mut [Route]) -> Retry {
        self.retried += 1;
        if let Some(beyond) = self.retried.checked_sub(self.retries.count() + 1) {
            return if beyond == 0 { Retry::LastPath } else { Retry::GiveUp };
        }
        if self.frame_bytes.is_none()
            && let Some(flight) = self.lose_oldest(routes)
        {
            flight.on_timeout();
        }
        self.waiting_since = now;
        Retry::Sent
    }

    /// Ends the wait for a peer that was not ready, when its time has come.
    pub fn on_timeout(&mut self, now: Nanos) {
        self.not_ready_until = self.not_ready_until.filter(|until| *until > now);
    }

    /// When something is due if nothing arrives before, data apart.
    pub fn next_timeout(&self) -> Option<Nanos> {
        let doubtful = self.doubtful.map(|(_, at)| at);
        [self.not_ready_until, self.retry_at(), doubtful].into_iter().flatten().min()
    }
}

/// A packet has arrived; `reported` is the latest over its path that the peer had reported before.
fn on_arrived(now: Nanos, arrived: &Arrived, reported: Option<u64>, route: &mut Route) {
    let (trip, sent) = (route.trip(), arrived.sent);
    route.on_report(now);
    if route.stream.is_some() {
        return;
    }
    if arrived.is_lost {
        route.flight.on_spurious_loss(now, trip);
    } else {
        route.flight.on_ack(now, arrived.bytes, trip);
    }
    if reported > Some(sent.serial) {
        route.flight.on_late(now, now.saturating_sub(sent.at + trip.last), trip);
    }
}
