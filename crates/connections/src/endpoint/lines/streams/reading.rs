//! Frames as they come out of a stream, in whatever pieces.

use std::io::IoSliceMut;

use super::{HELLO_BYTES, MOST_FRAME, PREFIX, Place, Stage};

/// Frames up to this length have storage of their own.
const SHORT: usize = 16 << 10;
/// The kernel says that bytes have arrived when it has these, at the latest.
const MOST_AT_ONCE: usize = 128 << 10;
/// The storage that is kept for long ones.
const MOST_BUFFERS: usize = 4;

/// The beginning of a frame, its length included.
#[derive(Default)]
pub(super) struct Partial {
    /// Long enough for the whole frame, as far as its length is known.
    buffer: Vec<u8>,
    pub filled: usize,
}

/// Storage of long frames, used again: memory that is new costs more than what is done with it.
#[derive(Default)]
pub(super) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// At least this long, of any bytes.
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut buffer = if bytes > SHORT { self.0.pop().unwrap_or_default() } else { Vec::new() };
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        buffer
    }

    pub fn put(&mut self, buffer: Vec<u8>) {
        if buffer.len() > SHORT && self.0.len() < MOST_BUFFERS {
            self.0.push(buffer);
        }
    }
}

/// Frames that have arrived: one that had begun before, and those in a buffer.
#[derive(Default)]
pub(in crate::endpoint) struct Frames {
    /// Its storage, which [`Streams::put_buffer`] takes back, and its length.
    pub first: Option<(Vec<u8>, usize)>,
    /// Bytes of the buffer that are whole frames.
    pub bytes: usize,
}

/// The end of a stream, or bytes that are not frames.
pub(super) struct Broken;

impl Partial {
    /// What the whole frame has, its length included, once that is known.
    fn whole(&self) -> Option<usize> {
        let prefix = self.buffer[..self.filled].first_chunk::<PREFIX>()?;
        Some(PREFIX + u32::from_be_bytes(*prefix) as usize)
    }

    /// Begins with these bytes.
    fn begin(&mut self, bytes: &[u8], buffers: &mut Buffers) {
        self.buffer = buffers.take(bytes.len());
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        self.filled = bytes.len();
    }

    /// Makes it at least so long.
    fn grow(&mut self, bytes: usize, buffers: &mut Buffers) {
        if self.buffer.len() < bytes {
            let longer = buffers.take(bytes);
            let shorter = std::mem::replace(&mut self.buffer, longer);
            self.buffer[..self.filled].copy_from_slice(&shorter[..self.filled]);
            buffers.put(shorter);
        }
    }
}

impl Place {
    fn most(&self) -> usize {
        if self.stage == Stage::Open { MOST_FRAME } else { HELLO_BYTES }
    }

    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        buffers: &mut Buffers,
    ) -> Result<Option<Frames>, Broken> {
        // Before the peer has proved itself, no more than its hello is taken.
        let limit = if self.stage == Stage::Open { buffer.len() } else { PREFIX + HELLO_BYTES };
        let buffer = &mut buffer[..limit];
        let had = self.partial.filled;
        let missing = if had == 0 { 0 } else { self.partial.whole().unwrap_or(PREFIX) - had };
        self.partial.grow(had + missing, buffers);
        let rest = &mut self.partial.buffer[had..had + missing];
        let mut pieces = [IoSliceMut::new(rest), IoSliceMut::new(buffer)];
        // Behind a length that is not known yet nothing is read, nor behind a hello.
        let is_length = had > 0 && had < PREFIX;
        let pieces = match (missing, is_length || self.stage != Stage::Open) {
            (0, _) => &mut pieces[1..],
            (_, true) => &mut pieces[..1],
            (_, false) => &mut pieces[..],
        };
        let Some(got) = self.stream.receive(pieces).map_err(|_| Broken)? else { return Ok(None) };
        if got < missing || is_length {
            self.partial.filled += got.min(missing);
            self.check()?;
            self.wake_for_rest();
            return Ok(Some(Frames::default()));
        }
        let first = (missing > 0).then(|| {
            self.partial.filled = 0;
            (std::mem::take(&mut self.partial.buffer), had + missing)
        });
        let bytes = self.split(&buffer[..got - missing], buffers)?;
        self.wake_for_rest();
        Ok(Some(Frames { first, bytes }))
    }

    /// Has the kernel say that the rest of a long frame has arrived, not each part of it.
    fn wake_for_rest(&mut self) {
        let whole = self.partial.whole().filter(|_| self.partial.filled > 0);
        let missing = whole.map_or(0, |whole| whole - self.partial.filled);
        let wakes_at = if missing > SHORT { missing.min(MOST_AT_ONCE) } else { 1 };
        if wakes_at != std::mem::replace(&mut self.wakes_at, wakes_at) {
            self.stream.wake_at(wakes_at);
        }
    }

    /// Whether the length that stands before a frame may be one.
    fn check(&self) -> Result<(), Broken> {
        let fits = |whole| whole > PREFIX && whole <= PREFIX + self.most();
        if self.partial.whole().is_none_or(fits) { Ok(()) } else { Err(Broken) }
    }

    /// How many bytes are whole frames; the beginning of another one is kept.
    fn split(&mut self, bytes: &[u8], buffers: &mut Buffers) -> Result<usize, Broken> {
        let mut whole = 0;
        loop {
            let rest = &bytes[whole..];
            let length = rest.first_chunk::<PREFIX>().map(|prefix| u32::from_be_bytes(*prefix));
            let frame = length.map(|length| PREFIX + length as usize);
            match frame.filter(|frame| *frame <= rest.len()) {
                Some(frame) if frame == PREFIX || frame > PREFIX + self.most() => {
                    return Err(Broken);
                }
                Some(frame) => whole += frame,
                None => {
                    if !rest.is_empty() {
                        self.partial.begin(rest, buffers);
                        self.check()?;
                    }
                    return Ok(whole);
                }
            }
        }
    }
}

/// The frames of a buffer of whole ones, without their lengths.
pub(in crate::endpoint) fn frames(mut bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    std::iter::from_fn(move || {
        let (prefix, rest) = std::mem::take(&mut bytes).split_first_chunk_mut::<PREFIX>()?;
        let (frame, rest) = rest.split_at_mut_checked(u32::from_be_bytes(*prefix) as usize)?;
        bytes = rest;
        Some(frame)
    })
}
