//! Executes a schedule over a communicator: starts transfers, moves bytes, waits.
//!
//! One [`Exec`] is a persistent collective: start it, test it or wait for it, start it again. All
//! its storage is kept, so from the second run on nothing is allocated.

use std::marker::PhantomData;

use crate::comm::{Comm, CommError, Meanwhile, Queue, Tag, USER_TAGS};
use crate::reduce::Reduction;
use crate::run::{At, Port, Progress, Run, Slot};
use crate::schedule::{Buf, CHANNELS, Chan, Schedule, Span, Step};
use crate::shape::Place;

#[derive(Clone, Copy)]
struct Region {
    start: *mut u8,
    len: u64,
}

impl Region {
    fn of(bytes: &mut [u8]) -> Region {
        Region { start: bytes.as_mut_ptr(), len: bytes.len() as u64 }
    }

    fn part(self, off: u64, len: u64) -> Region {
        assert!(off.checked_add(len).is_some_and(|end| end <= self.len), "a part lies within");
        // SAFETY: the offset was just seen to lie within the region.
        Region { start: unsafe { self.start.add(off as usize) }, len }
    }
}

/// A rank's three buffers for one collective, borrowed for as long as transfers may touch them.
pub struct Buffers<'a> {
    input: Region,
    output: Region,
    tmp: Region,
    life: PhantomData<&'a mut [u8]>,
}

impl<'a> Buffers<'a> {
    pub fn new(input: &'a [u8], output: &'a mut [u8], tmp: &'a mut [u8]) -> Self {
        // In is never written while it lies apart from Out: `Port::start` refuses it.
        let input = Region { start: input.as_ptr().cast_mut(), len: input.len() as u64 };
        Buffers { input, output: Region::of(output), tmp: Region::of(tmp), life: PhantomData }
    }

    /// In and Out in one memory, as [`crate::Shape::place`] lays them; `other` is the length of the
    /// one that lies within.
    ///
    /// # Panics
    /// Where the inner buffer does not lie within `memory`.
    pub fn in_place(place: Place, memory: &'a mut [u8], other: u64, tmp: &'a mut [u8]) -> Self {
        let whole = Region::of(memory);
        let (input, output) = match place {
            Place::Apart => (Region { start: whole.start, len: 0 }, whole),
            Place::InWithinOut(at) => (whole.part(at, other), whole),
            Place::OutWithinIn(at) => (whole, whole.part(at, other)),
        };
        Buffers { input, output, tmp: Region::of(tmp), life: PhantomData }
    }

    fn at(&self, span: Span) -> Result<*mut u8, CommError> {
        let region = match span.buf {
            Buf::In => self.input,
            Buf::Out => self.output,
            Buf::Tmp => self.tmp,
        };
        match span.off.checked_add(span.len) {
            // SAFETY: the span was just seen to lie within the region.
            Some(end) if end <= region.len => Ok(unsafe { region.start.add(span.off as usize) }),
            _ => Err(CommError::Argument {
                what: format!("{span:?} lies outside a buffer of {} bytes", region.len),
            }),
        }
    }

    /// Like [`Buffers::at`], for a span that is written to.
    fn at_mut(&self, span: Span) -> Result<*mut u8, CommError> {
        if span.buf == Buf::In && !self.shares() {
            return Err(CommError::Argument { what: format!("{span:?} is not to be written") });
        }
        self.at(span)
    }

    fn shares(&self) -> bool {
        let (a, b) = (self.input.start as u64, self.output.start as u64);
        a < b + self.output.len && b < a + self.input.len
    }
}

struct CommPort<'a> {
    queue: Box<dyn Queue + 'a>,
    buffers: Buffers<'a>,
    reduction: Option<Reduction>,
    tag: Tag,
}

