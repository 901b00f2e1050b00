//! The shared segment: a board where launcher and ranks read about each other, then the rings.
//!
//! Untouched pages cost nothing, so the segment may be far larger than what a run uses.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use laneway_core::Rank;

use crate::doorbell::Doorbell;
use crate::error::{Death, LocalError};
use crate::memory::slot::Slot;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::system;
use crate::transport::Transport;

const MAGIC: u64 = u64::from_ne_bytes(*b"laneway1");
const PAGE: usize = 4096;

/// Places for direct copies that each rank has.
pub(crate) const SLOTS: usize = 64;

/// The launcher's page.
#[repr(C)]
pub(crate) struct Head {
    magic: u64,
    /// Proves to a listening rank that a connection comes from this run.
    pub token: [u8; 16],
    pub launcher: u32,
    pub size: u32,
    /// Where the launcher keeps a copy of the token, for ranks to try a direct copy on.
    pub probe: u64,
    /// 0, or `1 << 32 | code` once a rank asked for the end of all.
    pub abort: AtomicU64,
    /// 0, or 1 plus the number of a rank that ended well while another waited for it.
    missed: AtomicU32,
    /// Ranks that have ended.
    pub gone: AtomicU32,
}

/// One rank's line on the board.
#[repr(C, align(64))]
pub(crate) struct Seat {
    pub doorbell: Doorbell,
    /// Set by the rank itself when it attaches.
    pub pid: AtomicU32,
    /// 0, or `1 << 32 | status` once the launcher saw the rank's end.
    ended: AtomicU64,
    /// Where the rank listens: a port, or an abstract name; set before any rank starts.
    pub address: [u8; 32],
    pub address_len: u32,
}

/// Byte offsets of the parts; a pure function of size and transport, so all processes agree.
#[derive(Clone, Copy, Debug)]
struct Layout {
    slots: usize,
    marks: usize,
    marks_stride: usize,
    channels: usize,
    channel_stride: usize,
    total: usize,
}

fn channel_bytes(size: usize) -> usize {
    match size {
        0..=64 => 64 << 10,
        65..=256 => 16 << 10,
        _ => 8 << 10,
    }
}

impl Layout {
    fn new(size: usize, transport: Transport) -> Layout {
        let pages = |bytes: usize| bytes.next_multiple_of(PAGE);
        let slots = PAGE + pages(size * size_of::<Seat>());
        let marks = slots + pages(size * SLOTS * size_of::<Slot>());
        let marks_stride = size.div_ceil(64).next_multiple_of(8) * 8;
        let channels = marks + pages(size * marks_stride);
        let channel_stride = channel_bytes(size);
        let total = match transport {
            Transport::Memory => channels + size * size * channel_stride,
            Transport::Unix | Transport::Tcp => slots,
        };
        Layout { slots, marks, marks_stride, channels, channel_stride, total }
    }
}

/// The mapped segment.
pub(crate) struct Board {
    base: *mut u8,
    size: u32,
    layout: Layout,
}

impl Board {
    /// A fresh board, and the descriptor through which ranks inherit it.
    pub fn create(size: u32, transport: Transport) -> Result<(Board, OwnedFd), LocalError> {
        let layout = Layout::new(size as usize, transport);
        let fd = system::anonymous_file(layout.total)?;
        let board = Board::map(&fd, size, layout)?;
        let head = Head {
            magic: MAGIC,
            token: system::random_token()?,
            launcher: std::process::id(),
            size,
            probe: 0,
            abort: AtomicU64::new(0),
            missed: AtomicU32::new(0),
            gone: AtomicU32::new(0),
        };
        // SAFETY: the first page is mapped, aligned, and not shared yet.
        unsafe { board.base.cast::<Head>().write(head) };
        Ok((board, fd))
    }

