//! One end of a connection: its states, its queues, and what its driver asks of it.
//!
//! A driver hands in what arrives ([`Connection::on_packet`]), what an interface says of itself
//! ([`Connection::on_carrier`]) and the time ([`Connection::on_timeout`], after everything that had
//! arrived by then), and takes packets ([`Connection::poll_transmit`]) and events
//! ([`Connection::poll_event`]) until there are none.

mod control;
mod event;
mod migrate;
mod modify;
mod queue_pair;
mod receive;
mod shared;
pub(crate) mod streams;
mod timers;
mod transmit;

use std::collections::VecDeque;

pub use event::{Counters, Event, Refusal, Why};
pub use modify::Modify;
pub use transmit::Departure;

use crate::paths::Paths;
use crate::receiving::Receiver;
use crate::sending::Sender;
use crate::state::{MigrationState, QpState};
use crate::wire::MOST_PATHS;
use crate::{Nanos, PathId};
use control::ControlQueue;
use queue_pair::QueuePair;

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

/// One end of a connection: it takes packets and the time, and gives packets, events and timeouts.
///
/// It coordinates its parts, none of which holds another. What arrives is for the sender if it
/// acknowledges, for the receiver if it is data, and for the paths in any case.
pub struct Connection {
    queue_pair: QueuePair,
    paths: Paths,
    sender: Sender,
    receiver: Receiver,
    control: ControlQueue,
    events: VecDeque<Event>,
    counters: Counters,
    /// How long a message had waited when data was diverted.
    stalled: Option<Nanos>,
    /// When the primary path last proved to pass packets of full length, after this was doubted.
    carried_at: Nanos,
    /// The alternate path, if the latest data came over it: the peer waits for answers there.
    answer_by: Option<PathId>,
    /// The packet that comes next over this path was marked on its way.
    marked: Option<PathId>,
    /// Whether data goes by streams.
    has_streams: bool,
    /// A stream that carries nothing although its path works: it is to be opened again.
    stale_stream: Option<PathId>,
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
            queue_pair: QueuePair::new(config.number),
            paths: Paths::new(config.number, config.paths),
            sender: Sender::default(),
            receiver: Receiver::default(),
            control: ControlQueue::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            stalled: None,
            carried_at: 0,
            answer_by: None,
            marked: None,
            has_streams: false,
            stale_stream: None,
        }
    }

    /// The number of the queue pair.
    pub fn number(&self) -> u32 {
        self.queue_pair.number()
    }

    /// The number of paths that both ends know.
    pub fn paths(&self) -> u8 {
        self.paths.iter().count() as u8
    }

    /// The number of the peer's queue pair, from RTR on.
    pub fn peer(&self) -> u32 {
        self.queue_pair.peer()
    }

    /// The state of the queue pair.
    pub fn state(&self) -> QpState {
        self.queue_pair.state()
    }

    /// The migration state.
    pub fn migration(&self) -> MigrationState {
        self.paths.migration()
    }

    /// The primary path.
    pub fn primary(&self) -> PathId {
        self.paths.primary()
    }

    /// The alternate path, if specified.
    pub fn alternate(&self) -> Option<PathId> {
        self.paths.alternate()
    }

    /// The number of migrations of both ends.
    pub fn epoch(&self) -> u32 {
        self.paths.epoch()
    }

    /// The counters of the connection.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether all messages have arrived.
    pub fn is_idle(&self) -> bool {
        self.sender.is_idle()
    }

    /// Whether nothing is left to be agreed with the peer: it knows which path is in use, and an
    /// alternate path is armed or not being loaded.
    pub fn is_settled(&self) -> bool {
        self.paths.is_settled()
    }

    /// Has what was requested wait until [`Connection::resume`]: the peer is not asked for an
    /// alternate path, and learns of a migration from messages only. With it, a driver of many
    /// connections sees to one after the other. A migration after a failure does not wait.
    pub fn hold(&mut self) {
        self.paths.hold(self.state().receives());
    }

    /// Resumes what [`Connection::hold`] suspended.
    pub fn resume(&mut self) {
        self.paths.hold(false);
    }

    /// Whether requests are suspended.
    pub fn is_held(&self) -> bool {
        self.paths.is_held()
    }

    /// The number of messages that have not arrived.
    pub fn waiting(&self) -> usize {
        self.sender.messages()
    }

    /// The latest round-trip time of a path; `None` if none was measured.
    pub fn round_trip(&self, path: PathId) -> Option<Nanos> {
        self.paths.get(path)?.trips().smoothed()
    }

    /// Sends a message; [`Event::Sent`] reports its arrival, and gives it back.
    pub fn send(&mut self, now: Nanos, id: u64, message: Vec<u8>) -> Result<(), Refusal> {
        if !matches!(self.state(), QpState::Rts | QpState::Sqd) {
            return Err(Refusal::State { state: self.state(), wanted: "RTS or SQD" });
        }
        self.sender.push(now, id, message);
        Ok(())
    }

    /// Takes a buffer for one message, as long as its capacity at most; [`Event::Received`] gives
    /// it back with the message in it.
    pub fn post_receive(&mut self, id: u64, buffer: Vec<u8>) -> Result<(), Refusal> {
        if matches!(self.state(), QpState::Reset | QpState::Error) {
            return Err(Refusal::State { state: self.state(), wanted: "INIT, RTR, RTS or SQD" });
        }
        if let Some(taken) = self.receiver.post(id, buffer) {
            self.on_taken(taken);
        }
        Ok(())
    }

    /// Whether a packet waits here for a receive. Where it came by a stream, the driver leaves the
    /// next ones in there.
    pub fn waits_for_receive(&self) -> bool {
        self.receiver.waits_for_receive()
    }

    /// Whether a receive is posted for the next message that begins.
    pub fn has_receive(&self) -> bool {
        self.receiver.has_receive()
    }

    /// Whether the driver can take data for a path; it can until it says otherwise.
    pub fn on_room(&mut self, path: PathId, room: bool) {
        if let Some(route) = self.paths.get_mut(path) {
            route.link.has_room = room;
        }
    }

    /// Whether queued packets of a path matter now; [`Connection::on_queue`] reports them.
    pub fn needs_queue_state(&self) -> bool {
        self.paths.is_suspected() || self.control.has_answer()
    }

    /// Whether packets, of any connection, wait at this end to leave by a path; none do until the
    /// driver says otherwise.
    pub fn on_queue(&mut self, path: PathId, queued: bool) {
        if let Some(route) = self.paths.get_mut(path) {
            route.link.queued_here = queued;
        }
    }

    /// Takes the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Breaks: everything that waits is given back.
    fn fail(&mut self, why: Why) {
        self.queue_pair.fail();
        self.stop();
        self.events.push_back(Event::Failed { why });
    }

    /// Gives back everything that waits.
    fn stop(&mut self) {
        let (sends, receives) = (self.sender.flush(), self.receiver.flush());
        self.events.extend(sends.into_iter().map(|id| Event::SendFlushed { id }));
        self.events.extend(receives.into_iter().map(|id| Event::ReceiveFlushed { id }));
        self.paths.stop();
        self.control.clear();
    }
}