impl CommPort<'_> {
    fn tag(&self, chan: Chan) -> Tag {
        debug_assert!(chan < CHANNELS);
        self.tag | chan
    }

    fn reduce(&self, from: Span, into: Span, left: bool) -> Result<(), CommError> {
        let Some(reduction) = &self.reduction else {
            return Err(CommError::Argument { what: "this call was given no reduction".into() });
        };
        let (source, target, len) = (self.buffers.at(from)?, self.buffers.at_mut(into)?, from.len);
        let (a, b) = (source as u64, target as u64);
        if from.len != into.len || (a < b + len && b < a + len) {
            return Err(CommError::Argument {
                what: format!("cannot reduce {from:?} into {into:?}"),
            });
        }
        // SAFETY: both lie within their buffers, borrowed for 'a, and were just seen not to
        // overlap.
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
            Step::Send { to, chan, span } => {
                let (tag, data) = (self.tag(chan), self.buffers.at(span)?);
                // SAFETY: the span lies within buffers borrowed for 'a, which the queue shares; the
                // schedule leaves it unchanged while it is in flight (rule 4, proved by the
                // checker).
                unsafe { self.queue.send(at.slot, to, tag, data, span.len as usize) }
            }
            Step::Recv { from, chan, span } => {
                let (tag, into) = (self.tag(chan), self.buffers.at_mut(span)?);
                // SAFETY: as above; nothing else touches the span while it is in flight.
                unsafe { self.queue.recv(at.slot, from, tag, into, span.len as usize) }
            }
            Step::Copy { from, to } => {
                let (source, target) = (self.buffers.at(from)?, self.buffers.at_mut(to)?);
                if from.len != to.len {
                    return Err(CommError::Argument {
                        what: format!("copy of {from:?} to {to:?}"),
                    });
                }
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

/// A schedule bound to a communicator and buffers.
pub struct Exec<'a> {
    run: Run<'a, dyn Schedule + 'a>,
    port: CommPort<'a>,
    done: Vec<Slot>,
}

impl<'a> Exec<'a> {
    /// `sequence` tells apart collectives of one communicator that are under way at the same time;
    /// all ranks give the same.
    pub fn new(
        comm: &'a dyn Comm,
        schedule: &'a dyn Schedule,
        buffers: Buffers<'a>,
        reduction: Option<Reduction>,
        sequence: u16,
    ) -> Result<Exec<'a>, CommError> {
        let refuse = |what: String| Err(CommError::Argument { what });
        if schedule.ranks() != comm.size() {
            return refuse(format!("a schedule for {} ranks on {}", schedule.ranks(), comm.size()));
        }
        let tmp = schedule.tmp_len(comm.rank());
        if buffers.tmp.len < tmp {
            return refuse(format!("scratch of {} bytes where {tmp} are needed", buffers.tmp.len));
        }
        let tag = USER_TAGS | ((sequence % (USER_TAGS / CHANNELS)) * CHANNELS);
        let port = CommPort { queue: comm.queue(), buffers, reduction, tag };
        Ok(Exec { run: Run::new(schedule, comm.rank()), port, done: Vec::new() })
    }

    /// Takes the In and Out of other buffers for its next runs and gives its own in exchange; Tmp
    /// stays. A collective that was begun must have finished.
    pub fn exchange(&mut self, buffers: &mut Buffers<'a>) -> Result<(), CommError> {
        if self.run.outstanding() > 0 {
            let what = "buffers were exchanged before a collective had finished".into();
            return Err(CommError::Argument { what });
        }
        std::mem::swap(&mut self.port.buffers.input, &mut buffers.input);
        std::mem::swap(&mut self.port.buffers.output, &mut buffers.output);
        Ok(())
    }

    /// Begins the collective; one that was begun before must have finished.
    pub fn start(&mut self) -> Result<(), CommError> {
        if self.run.outstanding() > 0 {
            let what = "a collective was started again before it had finished".into();
            return Err(CommError::Argument { what });
        }
        self.run.restart();
        self.run.poll(&mut self.port)?;
        Ok(())
    }

    /// Goes on with what can go on; true when the collective has finished here.
    pub fn test(&mut self) -> Result<bool, CommError> {
        if self.run.finished() {
            return Ok(true);
        }
        self.done.clear();
        self.port.queue.test(&mut self.done)?;
        self.settle()
    }

    /// Returns when the collective has finished here.
    pub fn wait(&mut self) -> Result<(), CommError> {
        while !self.run.finished() {
            self.done.clear();
            self.port.queue.wait(&mut self.done)?;
            self.settle()?;
        }
        Ok(())
    }

    /// Starts and waits.
    pub fn run(&mut self) -> Result<(), CommError> {
        self.start()?;
        self.wait()
    }

    /// Starts, does `meanwhile`, and waits.
    pub fn run_meanwhile(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), CommError> {
        self.start()?;
        meanwhile(&mut || self.test())?;
        self.wait()
    }

    fn settle(&mut self) -> Result<bool, CommError> {
        for &slot in &self.done {
            self.run.done(slot);
        }
        self.run.poll(&mut self.port)
    }
}
