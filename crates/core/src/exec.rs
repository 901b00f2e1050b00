//! Executes a schedule over a communicator: starts transfers, moves bytes, waits.
//!
//! One [`Exec`] is a persistent collective: run it again and again. All its storage is kept, so
//! from the second run on nothing is allocated.
//!
//! Any schedule may be given. One that breaks the rules of [`crate::schedule`] gets an error or
//! wrong bytes, and touches nothing but its buffers, nor these when a run has returned.

use crate::buffers::Buffers;
use crate::comm::{Comm, CommError, Meanwhile, Queue, Tag, USER_TAGS};
use crate::in_flight::Places;
use crate::reduce::Reduction;
use crate::run::{At, Port, Progress, Run, Slot};
use crate::schedule::{CHANNELS, Chan, Rank, Schedule, Span, Step};

struct CommPort<'a> {
    queue: Box<dyn Queue + 'a>,
    buffers: Buffers<'a>,
    reduction: Option<Reduction>,
    tag: Tag,
    rank: Rank,
    /// Where receives write.
    written: Places,
    /// Where sends to this rank itself read.
    read: Places,
}

fn refuse<T>(what: String) -> Result<T, CommError> {
    Err(CommError::Argument { what })
}

impl CommPort<'_> {
    #[inline]
    fn tag(&self, chan: Chan) -> Result<Tag, CommError> {
        if chan < CHANNELS {
            return Ok(self.tag | chan);
        }
        refuse(format!("channel {chan}; a schedule has channels 0 to {}", CHANNELS - 1))
    }

    #[inline]
    fn send(
        &mut self,
        slot: Slot,
        to: Rank,
        chan: Chan,
        span: Span,
    ) -> Result<Progress, CommError> {
        let (tag, data) = (self.tag(chan)?, self.buffers.at(span)?);
        let own = to == self.rank;
        if own && self.written.touch(data, span.len) {
            return refuse(format!("{span:?} is sent to this rank while a receive writes there"));
        }
        // SAFETY: the span lies within buffers borrowed for 'a. No reference to it is made before
        // the slot is done: steps that need one ask `written`.
        let progress = unsafe { self.queue.send(slot, to, tag, data, span.len as usize)? };
        if own && progress == Progress::Pending {
            self.read.hold(slot, data, span.len);
        }
        Ok(progress)
    }

    #[inline]
    fn recv(
        &mut self,
        slot: Slot,
        from: Rank,
        chan: Chan,
        span: Span,
    ) -> Result<Progress, CommError> {
        let (tag, into) = (self.tag(chan)?, self.buffers.at_mut(span)?);
        if from == self.rank && self.read.touch(into, span.len) {
            return refuse(format!("{span:?} is received into while this rank sends it to itself"));
        }
        // SAFETY: as in `send`.
        let progress = unsafe { self.queue.recv(slot, from, tag, into, span.len as usize)? };
        if progress == Progress::Pending {
            self.written.hold(slot, into, span.len);
        }
        Ok(progress)
    }

    /// Where two spans of one length begin, while no receive writes to either.
    fn settled(&self, from: Span, to: Span) -> Result<(*mut u8, *mut u8), CommError> {
        let (source, target) = (self.buffers.at(from)?, self.buffers.at_mut(to)?);
        if from.len != to.len {
            return refuse(format!("{from:?} and {to:?} differ in length"));
        }
        if self.written.touch(source, from.len) || self.written.touch(target, to.len) {
            return refuse(format!("{from:?} or {to:?} is used while a receive writes there"));
        }
        Ok((source, target))
    }

    fn reduce(&self, from: Span, into: Span, left: bool) -> Result<(), CommError> {
        let Some(reduction) = &self.reduction else {
            return refuse("this call was given no reduction".into());
        };
        let ((source, target), len) = (self.settled(from, into)?, from.len);
        let (a, b) = (source as u64, target as u64);
        if a < b + len && b < a + len {
            return refuse(format!("cannot reduce {from:?} into {into:?}"));
        }
        // SAFETY: both lie within their buffers, borrowed for 'a, were just seen not to overlap,
        // and the borrow excludes any other writer.
        let (source, target) = unsafe {
            (
                std::slice::from_raw_parts(source, len as usize),
                std::slice::from_raw_parts_mut(target, len as usize),
            )
        };
        reduction.apply(source, target, left);
        Ok(())
    }
}

