//! Long messages straight from the sender's memory to the receiver's: both processes claim chunks
//! from one cursor and copy them, so the process that runs does the work.

use std::rc::Rc;
use std::time::{Duration, Instant};

use laneway_core::{CommError, Rank};
use laneway_message::Stage;

use super::between::{Open, copy_between};
use super::slot::Chunk;
use crate::board::{Board, SLOTS};
use crate::sync::Ordering;

/// Below this a copy through the ring is faster.
pub(crate) const LEAST: usize = 32 << 10;

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

    fn copy(&self, chunk: Chunk, peer: Rank, write: bool) -> Result<(), CommError> {
        let Chunk { source, target, len } = chunk;
        let pid = self.board.seat(peer).pid.load(Ordering::Relaxed);
        let (local, remote) = if write { (source, target) } else { (target, source) };
        // SAFETY: the local end lies within a buffer that its owner vouched for with the offer or
        // the acceptance, and no other claim covers these bytes.
        let copied = unsafe { copy_between(pid, local, remote, len, write) };
        copied.map_err(|error| refused(peer, error))
    }
}

impl laneway_message::Direct for Direct {
    unsafe fn offer(&mut self, data: *const u8, len: usize) -> Option<u32> {
        let number = (0..SLOTS as u32).find(|&number| {
            // A slot of ours may be done here while its receiver has not looked yet.
            self.used & (1 << number) == 0 && self.board.slot(self.rank, number).is_free()
        })?;
        self.board.slot(self.rank, number).offer(data as u64, len as u64);
        self.used |= 1 << number;
        Some(number)
    }

    unsafe fn accept(&mut self, from: Rank, slot: u32, into: *mut u8) {
        self.board.slot(from, slot).accept(into as u64);
        if self.both_sides {
            self.board.ring(from);
        }
    }

    fn pull(&mut self, from: Rank, number: u32) -> Result<Stage, CommError> {
        let slot = self.board.slot(from, number);
        let stage = slot.pull(self.rank, |chunk| self.copy(chunk, from, false))?;
        if stage == Stage::Finished {
            self.board.ring(from);
        }
        Ok(stage)
    }

    fn assist(&mut self, to: Rank, number: u32) -> Result<Stage, CommError> {
        let slot = self.board.slot(self.rank, number);
        let stage = slot.assist(self.rank, |chunk| self.copy(chunk, to, true))?;
        if stage == Stage::Finished {
            self.used &= !(1 << number);
            self.board.ring(to);
        }
        Ok(stage)
    }

    fn withdraw(&mut self, number: u32) {
        self.board.slot(self.rank, number).free();
        self.used &= !(1 << number);
    }

    /// A receiver that reads at this moment sees after its chunk that it must not trust it.
    fn abandon(&mut self, to: Rank, number: u32) {
        self.board.slot(self.rank, number).give_up(self.rank);
        self.board.ring(to);
    }

    fn revoke(&mut self, from: Rank, number: u32, limit: Duration) {
        let slot = self.board.slot(from, number);
        let claimed = slot.close(self.rank);
        let start = Instant::now();
        while !slot.has_settled(claimed) && self.board.ended(from).is_none() {
            if start.elapsed() > limit {
                // A live sender that does not finish one chunk in all this time may still write
                // into memory that our caller takes back: no state is left to go on from.
                eprintln!("error: rank {from} does not let go of a buffer of this rank");
                std::process::abort();
            }
            std::thread::yield_now();
        }
        slot.free();
        self.board.ring(from);
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
    use laneway_message::Direct as _;

    use super::*;

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
        // SAFETY: the pair keeps both buffers as long as both ends.
        let slot = unsafe {
            let slot = sender.offer(data.as_ptr(), data.len()).unwrap();
            receiver.accept(0, slot, into.as_mut_ptr());
            slot
        };
        Pair { sender, receiver, slot, data, into }
    }

    #[test]
    fn both_sides_copy_one_message() {
        let mut pair = pair();
        assert_eq!(pair.receiver.pull(0, pair.slot), Ok(Stage::Moved));
        while pair.sender.assist(1, pair.slot) != Ok(Stage::Finished) {}
        assert_eq!(pair.receiver.pull(0, pair.slot), Ok(Stage::Finished));
        assert!(pair.into == pair.data);
        // SAFETY: no receiver accepts this offer.
        let again = unsafe { pair.sender.offer(pair.data.as_ptr(), pair.data.len()) };
        assert_eq!(again, Some(pair.slot));
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
            // What the receiver's engine does then must not wait for another rank.
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
        board.slot(0, pair.slot).set_source(8);
        let error = pair.receiver.pull(0, pair.slot).expect_err("nothing lies at address 8");
        assert!(error.to_string().contains("Bad address"), "{error}");
        pair.receiver.revoke(0, pair.slot, Duration::ZERO);
        assert!(pair.sender.assist(1, pair.slot).is_err());
    }
}
