//! A rank's three buffers, as places in memory that transfers and steps are given.

use std::marker::PhantomData;

use crate::comm::CommError;
use crate::schedule::{Buf, Span};
use crate::shape::Place;

#[derive(Clone, Copy)]
pub(crate) struct Region {
    start: *mut u8,
    pub len: u64,
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
    pub(crate) input: Region,
    pub(crate) output: Region,
    pub(crate) tmp: Region,
    life: PhantomData<&'a mut [u8]>,
}

impl<'a> Buffers<'a> {
    /// Three buffers that lie apart.
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

    #[inline]
    pub(crate) fn at(&self, span: Span) -> Result<*mut u8, CommError> {
        let region = match span.buf {
            Buf::In => self.input,
            Buf::Out => self.output,
            Buf::Tmp => self.tmp,
        };
        match span.off.checked_add(span.len) {
            // SAFETY: the span was just seen to lie within the region.
            Some(end) if end <= region.len => Ok(unsafe { region.start.add(span.off as usize) }),
            _ => Err(outside(span, region.len)),
        }
    }

    /// Like [`Buffers::at`], for a span that is written to.
    #[inline]
    pub(crate) fn at_mut(&self, span: Span) -> Result<*mut u8, CommError> {
        if span.buf == Buf::In && !self.shares() {
            return Err(not_written(span));
        }
        self.at(span)
    }

    fn shares(&self) -> bool {
        let (a, b) = (self.input.start as u64, self.output.start as u64);
        a < b + self.output.len && b < a + self.input.len
    }
}

#[cold]
fn outside(span: Span, len: u64) -> CommError {
    CommError::Argument { what: format!("{span:?} lies outside a buffer of {len} bytes") }
}

#[cold]
fn not_written(span: Span) -> CommError {
    CommError::Argument { what: format!("{span:?} is not to be written") }
}
