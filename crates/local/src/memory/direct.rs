//! Long messages straight from the sender's memory to the receiver's: both processes claim chunks
//! from one cursor and copy them, so whoever runs does the work.

use std::rc::Rc;
use std::time::{Duration, Instant};

use laneway_core::{CommError, Rank};

use super::between::{Open, copy_between};
use crate::board::{Board, SLOTS};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Below this a copy through the ring is faster.
pub(crate) const LEAST: usize = 32 << 10;

const FREE: u32 = 0;
const OFFERED: u32 = 1;
const MATCHED: u32 = 2;

/// Chunks claimed so far: the receiver takes them from the front, the sender from the back, so
/// that in a repeated exchange each part of a buffer stays in one core's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claims {
    front: u32,
    back: u32,
}

impl Claims {
    /// Nothing more can be claimed.
    const CLOSED: u64 = u32::MAX as u64;

    fn unpack(word: u64) -> Claims {
        Claims { front: word as u32, back: (word >> 32) as u32 }
    }

    fn pack(self) -> u64 {
        u64::from(self.back) << 32 | u64::from(self.front)
    }

    fn total(self) -> u64 {
        u64::from(self.front) + u64::from(self.back)
    }

    /// The claims with one more chunk of `chunks`, and its number.
    fn one_more(self, chunks: u64, from_back: bool) -> Option<(Claims, u64)> {
        if self.total() >= chunks {
            return None;
        }
        Some(if from_back {
            (Claims { back: self.back + 1, ..self }, chunks - 1 - u64::from(self.back))
        } else {
            (Claims { front: self.front + 1, ..self }, u64::from(self.front))
        })
    }
}

/// One long message on its way; lies in the sender's row of the shared segment.
#[repr(C, align(64))]
pub(crate) struct Slot {
    state: AtomicU32,
    /// 0, or 1 plus the number of the rank that failed or took its buffer back: the message will
    /// never be whole.
    given_up: AtomicU32,
    source: AtomicU64,
    target: AtomicU64,
    len: AtomicU64,
    /// Packed [`Claims`].
    claimed: AtomicU64,
    /// Chunks that nobody copies any more: copied, or failed in a message that was given up.
    settled: AtomicU64,
}

/// Small enough that neither side waits long for the other's last chunk, large enough that a call
/// of the system does not count.
fn chunk_bytes(len: u64) -> u64 {
    (len / 8).next_multiple_of(4096).clamp(32 << 10, 256 << 10)
}

impl Slot {
    fn chunks(&self) -> u64 {
        let len = self.len.load(Ordering::Relaxed);
        len.div_ceil(chunk_bytes(len))
    }

    fn claim(&self, from_back: bool) -> Option<u64> {
        let chunks = self.chunks();
        let mut word = self.claimed.load(Ordering::Acquire);
        loop {
            let (next, chunk) = Claims::unpack(word).one_more(chunks, from_back)?;
            let order = Ordering::AcqRel;
            match self.claimed.compare_exchange(word, next.pack(), order, Ordering::Acquire) {
                Ok(_) => return Some(chunk),
                Err(changed) => word = changed,
            }
        }
    }

    fn finished(&self) -> bool {
        self.settled.load(Ordering::Acquire) >= self.chunks()
    }

    /// Whoever sees a byte that its owner wrote after this sees the word as well.
    fn give_up(&self, rank: Rank) {
        let (order, seen) = (Ordering::SeqCst, Ordering::Relaxed);
        // The first one is the cause.
        let _ = self.given_up.compare_exchange(0, rank + 1, order, seen);
        fence(Ordering::SeqCst);
    }

    /// The other half of `give_up`: an error unless all that was read until now was right.
    fn check(&self) -> Result<(), CommError> {
        fence(Ordering::SeqCst);
        match self.given_up.load(Ordering::SeqCst).checked_sub(1) {
            None => Ok(()),
            Some(rank) => Err(CommError::System {
                what: format!("rank {rank} gave up a long message before it was copied"),
                error: "another transfer of that rank failed, or this one was dropped".into(),
            }),
        }
    }
}

/// How far a direct copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing to do here now.
    Idle,
    /// A chunk was copied.
    Moved,
    Finished,
}

/// One rank's view of all slots.
pub(crate) struct Direct {
    board: Rc<Board>,
    rank: Rank,
    /// Own slots that a send of this process still uses.
    used: u64,
    /// Whether a sender that sleeps should be woken to help: not where cores are lacking.
    both_sides: bool,
    _open: Open,
}

impl Direct {
    pub fn new(board: Rc<Board>, rank: Rank, both_sides: bool) -> Direct {
        Direct { board, rank, used: 0, both_sides, _open: Open::new() }
    }

