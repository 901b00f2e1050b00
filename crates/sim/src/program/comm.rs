//! The communicator of a rank in virtual time, and its transfers.

use std::cell::Cell;
use std::rc::Rc;

use laneway_core::{Clock, Comm, CommError, Message, Progress, Queue, Rank, Slot, Tag};

use super::LOOK_SECONDS;
use super::clock::SimClock;
use super::payload::{Data, Room};
use super::tickets::{Received, Ticket};
use super::turns::{Guard, Seat, State, Wait};
use crate::cluster::{Envelope, Label, Pattern};

/// Labels hold a communicator's context above its tags.
const TAG_BITS: u32 = Tag::BITS;

/// A communicator of one rank.
pub(super) struct SimComm<'t, 'a> {
    seat: Seat<'t, 'a>,
    /// The ranks of the world that belong to it, and which of them this is.
    members: Rc<[Rank]>,
    rank: Rank,
    context: u64,
    splits: Cell<u64>,
    clock: SimClock<'t, 'a>,
}

impl<'t, 'a> SimComm<'t, 'a> {
    /// The communicator of all ranks.
    pub fn world(seat: Seat<'t, 'a>) -> SimComm<'t, 'a> {
        let ranks = seat.any_state().cluster.hosts.len() as u32;
        SimComm::new(seat, (0..ranks).collect(), seat.rank(), 0)
    }

    fn new(seat: Seat<'t, 'a>, members: Rc<[Rank]>, rank: Rank, context: u64) -> SimComm<'t, 'a> {
        let clock = SimClock::new(seat);
        SimComm { seat, members, rank, context, splits: Cell::new(0), clock }
    }

    /// This rank's number in the world.
    fn me(&self) -> Rank {
        self.seat.rank()
    }

    fn member(&self, rank: Rank) -> Result<Rank, CommError> {
        let member = self.members.get(rank as usize).copied();
        member.ok_or_else(|| CommError::no_rank(rank, self.size()))
    }

    fn label(&self, tag: Tag) -> Label {
        self.context << TAG_BITS | Label::from(tag)
    }

    fn envelope(&self, to: Rank, tag: Tag) -> Result<Envelope, CommError> {
        Ok(Envelope { from: self.me(), to: self.member(to)?, label: self.label(tag) })
    }

    fn pattern(&self, from: Option<Rank>, tag: Option<Tag>) -> Result<Pattern, CommError> {
        let from = from.map(|from| self.member(from)).transpose()?;
        let mask = if tag.is_some() { Label::MAX } else { Label::MAX << TAG_BITS };
        Ok(Pattern { from, label: self.label(tag.unwrap_or(0)), mask })
    }

    /// A message in this communicator's own numbers.
    fn localised(&self, from: Rank, label: Label, len: u64) -> Message {
        // Most communicators have the ranks of the world in their order.
        let from = match self.members.get(from as usize) == Some(&from) {
            true => from,
            false => {
                let at = self.members.iter().position(|&member| member == from);
                at.unwrap_or(0) as Rank
            }
        };
        Message { from, tag: label as Tag, len }
    }

    /// # Safety
    /// The data must stay valid and unchanged until the ticket is done or its queue is given up.
    unsafe fn start_send(
        &self,
        state: &mut Guard<'_, '_>,
        envelope: Envelope,
        data: &[u8],
        ticket: Ticket,
    ) -> Result<(), CommError> {
        let now = state.cluster.now;
        let started = state.cluster.send(now, envelope, data.len() as u64, ticket);
        let (id, progress) = started.map_err(refused)?;
        let is_held = data.len() as u64 > self.seat.network().eager_bytes();
        // SAFETY: by this function's contract.
        unsafe { state.keep(id, data, is_held) };
        if progress == Progress::Done {
            state.tickets[self.me() as usize].complete(ticket, None);
        }
        state.settle();
        Ok(())
    }

    fn start_recv(
        &self,
        state: &mut Guard<'_, '_>,
        pattern: Pattern,
        room: u64,
        ticket: Ticket,
    ) -> Result<(), CommError> {
        let (now, me) = (state.cluster.now, self.me());
        state.cluster.recv(now, me, pattern, room, ticket).map_err(refused)?;
        state.settle();
        Ok(())
    }

    /// Waits for the one ticket of a queue that was opened for it.
    fn finish(
        &self,
        mut state: Guard<'t, 'a>,
        queue: usize,
        what: Wait,
    ) -> Result<Option<Received>, CommError> {
        let me = self.me();
        while !state.tickets[me as usize].has_done(queue) {
            state = self.seat.wait(state, what)?;
        }
        let mut received = None;
        let tickets = &mut state.tickets[me as usize];
        tickets.collect(queue, |_, message| received = message);
        tickets.close_queue(queue);
        Ok(received)
    }
}