impl Port for CommPort<'_> {
    type Error = CommError;

    #[inline]
    fn start(&mut self, at: At, step: &Step) -> Result<Progress, CommError> {
        match *step {
            Step::Send { to, chan, span } => self.send(at.slot, to, chan, span),
            Step::Recv { from, chan, span } => self.recv(at.slot, from, chan, span),
            Step::Copy { from, to } => {
                let (source, target) = self.settled(from, to)?;
                // SAFETY: both spans lie within their buffers; `copy` allows them to overlap.
                unsafe { std::ptr::copy(source, target, from.len as usize) };
                Ok(Progress::Done)
            }
            Step::Reduce { from, into, left } => {
                self.reduce(from, into, left)?;
                Ok(Progress::Done)
            }
            Step::AtMost { .. } | Step::After { .. } => Ok(Progress::Done),
        }
    }
}

/// The queue of a collective that was given up.
struct GivenUp;

impl GivenUp {
    fn refuse<T>(&self) -> Result<T, CommError> {
        refuse("this collective was given up before it had finished".into())
    }
}

impl Queue for GivenUp {
    unsafe fn send(
        &mut self,
        _slot: Slot,
        _to: Rank,
        _tag: Tag,
        _data: *const u8,
        _len: usize,
    ) -> Result<Progress, CommError> {
        self.refuse()
    }

    unsafe fn recv(
        &mut self,
        _slot: Slot,
        _from: Rank,
        _tag: Tag,
        _into: *mut u8,
        _len: usize,
    ) -> Result<Progress, CommError> {
        self.refuse()
    }

    fn test(&mut self, _done: &mut Vec<Slot>) -> Result<(), CommError> {
        self.refuse()
    }

    fn wait(&mut self, _done: &mut Vec<Slot>) -> Result<(), CommError> {
        self.refuse()
    }
}

/// A schedule bound to a communicator and buffers.
pub struct Exec<'a> {
    run: Run<'a, dyn Schedule + 'a>,
    port: CommPort<'a>,
    done: Vec<Slot>,
    /// Begun, and neither finished nor given up.
    under_way: bool,
}

