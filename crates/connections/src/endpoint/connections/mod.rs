//! All connections of an endpoint: their places, which of them have something to do, and when.
//!
//! It sends nothing: the endpoint asks which connections have something to do, and flushes them.

mod due;
mod end;
mod places;

use laneway_path::{Counters, Nanos};

use super::ConnectionId;
use crate::driver::turns::{Turned, Turns};
use crate::error::NetError;
use due::Due;
pub(super) use end::{Agreed, End};
use places::{Places, index};

#[derive(Default)]
pub(super) struct Connections {
    places: Places,
    /// How many connections wait for something to arrive at their peers.
    waiting: usize,
    /// Places of those that have something to do.
    dirty: Vec<u32>,
    /// Those of which something was requested that waits for its turn.
    turns: Turns,
    /// When a connection wants to be looked at.
    due: Due,
    /// What connections have counted that are gone.
    past: Counters,
}

impl Connections {
    /// The number of a new connection.
    pub fn reserve(&mut self) -> Result<u32, NetError> {
        self.places.reserve()
    }

    /// A number is free again: the connection that had it, if it had begun.
    pub fn release(&mut self, number: u32) -> Option<End> {
        let end = self.places.release(number)?;
        self.past.add(end.connection.counters());
        self.waiting -= usize::from(end.waits);
        self.due.remove(end.looked_at, index(number));
        Some(end)
    }

    /// A connection begins, and has something to do.
    pub fn insert(&mut self, number: u32, end: End) {
        self.places.put(number, end);
        self.mark(number);
    }

    pub fn get(&self, number: u32) -> Option<&End> {
        self.places.get(number)
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut End> {
        self.places.get_mut(number)
    }

    /// The connection of this number, for a request of the program.
    pub fn find(&mut self, id: ConnectionId) -> Result<&mut End, NetError> {
        self.get_mut(id.0).ok_or(NetError::UnknownConnection { number: id.0 })
    }

    /// The connection at a place of [`Connections::take_dirty`].
    pub fn at(&mut self, index: u32) -> Option<&mut End> {
        self.places.at_mut(index)
    }

    pub fn iter(&self) -> impl Iterator<Item = &End> {
        self.places.iter()
    }

    pub fn ids(&self) -> Vec<ConnectionId> {
        self.iter().map(|end| ConnectionId(end.connection.number())).collect()
    }

    /// What all connections have counted, also those that are gone.
    pub fn totals(&self) -> Counters {
        let mut totals = self.past;
        self.iter().for_each(|end| totals.add(end.connection.counters()));
        totals
    }
}

/// Connections that have something to do now.
impl Connections {
    /// A connection has something to do.
    pub fn mark(&mut self, number: u32) {
        self.mark_at(index(number));
    }

    /// The connection at a place has something to do.
    pub fn mark_at(&mut self, index: u32) {
        let Some(end) = self.places.at_mut(index) else { return };
        if !std::mem::replace(&mut end.is_dirty, true) {
            self.dirty.push(index);
        }
    }

    pub fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The places of those that have something to do.
    pub fn dirty(&self) -> &[u32] {
        &self.dirty
    }

    /// Takes them; [`Connections::put_dirty`] gives the storage back.
    pub fn take_dirty(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dirty)
    }

    /// What became dirty meanwhile waits for the next time.
    pub fn put_dirty(&mut self, mut storage: Vec<u32>) {
        storage.clear();
        storage.append(&mut self.dirty);
        self.dirty = storage;
    }

    /// A connection has done what it had to do, and wants to be looked at again at this time.
    pub fn on_flushed(&mut self, index: u32, wants: Option<Nanos>) {
        let Some(end) = self.places.at_mut(index) else { return };
        let waits = !end.connection.is_idle();
        if std::mem::replace(&mut end.waits, waits) != waits {
            self.waiting = if waits { self.waiting + 1 } else { self.waiting - 1 };
        }
        if wants.is_some_and(|at| at < end.looked_at) {
            self.due.enter(end, index, wants);
        }
    }

    /// Whether any waits for something to arrive at its peer.
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }
}

/// Connections whose time comes.
impl Connections {
    /// Whether the time of one may have come.
    pub fn may_be_due(&self, now: Nanos) -> bool {
        self.due.first().is_some_and(|(at, _)| at <= now)
    }

    /// The first time at which a connection wants to be looked at, by what it wants now.
    pub fn first_due(&mut self) -> Option<Nanos> {
        loop {
            let (at, index) = self.due.first()?;
            let end = self.places.at_mut(index)?;
            let wants = end.next_timeout();
            if wants.is_some_and(|wants| wants <= at) {
                return Some(at);
            }
            self.due.enter(end, index, wants);
        }
    }

    /// Those whose time has come have something to do.
    pub fn mark_due(&mut self, now: Nanos) {
        while let Some((at, index)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.due.remove(at, index);
            let Some(end) = self.places.at_mut(index) else { continue };
            end.looked_at = Nanos::MAX;
            self.mark_at(index);
        }
    }
}

/// Requests for many connections, carried out in turns beside their messages.
impl Connections {
    /// What follows from a request is seen to in turn; the messages of the connection go on.
    pub fn wait_for_turn(&mut self, id: ConnectionId) {
        let index = index(id.0);
        let Some(end) = self.places.at_mut(index) else { return };
        if !end.connection.is_held() {
            end.connection.hold();
            self.turns.push(index);
        }
        if !end.connection.is_idle() {
            self.mark_at(index);
        }
    }

    /// When the next turn can begin; `None` if no connection waits for one.
    pub fn next_turn(&mut self, now: Nanos) -> Option<Nanos> {
        self.turns.next_at(now, &self.places)
    }

    /// Whether a turn goes before what has arrived.
    pub fn is_turn_overdue(&self, now: Nanos) -> bool {
        self.turns.is_overdue(now)
    }

    /// A message was sent: turns leave it time.
    pub fn on_message(&mut self, now: Nanos) {
        self.turns.on_message(now);
    }

    /// The connection whose turn it is has something to do, behind those that had before.
    pub fn begin_turn(&mut self, now: Nanos) {
        let Some(index) = self.turns.begin(now, &self.places) else { return };
        if let Some(end) = self.places.at_mut(index) {
            end.connection.resume();
            self.mark_at(index);
        }
    }
}

impl Turned for Places {
    fn waits(&self, place: u32) -> bool {
        self.at(place).is_some_and(|end| end.connection.is_held())
    }

    fn is_settled(&self, place: u32) -> bool {
        self.at(place).is_none_or(|end| end.connection.is_settled())
    }
}
