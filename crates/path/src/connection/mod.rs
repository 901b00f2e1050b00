//! One end of a connection: its states, its queues, and what its driver asks of it.
//!
//! A driver hands in what arrives ([`Connection::on_packet`]), what an interface says of itself
//! ([`Connection::on_carrier`]) and the time ([`Connection::on_timeout`], after everything that had
//! arrived by then), and takes packets ([`Connection::poll_transmit`]) and events
//! ([`Connection::poll_event`]) until there are none.

mod event;
mod migrate;
mod modify;
mod receive;
mod timers;
mod transmit;

use std::collections::VecDeque;

pub use event::{Counters, Event, Refusal, Why};
pub use modify::Modify;
pub use transmit::Departure;

use crate::detection::Suspicion;
use crate::encoding::{AckTimeout, NotReadyTimer, Retries};
use crate::incoming::Incoming;
use crate::outgoing::Outgoing;
use crate::route::Route;
use crate::state::{MigrationState, QpState};
use crate::wire::{Body, MOST_PATHS};
use crate::{Nanos, PathId};

/// The largest payload of a packet.
pub const MOST_PACKET_BYTES: usize = 65_000;

/// The configuration of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The number of the queue pair, which never changes.
    pub number: u32,
    /// The number of paths that both ends know: 1 to 8.
    pub paths: u8,
}

/// Packets that are due whatever the windows say: answers and questions.
struct Control {
    path: PathId,
    body: Body<'static>,
    /// When it became due.
    since: Nanos,
}

/// The handshake that loads an alternate path.
#[derive(Clone, Copy)]
struct Arming {
    next_at: Nanos,
    apart: Nanos,
    /// Whether it has asked at once because the peer was heard to have the path, too.
    is_hurried: bool,
}

/// Questions to an alternate path that is armed.
#[derive(Clone, Copy)]
struct Watch {
    asked_at: Nanos,
    unanswered: u32,
}

/// One end of a connection: it takes packets and the time, and gives packets, events and timeouts.
pub struct Connection {
    number: u32,
    state: QpState,
    migration: MigrationState,
    routes: Vec<Route>,
    primary: PathId,
    alternate: Option<PathId>,
    /// One more for each migration of either end.
    epoch: u32,
    /// Whether the peer is known to be in this epoch, and when the epoch is sent again.
    epoch_acked: bool,
    epoch_resend_at: Nanos,
    epoch_resend_interval: Nanos,
    /// Nothing is said to the peer of what was requested, but what messages say.
    held: bool,

    peer: u32,
    packet_bytes: usize,
    not_ready_timer: NotReadyTimer,
    ack_timeout: AckTimeout,
    retries: Retries,
    not_ready_retries: Retries,

    outgoing: Outgoing,
    incoming: Incoming,
    /// When an acknowledgement must leave, and how many packets wait for it.
    ack_at: Option<Nanos>,
    unacknowledged: u32,
    not_ready_due: bool,

    retries_left: u8,
    not_ready_left: u8,
    /// The peer was not ready: nothing leaves before.
    not_ready_until: Option<Nanos>,
    /// When the peer last said something new of what it received, or packets began to wait for it.
    waiting_since: Nanos,

    suspicion: Option<Suspicion>,
    watch: Option<Watch>,
    arming: Option<Arming>,
    control: VecDeque<Control>,
    drained_reported: bool,
    /// Whether a packet of the peer has come since RESET.
    established: bool,

    events: VecDeque<Event>,
    counters: Counters,
}

