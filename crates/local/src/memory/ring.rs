//! A ring in shared memory from one writer to one reader: cells of one cache line that announce
//! frames, and a stretch of bytes for what does not fit into a cell.
//!
//! A cell's first word is a number that only the next lap will use again, so the reader looks at
//! one line and has flag, header and a short payload in it. A longer payload goes through the byte
//! stretch in pieces, each announced by a cell of its own: the reader copies the first piece while
//! the writer still writes the second.

use std::ops::Range;

use laneway_core::{CommError, Rank};
use laneway_message::{HEADER, Header};

use super::hint;
use crate::sync::{AtomicU32, Ordering, Watch, Watches};

/// A model goes round sooner.
const CELLS: u32 = if cfg!(loom) { 8 } else { 64 };
const LINE: usize = 64;

/// Payload that travels within the header's own cell.
pub(crate) const INLINE: usize = LINE - 8 - HEADER;

/// A longer payload goes in pieces of this size. Smaller ones were slower at every length: while a
/// reader copies a piece, its core fetches ahead the very lines that the writer is about to write.
const PIECE: usize = 4 << 10;

#[repr(C, align(64))]
struct Cell {
    number: AtomicU32,
    /// Payload bytes that this cell announces, in the cell itself or in the byte stretch.
    piece: u32,
    header: [u8; HEADER],
    inline: [u8; INLINE],
    watch: Watch,
}

/// The reader's progress as the writer sees it, on a line of its own.
#[repr(C, align(64))]
struct Consumed {
    cells: AtomicU32,
    /// Counts bytes modulo 2^32; the stretch is far shorter.
    bytes: AtomicU32,
}

const BYTES_AT: usize = CELLS as usize * LINE + LINE;

/// Places of the parts within one channel.
#[derive(Clone, Copy)]
struct Parts {
    cells: *mut Cell,
    consumed: *const Consumed,
    bytes: *mut u8,
    /// One for each line of the bytes.
    watches: Watches,
    capacity: u32,
}

impl Parts {
    fn new((start, len): (*mut u8, usize)) -> Parts {
        assert!(len > BYTES_AT + 16 * LINE && len < 1 << 30, "a channel has room for pieces");
        // SAFETY: the offsets lie within the channel, as just seen.
        unsafe {
            Parts {
                cells: start.cast(),
                consumed: start.add(CELLS as usize * LINE).cast(),
                bytes: start.add(BYTES_AT),
                watches: Watches::none(),
                capacity: (len - BYTES_AT) as u32,
            }
        }
    }

    fn cell(&self, number: u32) -> *mut Cell {
        // SAFETY: the index is below CELLS, which divides 2^32, so laps join without a gap.
        unsafe { self.cells.add((number % CELLS) as usize) }
    }

    /// A cell that was seen to be ours to write.
    fn cell_to_write(&self, number: u32) -> *mut Cell {
        let cell = self.cell(number);
        // SAFETY: the cell is mapped.
        unsafe { (*cell).watch.write() };
        cell
    }

    /// A cell that was seen to be ours to read.
    fn cell_to_read(&self, number: u32) -> *const Cell {
        let cell = self.cell(number);
        // SAFETY: the cell is mapped.
        unsafe { (*cell).watch.read() };
        cell
    }

    fn consumed(&self) -> &Consumed {
        // SAFETY: mapped for as long as the link lives, and atomic throughout.
        unsafe { &*self.consumed }
    }

    /// The place in the stretch after `len` bytes from `at`; both ends walk whole lines.
    fn step(&self, at: u32, len: u32) -> u32 {
        let next = at + lines(len);
        if next >= self.capacity { next - self.capacity } else { next }
    }
}

fn lines(len: u32) -> u32 {
    len.next_multiple_of(LINE as u32)
}

/// The lines that a piece lies in.
#[inline]
fn lines_of(at: u32, len: usize) -> Range<usize> {
    at as usize / LINE..(at as usize + len).div_ceil(LINE)
}

/// Copies the payload of a cell without the call that a copy of unknown length is.
///
/// # Safety
/// `from` must be valid for `len` bytes, `to` for writes of as many, and `len` at most [`INLINE`].
#[inline]
unsafe fn copy_short(from: *const u8, to: *mut u8, len: usize) {
    debug_assert!(len <= INLINE);
    // SAFETY: two words that may overlap cover any length between one word and two; all lies
    // within `len` bytes.
    unsafe {
        match len {
            16.. => copy_ends::<16>(from, to, len),
            8..16 => copy_ends::<8>(from, to, len),
            4..8 => copy_ends::<4>(from, to, len),
            _ => (0..len).for_each(|at| *to.add(at) = *from.add(at)),
        }
    }
}

unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller has `len` bytes at both places, and N <= len <= 2 N.
    unsafe {
        let (first, last) =
            (from.cast::<[u8; N]>().read(), from.add(len - N).cast::<[u8; N]>().read());
        to.cast::<[u8; N]>().write(first);
        to.add(len - N).cast::<[u8; N]>().write(last);
    }
}

/// The writing end.
pub(crate) struct Writer {
    parts: Parts,
    /// Cells and bytes written so far, modulo 2^32.
    cells: u32,
    bytes: u32,
    at: u32,
    /// What the reader had consumed when last looked at.
    seen_cells: u32,
    seen_bytes: u32,
}

impl Writer {
    pub fn new(channel: (*mut u8, usize)) -> Writer {
        Writer::over(Parts::new(channel))
    }

    fn over(parts: Parts) -> Writer {
        Writer { parts, cells: 0, bytes: 0, at: 0, seen_cells: 0, seen_bytes: 0 }
    }

    /// See [`laneway_message::Link::begin`].
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    #[inline]
    pub unsafe fn begin(&mut self, header: &Header, data: *const u8, len: usize) -> Option<usize> {
        if !self.has_cell() {
            return None;
        }
        if len <= INLINE {
            // SAFETY: the cell is free, so the reader does not look past its number.
            unsafe {
                let cell = self.parts.cell_to_write(self.cells);
                (*cell).header = header.encode();
                copy_short(data, (&raw mut (*cell).inline).cast(), len);
                self.publish(len as u32, 0);
                hint::hand_over(cell.cast(), LINE);
            }
            return Some(len);
        }
        let piece = self.room(len.min(PIECE));
        if piece == 0 {
            return None;
        }
        // SAFETY: the cell is free; the caller vouches for the data.
        unsafe {
            (*self.parts.cell_to_write(self.cells)).header = header.encode();
            let start = self.write_piece(data, piece);
            if piece == len {
                // With more pieces to come this would only hold up the next one.
                hint::hand_over(start, piece);
            }
        }
        Some(piece)
    }

    /// See [`laneway_message::Link::more`]; writes one piece.
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    pub unsafe fn more(&mut self, data: *const u8, len: usize) -> usize {
        if !self.has_cell() {
            return 0;
        }
        let piece = self.room(len.min(PIECE));
        if piece > 0 {
            // SAFETY: the caller vouches for the data.
            unsafe { self.write_piece(data, piece) };
        }
        piece
    }

    fn has_cell(&mut self) -> bool {
        if self.cells.wrapping_sub(self.seen_cells) < CELLS {
            return true;
        }
        self.seen_cells = self.parts.consumed().cells.load(Ordering::Acquire);
        self.cells.wrapping_sub(self.seen_cells) < CELLS
    }

    /// How many of `len` bytes can be written at once, without a break, as whole lines.
    fn room(&mut self, len: usize) -> usize {
        let straight = (self.parts.capacity - self.at) as usize;
        // A quarter at most: the reader reports what it consumed a quarter at a time.
        let wanted = len.min(straight).min(self.parts.capacity as usize / 4 / LINE * LINE);
        let mut free = self.free();
        if free < lines(wanted as u32) {
            self.seen_bytes = self.parts.consumed().bytes.load(Ordering::Acquire);
            free = self.free();
        }
        wanted.min(free as usize)
    }

    fn free(&self) -> u32 {
        self.parts.capacity - self.bytes.wrapping_sub(self.seen_bytes)
    }

    /// Writes and announces a piece for which there is room; says where it lies.
    unsafe fn write_piece(&mut self, data: *const u8, piece: usize) -> *const u8 {
        self.parts.watches.write(lines_of(self.at, piece));
        // SAFETY: `room` saw these free bytes from `at` on; the caller vouches for the data.
        let target = unsafe {
            let target = self.parts.bytes.add(self.at as usize);
            std::ptr::copy_nonoverlapping(data, target, piece);
            target
        };
        self.publish(piece as u32, piece as u32);
        // The next piece is probably as long as this one.
        let ahead = piece.min((self.parts.capacity - self.at) as usize).min(self.free() as usize);
        // SAFETY: the stretch goes on for `ahead` bytes.
        unsafe { hint::will_write(self.parts.bytes.add(self.at as usize), ahead) };
        target
    }

