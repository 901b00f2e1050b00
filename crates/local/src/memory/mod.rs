//! The shared-memory transport: a ring to and from each peer, a doorbell for each rank.

pub(crate) mod between;
pub(crate) mod direct;
mod hint;
mod marks;
#[cfg(all(test, loom))]
mod model;
mod ring;
pub(crate) mod slot;

use std::rc::Rc;
use std::time::Duration;

use laneway_core::{CommError, Rank};
use laneway_message::{Header, Link};

use crate::board::Board;
use direct::Direct;
use ring::{Reader, Writer};

/// Up to this number of ranks each polls every ring; beyond, senders mark themselves, because
/// polling an untouched ring costs a page of memory.
const LOOK_AT_ALL: u32 = 32;

/// Looks before going to sleep when every rank has a core, and when they share.
const SPINS_ALONE: u32 = 4000;
const SPINS_SHARED: u32 = 4;

pub(crate) struct Memory {
    board: Rc<Board>,
    rank: Rank,
    writers: Vec<Writer>,
    readers: Vec<Reader>,
    marked: bool,
    alone: bool,
    direct: Option<Direct>,
}

impl Memory {
    pub fn new(board: Rc<Board>, rank: Rank, cores: u32) -> Memory {
        let size = board.size();
        let alone = size <= cores;
        let direct = between::permitted(&board).then(|| Direct::new(board.clone(), rank, alone));
        Memory {
            writers: (0..size).map(|to| Writer::new(board.channel(rank, to))).collect(),
            readers: (0..size).map(|from| Reader::new(board.channel(from, rank))).collect(),
            marked: size > LOOK_AT_ALL,
            alone,
            direct,
            board,
            rank,
        }
    }

    /// What moves long messages, in words.
    pub fn copy_method(&self) -> &'static str {
        match self.direct {
            Some(_) => "process_vm, both sides",
            None => "ring",
        }
    }

    /// Writes pieces as long as there is room. A reader that looks sees each at once; the fence
    /// that waking a sleeper needs would hold up the next piece.
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    unsafe fn write(&mut self, to: Rank, data: *const u8, len: usize) -> usize {
        let writer = &mut self.writers[to as usize];
        let mut sent = 0;
        while sent < len {
            // SAFETY: the caller vouches for the data.
            match unsafe { writer.more(data.add(sent), len - sent) } {
                0 => break,
                piece => sent += piece,
            }
        }
        sent
    }

    /// Tells a peer that there is a cell for it.
    #[inline]
    fn notify(&self, to: Rank) {
        if self.marked {
            marks::set(self.board.marks(to), self.rank);
        }
        self.board.ring(to);
    }
}

impl Link for Memory {
    fn eager_limit(&self) -> usize {
        direct::LEAST
    }

    fn spins(&self) -> u32 {
        if self.alone { SPINS_ALONE } else { SPINS_SHARED }
    }

    #[inline]
    unsafe fn begin(
        &mut self,
        to: Rank,
        header: &Header,
        data: *const u8,
        len: usize,
    ) -> Result<Option<usize>, CommError> {
        // SAFETY: the caller vouches for the data.
        let Some(mut sent) = (unsafe { self.writers[to as usize].begin(header, data, len) }) else {
            return Ok(None);
        };
        // SAFETY: as above, for the rest.
        sent += unsafe { self.write(to, data.add(sent), len - sent) };
        self.notify(to);
        Ok(Some(sent))
    }

    unsafe fn more(&mut self, to: Rank, data: *const u8, len: usize) -> Result<usize, CommError> {
        // SAFETY: the caller vouches for the data.
        let sent = unsafe { self.write(to, data, len) };
        if sent > 0 {
            self.notify(to);
        }
        Ok(sent)
    }

    #[inline]
    fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError> {
        if !self.marked {
            for (from, reader) in self.readers.iter().enumerate() {
                if reader.ready() {
                    ready.push(from as Rank);
                }
            }
            return Ok(());
        }
        marks::take(self.board.marks(self.rank), |from| ready.push(from));
        Ok(())
    }

    #[inline]
    fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError> {
        let Some((header, released)) = self.readers[from as usize].open(from)? else {
            return Ok(None);
        };
        if released {
            self.board.ring(from);
        }
        Ok(Some(header))
    }

    #[inline]
    unsafe fn take(&mut self, from: Rank, into: *mut u8, len: usize) -> Result<usize, CommError> {
        // SAFETY: the caller vouches for the room.
        let (count, released) = unsafe { self.readers[from as usize].take(into, len) };
        if released {
            self.board.ring(from);
        }
        Ok(count)
    }

    fn arm(&mut self) {
        self.board.seat(self.rank).doorbell.arm();
    }

    fn disarm(&mut self) {
        self.board.seat(self.rank).doorbell.disarm();
    }

    fn sleep(&mut self, limit: Duration, _writers: &[Rank]) -> Result<(), CommError> {
        self.board.seat(self.rank).doorbell.sleep(limit);
        Ok(())
    }

    fn direct(&mut self) -> Option<&mut dyn laneway_message::Direct> {
        self.direct.as_mut().map(|direct| direct as _)
    }
}