impl Connection {
    /// Creates a connection in RESET and MIGRATED.
    ///
    /// # Panics
    /// With no path, or more than eight.
    pub fn new(config: Config) -> Connection {
        let paths = usize::from(config.paths);
        assert!((1..=MOST_PATHS).contains(&paths), "a connection has 1 to {MOST_PATHS} paths");
        Connection {
            number: config.number,
            state: QpState::Reset,
            migration: MigrationState::Migrated,
            routes: (0..paths).map(|_| Route::new(1)).collect(),
            primary: PathId(0),
            alternate: None,
            epoch: 0,
            epoch_acked: true,
            epoch_resend_at: 0,
            epoch_resend_interval: 0,
            held: false,
            peer: 0,
            packet_bytes: 0,
            not_ready_timer: NotReadyTimer::USUAL,
            ack_timeout: AckTimeout::NEVER,
            retries: Retries::MOST,
            not_ready_retries: Retries::MOST,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            ack_at: None,
            unacknowledged: 0,
            not_ready_due: false,
            retries_left: 0,
            not_ready_left: 0,
            not_ready_until: None,
            waiting_since: 0,
            suspicion: None,
            watch: None,
            arming: None,
            control: VecDeque::new(),
            drained_reported: false,
            established: false,
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// The number of the queue pair.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The number of the peer's queue pair, from RTR on.
    pub fn peer(&self) -> u32 {
        self.peer
    }

    /// The state of the queue pair.
    pub fn state(&self) -> QpState {
        self.state
    }

    /// The migration state.
    pub fn migration(&self) -> MigrationState {
        self.migration
    }

    /// The primary path.
    pub fn primary(&self) -> PathId {
        self.primary
    }

    /// The alternate path, if specified.
    pub fn alternate(&self) -> Option<PathId> {
        self.alternate
    }

    /// The number of migrations of both ends.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The counters of the connection.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether all messages have arrived.
    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Whether nothing is left to be agreed with the peer: it knows which path is in use, and an
    /// alternate path is armed or not being loaded.
    pub fn is_settled(&self) -> bool {
        self.epoch_acked && self.arming.is_none()
    }

    /// Has what was requested wait until [`Connection::resume`]: the peer is not asked for an
    /// alternate path, and learns of a migration from messages only. With it, a driver of many
    /// connections sees to one after the other. A migration after a failure does not wait.
    pub fn hold(&mut self) {
        self.held = self.state.receives();
    }

    /// Resumes what [`Connection::hold`] suspended.
    pub fn resume(&mut self) {
        self.held = false;
    }

    /// Whether requests are suspended.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// The number of messages that have not arrived.
    pub fn waiting(&self) -> usize {
        self.outgoing.messages()
    }

    /// The latest round-trip time of a path; `None` if none was measured.
    pub fn round_trip(&self, path: PathId) -> Option<Nanos> {
        self.routes.get(usize::from(path.0))?.smoothed_trip()
    }

    /// Sends a message; [`Event::Sent`] reports its arrival, and gives it back.
    pub fn send(&mut self, now: Nanos, id: u64, message: Vec<u8>) -> Result<(), Refusal> {
        if !matches!(self.state, QpState::Rts | QpState::Sqd) {
            return Err(Refusal::State { state: self.state, wanted: "RTS or SQD" });
        }
        if self.outgoing.is_empty() {
            self.waiting_since = now;
        }
        self.outgoing.push(id, message);
        Ok(())
    }

    /// Takes a buffer for one message, as long as its capacity at most; [`Event::Received`] gives
    /// it back with the message in it.
    pub fn post_receive(&mut self, id: u64, buffer: Vec<u8>) -> Result<(), Refusal> {
        if matches!(self.state, QpState::Reset | QpState::Error) {
            return Err(Refusal::State { state: self.state, wanted: "INIT, RTR, RTS or SQD" });
        }
        let before = self.incoming.expects();
        let taken = self.incoming.post(id, buffer);
        if self.incoming.expects() > before {
            // A packet had waited for it: the peer waits too, and is acknowledged at once.
            self.on_taken(0, taken, true);
        }
        Ok(())
    }

    /// Whether the driver can take data for a path; it can until it says otherwise.
    pub fn on_room(&mut self, path: PathId, room: bool) {
        if let Some(route) = self.routes.get_mut(usize::from(path.0)) {
            route.has_room = room;
        }
    }

    /// Whether queued packets of a path matter now; [`Connection::on_queue`] reports them.
    pub fn needs_queue_state(&self) -> bool {
        let answers = |control: &Control| matches!(control.body, Body::Answer { .. });
        self.suspicion.is_some() || self.control.iter().any(answers)
    }

    /// Whether packets, of any connection, wait at this end to leave by a path; none do until the
    /// driver says otherwise.
    pub fn on_queue(&mut self, path: PathId, queued: bool) {
        if let Some(route) = self.routes.get_mut(usize::from(path.0)) {
            route.queued_here = queued;
        }
    }

    /// Takes the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn route(&mut self, path: PathId) -> &mut Route {
        &mut self.routes[usize::from(path.0)]
    }

    fn primary_route(&self) -> &Route {
        &self.routes[usize::from(self.primary.0)]
    }

    /// The alternate path where it can take over.
    fn armed_route(&self) -> Option<&Route> {
        let armed = self.migration == MigrationState::Armed;
        self.alternate.filter(|_| armed).map(|path| &self.routes[usize::from(path.0)])
    }

    /// Breaks: everything that waits is given back.
    fn fail(&mut self, why: Why) {
        self.state = QpState::Error;
        (self.migration, self.alternate) = (MigrationState::Migrated, None);
        self.stop();
        self.events.push_back(Event::Failed { why });
    }

    /// Gives back everything that waits.
    fn stop(&mut self) {
        let sends = self.outgoing.flush();
        let receives = self.incoming.flush();
        self.events.extend(sends.into_iter().map(|id| Event::SendFlushed { id }));
        self.events.extend(receives.into_iter().map(|id| Event::ReceiveFlushed { id }));
        (self.ack_at, self.not_ready_until) = (None, None);
        self.not_ready_due = false;
        (self.epoch_acked, self.held) = (true, false);
        (self.suspicion, self.watch, self.arming) = (None, None, None);
        self.control.clear();
        self.routes.iter_mut().for_each(|route| route.in_flight = 0);
    }
}