    #[inline]
    fn publish(&mut self, piece: u32, stretch: u32) {
        self.at = self.parts.step(self.at, stretch);
        self.bytes = self.bytes.wrapping_add(lines(stretch));
        let cell = self.parts.cell_to_write(self.cells);
        self.cells = self.cells.wrapping_add(1);
        // SAFETY: the cell is mapped; the release makes all that was written before visible.
        unsafe {
            (*cell).piece = piece;
            (*cell).number.store(self.cells, Ordering::Release);
        }
    }
}

/// The reading end.
pub(crate) struct Reader {
    parts: Parts,
    cells: u32,
    bytes: u32,
    at: u32,
    released_cells: u32,
    released_bytes: u32,
    /// Bytes of the current piece, and how many of them were taken.
    piece: u32,
    taken: u32,
    inline: bool,
}

impl Reader {
    pub fn new(channel: (*mut u8, usize)) -> Reader {
        Reader::over(Parts::new(channel))
    }

    fn over(parts: Parts) -> Reader {
        Reader {
            parts,
            cells: 0,
            bytes: 0,
            at: 0,
            released_cells: 0,
            released_bytes: 0,
            piece: 0,
            taken: 0,
            inline: false,
        }
    }

    /// Whether another cell is here.
    #[inline]
    pub fn ready(&self) -> bool {
        // SAFETY: the number is atomic and mapped.
        let number = unsafe { &(*self.parts.cell(self.cells)).number };
        number.load(Ordering::Acquire) == self.cells.wrapping_add(1)
    }

    /// See [`laneway_message::Link::open`]; the flag says that the writer got room.
    #[inline]
    pub fn open(&mut self, from: Rank) -> Result<Option<(Header, bool)>, CommError> {
        if !self.ready() {
            return Ok(None);
        }
        // SAFETY: the number was seen with acquire, so the cell is ours until we release it.
        let (bytes, piece) = unsafe {
            let cell = self.parts.cell_to_read(self.cells);
            ((*cell).header, (*cell).piece)
        };
        let header = Header::decode(from, &bytes)?;
        self.piece = piece;
        self.taken = 0;
        self.inline = header.payload() <= INLINE as u64;
        let released = piece == 0 && self.release();
        Ok(Some((header, released)))
    }

    /// See [`laneway_message::Link::take`]; the flag says that the writer got room.
    ///
    /// # Safety
    /// `into` must be valid for writes of `len` bytes.
    #[inline]
    pub unsafe fn take(&mut self, into: *mut u8, len: usize) -> (usize, bool) {
        if self.piece == 0 {
            if !self.ready() {
                return (0, false);
            }
            // SAFETY: as in `open`.
            self.piece = unsafe { (*self.parts.cell_to_read(self.cells)).piece };
            self.taken = 0;
            self.inline = false;
        }
        let count = len.min((self.piece - self.taken) as usize);
        // SAFETY: the piece was announced, so its bytes are ours until we release them.
        unsafe {
            if self.inline {
                let source =
                    (&raw const (*self.parts.cell_to_read(self.cells)).inline).cast::<u8>();
                copy_short(source.add(self.taken as usize), into, count);
            } else {
                self.parts.watches.read(lines_of(self.at + self.taken, count));
                let source = self.parts.bytes.add((self.at + self.taken) as usize);
                std::ptr::copy_nonoverlapping(source, into, count);
            }
        }
        self.taken += count as u32;
        let released = self.taken == self.piece && self.release();
        (count, released)
    }

    /// Gives back the cell and its piece; informs the writer when a quarter has gathered.
    #[inline]
    fn release(&mut self) -> bool {
        if !self.inline {
            self.at = self.parts.step(self.at, self.piece);
            self.bytes = self.bytes.wrapping_add(lines(self.piece));
        }
        self.piece = 0;
        self.cells = self.cells.wrapping_add(1);
        let quarter = self.cells.wrapping_sub(self.released_cells) >= CELLS / 4
            || self.bytes.wrapping_sub(self.released_bytes) >= self.parts.capacity / 4;
        if quarter {
            let consumed = self.parts.consumed();
            consumed.bytes.store(self.bytes, Ordering::Release);
            consumed.cells.store(self.cells, Ordering::Release);
            (self.released_cells, self.released_bytes) = (self.cells, self.bytes);
        }
        quarter
    }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;

#[cfg(all(test, loom))]
#[path = "ring_model.rs"]
mod model;