    /// Offers `len` bytes; `None` when all slots are in use.
    pub fn offer(&mut self, data: *const u8, len: usize) -> Option<u32> {
        let number = (0..SLOTS as u32).find(|&number| {
            // A slot of ours may be done here while its receiver has not looked yet.
            let state = &self.board.slot(self.rank, number).state;
            self.used & (1 << number) == 0 && state.load(Ordering::Acquire) == FREE
        })?;
        let slot = self.board.slot(self.rank, number);
        slot.source.store(data as u64, Ordering::Relaxed);
        slot.len.store(len as u64, Ordering::Relaxed);
        slot.claimed.store(0, Ordering::Relaxed);
        slot.settled.store(0, Ordering::Relaxed);
        slot.given_up.store(0, Ordering::Relaxed);
        // The frame that tells of the slot is published with release after this.
        slot.state.store(OFFERED, Ordering::Release);
        self.used |= 1 << number;
        Some(number)
    }

    /// The receiver names its buffer; from now on the sender may copy into it.
    ///
    /// # Safety
    /// `into` must stay valid for the message's length, and untouched, until the copy is finished
    /// or revoked.
    pub unsafe fn accept(&mut self, from: Rank, slot: u32, into: *mut u8) {
        let slot = self.board.slot(from, slot);
        slot.target.store(into as u64, Ordering::Relaxed);
        slot.state.store(MATCHED, Ordering::Release);
        if self.both_sides {
            self.board.ring(from);
        }
    }

    /// Copies a chunk as the receiver.
    pub fn pull(&mut self, from: Rank, number: u32) -> Result<Stage, CommError> {
        let slot = self.board.slot(from, number);
        slot.check()?;
        let moved = self.copy_chunk(slot, from, false)?;
        if slot.finished() {
            // The sender's last chunk may have failed.
            slot.check()?;
            slot.state.store(FREE, Ordering::Release);
            self.board.ring(from);
            return Ok(Stage::Finished);
        }
        Ok(if moved { Stage::Moved } else { Stage::Idle })
    }

    /// Copies a chunk as the sender, if the receiver has named its buffer.
    pub fn assist(&mut self, to: Rank, number: u32) -> Result<Stage, CommError> {
        let slot = self.board.slot(self.rank, number);
        let moved = match slot.state.load(Ordering::Acquire) {
            OFFERED => return Ok(Stage::Idle),
            MATCHED => self.copy_chunk(slot, to, true)?,
            _ => false,
        };
        slot.check()?;
        if slot.finished() {
            self.used &= !(1 << number);
            self.board.ring(to);
            return Ok(Stage::Finished);
        }
        Ok(if moved { Stage::Moved } else { Stage::Idle })
    }

    /// The receiver wants the bytes another way, and left the slot alone.
    pub fn withdraw(&mut self, number: u32) {
        self.board.slot(self.rank, number).state.store(FREE, Ordering::Release);
        self.used &= !(1 << number);
    }

    /// Takes the sender's buffer back. A receiver that reads it at this moment sees after its chunk
    /// that it must not trust it.
    pub fn abandon(&mut self, to: Rank, number: u32) {
        self.board.slot(self.rank, number).give_up(self.rank);
        self.board.ring(to);
    }

    /// Takes the receiver's buffer back: afterwards the sender writes to it no more. Waits for the
    /// chunk that the sender may be copying at this moment.
    pub fn revoke(&mut self, from: Rank, number: u32, limit: Duration) {
        let slot = self.board.slot(from, number);
        slot.give_up(self.rank);
        let claimed = Claims::unpack(slot.claimed.swap(Claims::CLOSED, Ordering::AcqRel)).total();
        let start = Instant::now();
        while slot.settled.load(Ordering::Acquire) < claimed && self.board.ended(from).is_none() {
            if start.elapsed() > limit {
                // A live sender that does not finish one chunk in all this time may still write
                // into memory that our caller takes back: no state is left to go on from.
                eprintln!("error: rank {from} does not let go of a buffer of this rank");
                std::process::abort();
            }
            std::thread::yield_now();
        }
        slot.state.store(FREE, Ordering::Release);
        self.board.ring(from);
    }

    fn copy_chunk(&self, slot: &Slot, peer: Rank, write: bool) -> Result<bool, CommError> {
        let Some(chunk) = slot.claim(write) else { return Ok(false) };
        let len = slot.len.load(Ordering::Relaxed);
        let start = chunk * chunk_bytes(len);
        let count = chunk_bytes(len).min(len - start);
        let source = slot.source.load(Ordering::Relaxed) + start;
        let target = slot.target.load(Ordering::Relaxed) + start;
        let pid = self.board.seat(peer).pid.load(Ordering::Relaxed);
        let (local, remote) = if write { (source, target) } else { (target, source) };
        // SAFETY: the local end lies within a buffer that its owner vouched for with the offer or
        // the acceptance, and no other claim covers these bytes.
        let copied = unsafe { copy_between(pid, local, remote, count as usize, write) };
        // That the peer took its buffer away says more than what the system made of it.
        let checked = slot.check().and(copied.map_err(|error| refused(peer, error)));
        if checked.is_err() {
            slot.give_up(self.rank);
        }
        slot.settled.fetch_add(1, Ordering::AcqRel);
        checked.map(|()| true)
    }
}