    /// The board that the launcher passed on.
    pub fn open(fd: BorrowedFd<'_>, size: u32, transport: Transport) -> Result<Board, LocalError> {
        let layout = Layout::new(size as usize, transport);
        // SAFETY: an all-zero stat is a valid value for the call to overwrite.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is valid for the call's duration.
        let code = unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) };
        if code != 0 || stat.st_size != layout.total as i64 {
            return Err(LocalError::system(
                "open the launcher's board",
                "the inherited descriptor is something else",
            ));
        }
        let board = Board::map(&fd, size, layout)?;
        if board.head().magic != MAGIC || board.head().size != size {
            return Err(LocalError::system(
                "read the launcher's board",
                "it was written by another version",
            ));
        }
        Ok(board)
    }

    fn map(fd: &impl AsRawFd, size: u32, layout: Layout) -> Result<Board, LocalError> {
        // SAFETY: a fresh mapping at an address of the system's choice.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                layout.total,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                fd.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(system::local_error(format!(
                "map {} MiB of shared memory for {size} ranks",
                layout.total >> 20
            )));
        }
        Ok(Board { base: base.cast(), size, layout })
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    pub fn head(&self) -> &Head {
        // SAFETY: the head was written before any rank started; what changes in it is atomic.
        unsafe { &*self.base.cast() }
    }

    /// Tells the ranks where the launcher keeps a copy of the token.
    pub fn set_probe(&mut self, address: u64) {
        // SAFETY: the head is mapped; ranks read this field only after they were started.
        unsafe { (*self.base.cast::<Head>()).probe = address };
    }

    pub fn seat(&self, rank: Rank) -> &Seat {
        assert!(rank < self.size, "a rank has a seat");
        // SAFETY: the seats follow the first page, one for each rank; zeroed memory is a seat.
        unsafe { &*self.base.add(PAGE).cast::<Seat>().add(rank as usize) }
    }

    pub fn set_address(&mut self, rank: Rank, address: &[u8]) {
        assert!(rank < self.size && address.len() <= 32, "an address fits its seat");
        // SAFETY: as in `seat`; ranks read this field only after they were started.
        let seat = unsafe { &mut *self.base.add(PAGE).cast::<Seat>().add(rank as usize) };
        seat.address[..address.len()].copy_from_slice(address);
        seat.address_len = address.len() as u32;
    }

    /// A rank's places for direct copies.
    pub fn slot(&self, rank: Rank, slot: u32) -> &Slot {
        assert!(rank < self.size && (slot as usize) < SLOTS, "a slot exists");
        // SAFETY: the table holds SLOTS for each rank; zeroed memory is a free slot.
        unsafe {
            let table = self.base.add(self.layout.slots).cast::<Slot>();
            &*table.add(rank as usize * SLOTS + slot as usize)
        }
    }

    /// The words in which senders mark themselves for `rank`, one bit each.
    pub fn marks(&self, rank: Rank) -> &[AtomicU64] {
        assert!(rank < self.size, "a rank has marks");
        let words = (self.size as usize).div_ceil(64);
        // SAFETY: the table has a row of at least `words` words for each rank.
        unsafe {
            let row = self.base.add(self.layout.marks + rank as usize * self.layout.marks_stride);
            std::slice::from_raw_parts(row.cast(), words)
        }
    }

    /// Start and length of the ring from one rank to another; page-aligned, zeroed at first.
    pub fn channel(&self, from: Rank, to: Rank) -> (*mut u8, usize) {
        assert!(from < self.size && to < self.size, "a channel joins two ranks");
        let number = to as usize * self.size as usize + from as usize;
        let stride = self.layout.channel_stride;
        // SAFETY: there are size x size channels.
        (unsafe { self.base.add(self.layout.channels + number * stride) }, stride)
    }

    /// Wakes a rank that sleeps. What it shall see was stored before.
    #[inline]
    pub fn ring(&self, rank: Rank) {
        self.seat(rank).doorbell.ring();
    }

    /// The launcher saw a rank's end: all others may have waited for it.
    pub fn announce_end(&self, rank: Rank, status: i32) {
        self.seat(rank).ended.store(1 << 32 | u64::from(status as u32), Ordering::Release);
        self.head().gone.fetch_add(1, Ordering::Release);
        for other in 0..self.size {
            self.ring(other);
        }
    }

    /// How a rank ended, if it has.
    pub fn ended(&self, rank: Rank) -> Option<Death> {
        match self.seat(rank).ended.load(Ordering::Acquire) {
            0 => None,
            word => Some(Death::of(word as u32 as i32)),
        }
    }

    pub fn ask_abort(&self, code: i32) {
        let word = 1 << 32 | u64::from(code as u32);
        // The first to ask decides.
        let _ = self.head().abort.compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Tells the launcher that this rank gives up because another one ended well too early.
    pub fn report_missed(&self, rank: Rank) {
        let missed = &self.head().missed;
        // The first to miss one decides.
        let _ = missed.compare_exchange(0, rank + 1, Ordering::AcqRel, Ordering::Acquire);
    }

    pub fn missed(&self) -> Option<Rank> {
        self.head().missed.load(Ordering::Acquire).checked_sub(1)
    }

    pub fn aborted(&self) -> Option<i32> {
        match self.head().abort.load(Ordering::Acquire) {
            0 => None,
            word => Some(word as u32 as i32),
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every reference into it borrows this value.
        unsafe { libc::munmap(self.base.cast(), self.layout.total) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_board_is_read_back_through_its_descriptor() {
        let (mut board, fd) = Board::create(5, Transport::Memory).unwrap();
        board.set_address(4, b"here");
        board.announce_end(3, 9);
        board.ask_abort(7);
        board.ask_abort(8);
        let other = Board::open(fd.as_fd(), 5, Transport::Memory).unwrap();
        assert_eq!(&other.seat(4).address[..4], b"here");
        assert_eq!(other.ended(3), Some(Death::Signal(9)));
        assert_eq!(other.ended(2), None);
        assert_eq!(other.aborted(), Some(7));
        assert!(Board::open(fd.as_fd(), 6, Transport::Memory).is_err());
    }

    #[test]
    fn parts_do_not_overlap_and_stay_small_until_used() {
        for size in [1, 2, 17, 64, 65, 256, 1024] {
            let layout = Layout::new(size, Transport::Memory);
            assert!(PAGE + size * size_of::<Seat>() <= layout.slots);
            assert!(layout.slots + size * SLOTS * size_of::<Slot>() <= layout.marks);
            assert!(layout.marks_stride * 8 >= size);
            assert!(layout.marks + size * layout.marks_stride <= layout.channels);
            assert!(layout.total <= 9 << 30, "{size} ranks: {layout:?}");
        }
    }
}