fn refused(error: crate::error::SimError) -> CommError {
    CommError::Stuck { why: error.to_string() }
}

fn truncated(from: Rank, label: Label, sent: usize, room: usize) -> CommError {
    CommError::Truncated { from, tag: label as Tag, sent: sent as u64, room: room as u64 }
}

impl Comm for SimComm<'_, '_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.members.len() as u32
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("backend", format!("sim:{}", self.seat.network().name()))]
    }

    fn hosts(&self) -> Result<Vec<String>, CommError> {
        let state = self.seat.state()?;
        let name =
            |member: &Rank| self.seat.network().host_name(state.cluster.hosts[*member as usize]);
        Ok(self.members.iter().map(name).collect())
    }

    fn send(&self, to: Rank, tag: Tag, data: &[u8]) -> Result<(), CommError> {
        let envelope = self.envelope(to, tag)?;
        let mut state = self.seat.state()?;
        let tickets = &mut state.tickets[self.me() as usize];
        let queue = tickets.open_queue();
        let ticket = tickets.issue(queue, 0);
        // SAFETY: `data` is borrowed until the ticket is done; a run that ended before that reads
        // no buffers any more.
        unsafe { self.start_send(&mut state, envelope, data, ticket) }?;
        self.finish(state, queue, Wait::Send { to })?;
        Ok(())
    }

    fn recv(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        into: &mut [u8],
    ) -> Result<Message, CommError> {
        let pattern = self.pattern(from, tag)?;
        let mut state = self.seat.state()?;
        let tickets = &mut state.tickets[self.me() as usize];
        let queue = tickets.open_queue();
        let ticket = tickets.issue_recv(queue, 0, Room::new(into.as_mut_ptr(), into.len()));
        self.start_recv(&mut state, pattern, into.len() as u64, ticket)?;
        let received = self.finish(state, queue, Wait::Recv { from })?;
        let Some(Received { from, label, data }) = received else {
            return Err(CommError::Stuck { why: "a receive ended without a message".into() });
        };
        let message = self.localised(from, label, data.len() as u64);
        let Some(into) = into.get_mut(..data.len()) else {
            return Err(truncated(message.from, label, data.len(), into.len()));
        };
        if let Data::Bytes(data) = data {
            into.copy_from_slice(&data);
            self.seat.any_state().spare.give_back(data);
        }
        Ok(message)
    }

    fn probe(
        &self,
        from: Option<Rank>,
        tag: Option<Tag>,
        wait: bool,
    ) -> Result<Option<Message>, CommError> {
        let (pattern, me) = (self.pattern(from, tag)?, self.me());
        let mut looked = false;
        loop {
            let state = self.seat.state()?;
            if let Some(id) = state.cluster.matching.visible(me, pattern) {
                let message = &state.cluster.matching.messages[id as usize];
                let Envelope { from, label, .. } = message.envelope;
                return Ok(Some(self.localised(from, label, message.bytes)));
            }
            if wait {
                drop(self.seat.wait(state, Wait::Look)?);
            } else if looked {
                return Ok(None);
            } else {
                let until = state.cluster.now + LOOK_SECONDS;
                drop(state);
                self.seat.sleep(until)?;
                looked = true;
            }
        }
    }

    fn queue(&self) -> Box<dyn Queue + '_> {
        let number = self.seat.any_state().tickets[self.me() as usize].open_queue();
        Box::new(SimQueue { comm: self, number, into: Vec::new() })
    }

    fn split(
        &self,
        colour: Option<u32>,
        key: u32,
    ) -> Result<Option<Box<dyn Comm + '_>>, CommError> {
        let all = self.members.len();
        let which = (self.context, self.splits.replace(self.splits.get() + 1));
        let mut state = self.seat.state()?;
        let regroup = state.regroups.entry(which).or_default();
        regroup.wishes.insert(self.rank, (colour, key));
        if regroup.wishes.len() == all {
            let first = state.contexts;
            state.contexts += all as u64;
            if let Some(regroup) = state.regroups.get_mut(&which) {
                regroup.context = Some(first);
            }
            // A rank that waits for something else looks in vain, once.
            state.awake_all();
        }
        let answered = |state: &Guard<'_, '_>| {
            state.regroups.get(&which).is_some_and(|regroup| regroup.context.is_some())
        };
        while !answered(&state) {
            state = self.seat.wait(state, Wait::Split)?;
        }
        let Some(regroup) = state.regroups.get_mut(&which) else { return Ok(None) };
        let wishes = regroup.wishes.clone();
        let first = regroup.context.unwrap_or_default();
        regroup.taken += 1;
        if regroup.taken == all {
            state.regroups.remove(&which);
        }
        drop(state);
        let Some(colour) = colour else { return Ok(None) };
        let same = wishes.iter().filter(|(_, (other, _))| *other == Some(colour));
        let mut same: Vec<(u32, Rank)> = same.map(|(rank, (_, key))| (*key, *rank)).collect();
        same.sort_unstable();
        // A colour's context is numbered after the first rank that wished for it.
        let first_rank = same.iter().map(|(_, rank)| *rank).min().unwrap_or(0);
        let rank = same.iter().position(|(_, rank)| *rank == self.rank).unwrap_or(0);
        let members = same.iter().map(|(_, rank)| self.members[*rank as usize]).collect();
        let context = first + u64::from(first_rank);
        Ok(Some(Box::new(SimComm::new(self.seat, members, rank as Rank, context))))
    }

    fn abort(&self, code: i32) -> ! {
        self.seat.abort(code)
    }
}

