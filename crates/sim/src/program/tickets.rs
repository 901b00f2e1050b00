//! What a rank has started and not yet heard of: sends, receives and sleeps, each with a ticket.

use laneway_core::{Rank, Slot};

use super::payload::{Data, Room};
use crate::cluster::Label;

/// Names what a rank has started; small numbers that are used again.
pub(super) type Ticket = Slot;

/// A message that has come.
#[derive(Debug)]
pub(super) struct Received {
    pub from: Rank,
    pub label: Label,
    /// As sent, also where the receive has less room.
    pub data: Data,
}

#[derive(Debug, Default)]
struct Entry {
    /// Whose set it belongs to, and under which name.
    queue: usize,
    slot: Slot,
    done: bool,
    received: Option<Received>,
    /// Where the bytes of a receive go, until it is done or given up.
    room: Option<Room>,
}

/// The tickets of one rank. A queue is a set of them whose ends are reported together.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    entries: Vec<Entry>,
    free: Vec<Ticket>,
    /// For each queue the tickets that are done, and how many are not.
    queues: Vec<(Vec<Ticket>, usize)>,
    free_queues: Vec<usize>,
}

impl Tickets {
    pub fn open_queue(&mut self) -> usize {
        self.free_queues.pop().unwrap_or_else(|| {
            self.queues.push((Vec::new(), 0));
            self.queues.len() - 1
        })
    }

    /// The queue is given up. With transfers outstanding its number is not used again, and what
    /// they receive goes nowhere.
    pub fn close_queue(&mut self, queue: usize) {
        let (done, outstanding) = &mut self.queues[queue];
        self.free.append(done);
        match *outstanding {
            0 => self.free_queues.push(queue),
            _ => {
                let own = self.entries.iter_mut().filter(|entry| entry.queue == queue);
                own.for_each(|entry| entry.room = None);
            }
        }
    }

    /// The queue of a ticket.
    pub fn queue_of(&self, ticket: Ticket) -> usize {
        self.entries[ticket as usize].queue
    }

    /// A ticket of a receive, whose bytes go there.
    pub fn issue_recv(&mut self, queue: usize, slot: Slot, room: Room) -> Ticket {
        let ticket = self.issue(queue, slot);
        self.entries[ticket as usize].room = Some(room);
        ticket
    }

    /// Where the bytes of a receive go.
    pub fn room(&self, ticket: Ticket) -> Option<Room> {
        self.entries[ticket as usize].room
    }

    pub fn issue(&mut self, queue: usize, slot: Slot) -> Ticket {
        let ticket = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            (self.entries.len() - 1) as Ticket
        });
        self.entries[ticket as usize] = Entry { queue, slot, ..Entry::default() };
        self.queues[queue].1 += 1;
        ticket
    }

    pub fn complete(&mut self, ticket: Ticket, received: Option<Received>) {
        let entry = &mut self.entries[ticket as usize];
        if std::mem::replace(&mut entry.done, true) {
            return;
        }
        (entry.received, entry.room) = (received, None);
        let (done, outstanding) = &mut self.queues[entry.queue];
        done.push(ticket);
        *outstanding -= 1;
    }

    pub fn outstanding(&self, queue: usize) -> usize {
        self.queues[queue].1
    }

    pub fn has_done(&self, queue: usize) -> bool {
        !self.queues[queue].0.is_empty()
    }

    /// Takes the tickets of a queue that are done.
    pub fn collect(&mut self, queue: usize, mut each: impl FnMut(Slot, Option<Received>)) {
        let mut done = std::mem::take(&mut self.queues[queue].0);
        for &ticket in &done {
            let entry = &mut self.entries[ticket as usize];
            each(entry.slot, entry.received.take());
        }
        self.free.append(&mut done);
        self.queues[queue].0 = done;
    }
}