impl<'a> Exec<'a> {
    /// `sequence` distinguishes concurrent collectives of one communicator; it is the same on all
    /// ranks.
    pub fn new(
        comm: &'a dyn Comm,
        schedule: &'a dyn Schedule,
        buffers: Buffers<'a>,
        reduction: Option<Reduction>,
        sequence: u16,
    ) -> Result<Exec<'a>, CommError> {
        if schedule.ranks() != comm.size() {
            return refuse(format!("a schedule for {} ranks on {}", schedule.ranks(), comm.size()));
        }
        let tmp = schedule.tmp_len(comm.rank());
        if buffers.tmp.len < tmp {
            return refuse(format!("scratch of {} bytes where {tmp} are needed", buffers.tmp.len));
        }
        let tag = USER_TAGS | ((sequence % (USER_TAGS / CHANNELS)) * CHANNELS);
        let port = CommPort {
            queue: comm.queue(),
            buffers,
            reduction,
            tag,
            rank: comm.rank(),
            written: Places::default(),
            read: Places::default(),
        };
        let run = Run::new(schedule, comm.rank());
        Ok(Exec { run, port, done: Vec::new(), under_way: false })
    }

    /// Takes the In and Out of other buffers for its next runs and gives its own in exchange; Tmp
    /// stays. A collective that was begun must have finished.
    pub fn exchange(&mut self, buffers: &mut Buffers<'a>) -> Result<(), CommError> {
        if self.run.outstanding() > 0 {
            return refuse("buffers were exchanged before a collective had finished".into());
        }
        std::mem::swap(&mut self.port.buffers.input, &mut buffers.input);
        std::mem::swap(&mut self.port.buffers.output, &mut buffers.output);
        Ok(())
    }

    /// Starts and waits.
    pub fn run(&mut self) -> Result<(), CommError> {
        self.check_idle()?;
        let lent = Lent(self);
        lent.0.begin()?;
        lent.0.wait()
    }

    /// Starts, does `meanwhile`, and waits. With an error of either, and when something panics, the
    /// collective is given up: what it had lent is its caller's again.
    pub fn run_meanwhile(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), CommError> {
        self.check_idle()?;
        let lent = Lent(self);
        lent.0.begin()?;
        meanwhile(&mut || lent.0.test())?;
        lent.0.wait()
    }

    /// Starts the collective; an earlier start must have finished.
    ///
    /// # Safety
    /// Until the collective has finished, this value must not be leaked, as [`std::mem::forget`]
    /// does: only its drop takes the buffers back from transfers under way.
    pub unsafe fn start(&mut self) -> Result<(), CommError> {
        self.check_idle()?;
        self.begin()
    }

    fn check_idle(&self) -> Result<(), CommError> {
        if self.under_way || self.run.outstanding() > 0 {
            return refuse("a collective was started again before it had finished".into());
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), CommError> {
        self.under_way = true;
        self.run.restart();
        self.advance()?;
        Ok(())
    }

    /// Goes on with what can go on; true when the collective has finished here, or was not begun.
    pub fn test(&mut self) -> Result<bool, CommError> {
        if !self.under_way {
            return Ok(true);
        }
        self.done.clear();
        self.port.queue.test(&mut self.done)?;
        self.settle()
    }

    /// Waits until the collective has finished on this rank.
    pub fn wait(&mut self) -> Result<(), CommError> {
        while self.under_way {
            self.done.clear();
            if self.run.issued() {
                self.port.queue.wait_all(&mut self.done)?;
            } else {
                self.port.queue.wait(&mut self.done)?;
            }
            self.settle()?;
        }
        Ok(())
    }

    #[inline]
    fn settle(&mut self) -> Result<bool, CommError> {
        for &slot in &self.done {
            self.port.written.release(slot);
            self.port.read.release(slot);
            self.run.done(slot);
        }
        if self.run.finished() {
            self.under_way = false;
            return Ok(true);
        }
        self.advance()
    }

    #[inline]
    fn advance(&mut self) -> Result<bool, CommError> {
        let finished = self.run.poll(&mut self.port)?;
        if !finished && self.run.outstanding() == 0 {
            return Err(self.stuck());
        }
        self.under_way = !finished;
        Ok(finished)
    }

    /// No transfer is under way that could open a gate.
    #[cold]
    fn stuck(&self) -> CommError {
        let blocked = |(lane, round, step): (u32, u64, Option<&Step>)| {
            let gate = match step {
                Some(Step::After { lane, round }) => {
                    format!("waits until round {round} of lane {lane} is complete")
                }
                other => format!("stands at {other:?}"),
            };
            format!("lane {lane} {gate}, in its round {round}")
        };
        let lanes: Vec<String> = self.run.blocked().map(blocked).collect();
        let rank = self.port.rank;
        let why = format!("the schedule of rank {rank} can never go on: {}", lanes.join("; "));
        CommError::Stuck { why }
    }
}

/// An executor whose buffers are lent for the time of one call.
struct Lent<'e, 'a>(&'e mut Exec<'a>);

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        if std::mem::take(&mut self.0.under_way) {
            // Dropping the queue gives up what it has under way.
            self.0.port.queue = Box::new(GivenUp);
        }
    }
}