/// Non-blocking transfers of one rank.
struct SimQueue<'c, 't, 'a> {
    comm: &'c SimComm<'t, 'a>,
    number: usize,
    /// For each slot under way where its bytes go.
    into: Vec<(*mut u8, usize)>,
}

impl SimQueue<'_, '_, '_> {
    fn issue(&self, state: &mut Guard<'_, '_>, slot: Slot) -> Ticket {
        state.tickets[self.comm.me() as usize].issue(self.number, slot)
    }

    /// Reports what is done and brings the bytes where they belong.
    fn collect(
        &mut self,
        state: &mut Guard<'_, '_>,
        done: &mut Vec<Slot>,
    ) -> Result<(), CommError> {
        let mut wrong = None;
        let (into, State { tickets, spare, .. }) = (&self.into, &mut **state);
        tickets[self.comm.me() as usize].collect(self.number, |slot, received| {
            done.push(slot);
            let Some(Received { from, label, data }) = received else { return };
            let (target, len) = into[slot as usize];
            if data.len() != len {
                let from = self.comm.localised(from, label, 0).from;
                wrong.get_or_insert(truncated(from, label, data.len(), len));
                return;
            }
            let Data::Bytes(data) = data else { return };
            // SAFETY: the starter of the receive keeps `len` bytes at `target` valid and
            // untouched until its slot is reported, which happens when this returns.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target, len) };
            spare.give_back(data);
        });
        wrong.map_or(Ok(()), Err)
    }
}

impl Queue for SimQueue<'_, '_, '_> {
    unsafe fn send(
        &mut self,
        slot: Slot,
        to: Rank,
        tag: Tag,
        data: *const u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let envelope = self.comm.envelope(to, tag)?;
        // SAFETY: the caller keeps `len` bytes at `data` valid and unchanged until the slot is
        // reported.
        let data = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } };
        let mut state = self.comm.seat.state()?;
        let ticket = self.issue(&mut state, slot);
        // SAFETY: as above, and where the queue is dropped before, it is given up.
        unsafe { self.comm.start_send(&mut state, envelope, data, ticket) }?;
        Ok(Progress::Pending)
    }

    unsafe fn recv(
        &mut self,
        slot: Slot,
        from: Rank,
        tag: Tag,
        into: *mut u8,
        len: usize,
    ) -> Result<Progress, CommError> {
        let pattern = self.comm.pattern(Some(from), Some(tag))?;
        if self.into.len() <= slot as usize {
            self.into.resize(slot as usize + 1, (std::ptr::null_mut(), 0));
        }
        self.into[slot as usize] = (into, len);
        let mut state = self.comm.seat.state()?;
        let room = Room::new(into, len);
        let ticket = state.tickets[self.comm.me() as usize].issue_recv(self.number, slot, room);
        self.comm.start_recv(&mut state, pattern, len as u64, ticket)?;
        Ok(Progress::Pending)
    }

    fn test(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (seat, me) = (self.comm.seat, self.comm.me());
        let mut state = seat.state()?;
        let tickets = &state.tickets[me as usize];
        if !tickets.has_done(self.number) && tickets.outstanding(self.number) > 0 {
            let until = state.cluster.now + LOOK_SECONDS;
            drop(state);
            seat.sleep(until)?;
            state = seat.state()?;
        }
        self.collect(&mut state, done)
    }

    fn wait(&mut self, done: &mut Vec<Slot>) -> Result<(), CommError> {
        let (seat, me) = (self.comm.seat, self.comm.me());
        let mut state = seat.state()?;
        loop {
            let tickets = &state.tickets[me as usize];
            let outstanding = tickets.outstanding(self.number);
            if tickets.has_done(self.number) || outstanding == 0 {
                return self.collect(&mut state, done);
            }
            state = seat.wait(state, Wait::Transfers(outstanding))?;
        }
    }
}

impl Drop for SimQueue<'_, '_, '_> {
    fn drop(&mut self) {
        let mut state = self.comm.seat.any_state();
        state.give_up(self.comm.me(), self.number);
    }
}
