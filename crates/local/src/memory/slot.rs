//! One long message on its way between two ranks: who may copy which chunk, and whether what was
//! copied counts. Knows nothing of processes; how bytes move is the caller's.

use laneway_core::{CommError, Rank};
use laneway_message::Stage;

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

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

/// What to copy: `len` bytes from the sender's address to the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub source: u64,
    pub target: u64,
    pub len: usize,
}

/// Lies in the sender's row of the shared segment; zeroed memory is a free slot.
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
    /// Chunks without a copy in progress: copied, or failed in a message that was given up.
    settled: AtomicU64,
}

/// Small enough that neither side waits long for the other's last chunk, large enough that a call
/// of the system does not count.
fn chunk_bytes(len: u64) -> u64 {
    (len / 8).next_multiple_of(4096).clamp(32 << 10, 256 << 10)
}

impl Slot {
    #[cfg(all(test, loom))]
    pub fn new() -> Slot {
        let (word, long) = (|| AtomicU32::new(0), || AtomicU64::new(0));
        Slot {
            state: word(),
            given_up: word(),
            source: long(),
            target: long(),
            len: long(),
            claimed: long(),
            settled: long(),
        }
    }

    /// As a sender would that names a wrong address.
    #[cfg(test)]
    pub fn set_source(&self, source: u64) {
        self.source.store(source, Ordering::Relaxed);
    }

    /// Whether its receiver has looked for the last time.
    pub fn is_free(&self) -> bool {
        self.state.load(Ordering::Acquire) == FREE
    }

    /// As the sender, in a free slot: names what is to be copied.
    pub fn offer(&self, source: u64, len: u64) {
        self.source.store(source, Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
        self.claimed.store(0, Ordering::Relaxed);
        self.settled.store(0, Ordering::Relaxed);
        self.given_up.store(0, Ordering::Relaxed);
        // The frame that announces the slot is published with release after this.
        self.state.store(OFFERED, Ordering::Release);
    }

    /// As the receiver: names its buffer; from now on the sender may copy into it.
    pub fn accept(&self, target: u64) {
        self.target.store(target, Ordering::Relaxed);
        self.state.store(MATCHED, Ordering::Release);
    }

    /// As the receiver: copies a chunk.
    pub fn pull(
        &self,
        rank: Rank,
        copy: impl FnOnce(Chunk) -> Result<(), CommError>,
    ) -> Result<Stage, CommError> {
        self.check()?;
        let moved = self.copy_chunk(rank, false, copy)?;
        if self.finished() {
            // The sender's last chunk may have failed.
            self.check()?;
            self.free();
            return Ok(Stage::Finished);
        }
        Ok(if moved { Stage::Moved } else { Stage::Idle })
    }

    /// As the sender: copies a chunk, if the receiver has named its buffer.
    pub fn assist(
        &self,
        rank: Rank,
        copy: impl FnOnce(Chunk) -> Result<(), CommError>,
    ) -> Result<Stage, CommError> {
        let moved = match self.state.load(Ordering::Acquire) {
            OFFERED => return Ok(Stage::Idle),
            MATCHED => self.copy_chunk(rank, true, copy)?,
            _ => false,
        };
        self.check()?;
        if self.finished() {
            return Ok(Stage::Finished);
        }
        Ok(if moved { Stage::Moved } else { Stage::Idle })
    }

    /// Frees the slot; only a sender that still has to learn of the end uses it.
    pub fn free(&self) {
        self.state.store(FREE, Ordering::Release);
    }

    /// A reader of a byte that its owner wrote after this sees the word as well: the fences here
    /// and in `check` order all of it.
    pub fn give_up(&self, rank: Rank) {
        let order = Ordering::Relaxed;
        // The first one is the cause.
        let _ = self.given_up.compare_exchange(0, rank + 1, order, order);
        fence(Ordering::SeqCst);
    }

    /// As the receiver: gives up, and prevents further claims of chunks. Those that were claimed
    /// before are `settled` soon.
    pub fn close(&self, rank: Rank) -> u64 {
        self.give_up(rank);
        Claims::unpack(self.claimed.swap(Claims::CLOSED, Ordering::AcqRel)).total()
    }

    /// Whether none of the first `claimed` chunks is still being copied.
    pub fn has_settled(&self, claimed: u64) -> bool {
        self.settled.load(Ordering::Acquire) >= claimed
    }

    fn chunks(&self) -> u64 {
        let len = self.len.load(Ordering::Relaxed);
        len.div_ceil(chunk_bytes(len))
    }

    fn finished(&self) -> bool {
        self.has_settled(self.chunks())
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

    /// The other half of `give_up`: an error unless all that was read until now was right.
    fn check(&self) -> Result<(), CommError> {
        fence(Ordering::SeqCst);
        match self.given_up.load(Ordering::Relaxed).checked_sub(1) {
            None => Ok(()),
            Some(rank) => Err(CommError::System {
                what: format!("rank {rank} gave up a long message before it was copied"),
                error: "another transfer of that rank failed, or this one was dropped".into(),
            }),
        }
    }

    fn copy_chunk(
        &self,
        rank: Rank,
        from_back: bool,
        copy: impl FnOnce(Chunk) -> Result<(), CommError>,
    ) -> Result<bool, CommError> {
        let Some(chunk) = self.claim(from_back) else { return Ok(false) };
        let len = self.len.load(Ordering::Relaxed);
        let start = chunk * chunk_bytes(len);
        let copied = copy(Chunk {
            source: self.source.load(Ordering::Relaxed) + start,
            target: self.target.load(Ordering::Relaxed) + start,
            len: chunk_bytes(len).min(len - start) as usize,
        });
        // That the peer took its buffer away says more than what the system made of it.
        let checked = self.check().and(copied);
        if checked.is_err() {
            self.give_up(rank);
        }
        self.settled.fetch_add(1, Ordering::AcqRel);
        checked.map(|()| true)
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
        for len in [crate::memory::direct::LEAST as u64 + 1, 1 << 20, (1 << 31) + 1, 1 << 48] {
            let chunks = len.div_ceil(chunk_bytes(len));
            assert!(chunks >= 2 && chunks < u64::from(u32::MAX), "{len}: {chunks}");
        }
    }
}

#[cfg(all(test, loom))]
#[path = "slot_model.rs"]
mod model;