fn refused(peer: Rank, error: std::io::Error) -> CommError {
    CommError::System {
        what: format!("copying between this rank and rank {peer} failed"),
        error: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_claimed_once_from_either_end() {
        for pattern in 0u32..64 {
            let (mut claims, mut seen) = (Claims::unpack(0), Vec::new());
            while let Some((next, chunk)) = claims.one_more(6, pattern >> seen.len() & 1 == 1) {
                seen.push(chunk);
                claims = Claims::unpack(next.pack());
            }
            seen.sort();
            assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        }
        assert_eq!(Claims::unpack(Claims::CLOSED).one_more(1 << 20, true), None);
    }

    #[test]
    fn chunk_numbers_fit_for_any_length() {
        for len in [LEAST as u64 + 1, 1 << 20, (1 << 31) + 1, 1 << 48] {
            let chunks = len.div_ceil(chunk_bytes(len));
            assert!(chunks >= 2 && chunks < u64::from(u32::MAX), "{len}: {chunks}");
        }
    }

    /// Two ranks in this one process, and a message of 0xAA from 0 to 1 that both know of.
    struct Pair {
        sender: Direct,
        receiver: Direct,
        slot: u32,
        data: Vec<u8>,
        into: Vec<u8>,
    }

    fn pair() -> Pair {
        let (board, _) = Board::create(2, crate::Transport::Memory).unwrap();
        let board = Rc::new(board);
        (0..2).for_each(|r| board.seat(r).pid.store(std::process::id(), Ordering::Relaxed));
        let mut sender = Direct::new(board.clone(), 0, true);
        let mut receiver = Direct::new(board, 1, true);
        let (data, mut into) = (vec![0xAA; 1 << 20], vec![0; 1 << 20]);
        let slot = sender.offer(data.as_ptr(), data.len()).unwrap();
        // SAFETY: the pair keeps the buffer as long as both ends.
        unsafe { receiver.accept(0, slot, into.as_mut_ptr()) };
        Pair { sender, receiver, slot, data, into }
    }

    #[test]
    fn both_sides_copy_one_message() {
        let mut pair = pair();
        assert_eq!(pair.receiver.pull(0, pair.slot), Ok(Stage::Moved));
        while pair.sender.assist(1, pair.slot) != Ok(Stage::Finished) {}
        assert_eq!(pair.receiver.pull(0, pair.slot), Ok(Stage::Finished));
        assert!(pair.into == pair.data);
        assert_eq!(pair.sender.offer(pair.data.as_ptr(), pair.data.len()), Some(pair.slot));
    }

    #[test]
    fn a_receiver_does_not_trust_what_its_sender_took_back() {
        for chunks_before in [0, 1, 3] {
            let mut pair = pair();
            for _ in 0..chunks_before {
                assert_eq!(pair.receiver.pull(0, pair.slot), Ok(Stage::Moved));
            }
            pair.sender.abandon(1, pair.slot);
            pair.data.fill(0xBB);
            let error = pair.receiver.pull(0, pair.slot).expect_err("the bytes are not right");
            assert!(error.to_string().contains("rank 0"), "{error}");
            assert!(!pair.into.contains(&0xBB));
            // What the receiver's engine does then must not wait for anybody.
            pair.receiver.revoke(0, pair.slot, Duration::ZERO);
        }
    }

    #[test]
    fn a_sender_learns_that_its_receiver_gave_up() {
        let mut pair = pair();
        assert_eq!(pair.sender.assist(1, pair.slot), Ok(Stage::Moved));
        pair.receiver.revoke(0, pair.slot, Duration::ZERO);
        pair.into.fill(0x11);
        assert!(pair.sender.assist(1, pair.slot).is_err());
        assert!(pair.into.iter().all(|&byte| byte == 0x11));
    }

    #[test]
    fn a_chunk_that_fails_is_settled() {
        let mut pair = pair();
        let board = pair.receiver.board.clone();
        board.slot(0, pair.slot).source.store(8, Ordering::Relaxed);
        let error = pair.receiver.pull(0, pair.slot).expect_err("nothing lies at address 8");
        assert!(error.to_string().contains("Bad address"), "{error}");
        pair.receiver.revoke(0, pair.slot, Duration::ZERO);
        assert!(pair.sender.assist(1, pair.slot).is_err());
    }
}
