//! One slot in every order of its two ranks that loom finds: what a receiver takes for whole has
//! the sender's bytes, no write goes into a buffer that was taken back, and both sides end.

use std::sync::Arc;
use std::time::Duration;

use loom::thread;

use super::*;
use crate::doorbell::Doorbell;
use crate::sync::Watch;

const SENDER: Rank = 0;
const RECEIVER: Rank = 1;

/// Two chunks, one for each side if they share.
const CHUNKS: usize = 2;
const CHUNK: u64 = 32 << 10;

/// Where the buffers lie.
const SOURCE: u64 = 1 << 20;
const TARGET: u64 = 2 << 20;

/// What the buffers hold: the message, what the sender writes when it has its buffer back, and what
/// the receiver writes when it has its own.
const MESSAGE: u32 = 1;
const SENDERS_NEXT: u32 = 2;
const RECEIVERS_NEXT: u32 = 3;

/// A slot and all else that the two share; a word stands for the bytes of a chunk.
struct Pair {
    slot: Slot,
    /// The number of messages announced to the receiver, as by a frame in the ring.
    announced: AtomicU32,
    bells: [Doorbell; 2],
    /// The receiver may read it while the sender writes: the system copies bytes as they are.
    source: [AtomicU32; CHUNKS],
    target: [AtomicU32; CHUNKS],
    /// Of the target, which only one side at a time may touch.
    watches: [Watch; CHUNKS],
}

impl Pair {
    fn new() -> Arc<Pair> {
        let words = |value| std::array::from_fn(|_| AtomicU32::new(value));
        Arc::new(Pair {
            slot: Slot::new(),
            announced: AtomicU32::new(0),
            bells: [Doorbell::new(), Doorbell::new()],
            source: words(MESSAGE),
            target: words(0),
            watches: std::array::from_fn(|_| Watch::new()),
        })
    }

    fn copy(&self, chunk: Chunk) -> Result<(), CommError> {
        assert_eq!(chunk.source - SOURCE, chunk.target - TARGET, "the same place in both buffers");
        let at = ((chunk.source - SOURCE) / CHUNK) as usize;
        self.watches[at].write();
        self.target[at].store(self.source[at].load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }

    /// Writes into a buffer as its owner.
    fn refill(buffer: &[AtomicU32], value: u32) {
        buffer.iter().for_each(|word| word.store(value, Ordering::Relaxed));
    }

    /// What the receiver finds in its buffer.
    fn received(&self) -> [u32; CHUNKS] {
        self.watches.iter().for_each(Watch::read);
        std::array::from_fn(|at| self.target[at].load(Ordering::Relaxed))
    }

    fn offer(&self) {
        self.slot.offer(SOURCE, CHUNKS as u64 * CHUNK);
        self.announced.fetch_add(1, Ordering::Release);
        self.ring(RECEIVER);
    }

    /// Waits for the sender's word, then names the buffer.
    fn accept(&self, messages: u32) {
        let announced = || self.announced.load(Ordering::Acquire) >= messages;
        self.wait(RECEIVER, || announced().then_some(()));
        self.slot.accept(TARGET);
        self.ring(SENDER);
    }

    fn ring(&self, rank: Rank) {
        self.bells[rank as usize].ring();
    }

    /// Goes on as `Engine::wait_for` does; a wake-up that is lost is a deadlock of the model.
    fn wait<T>(&self, rank: Rank, mut look: impl FnMut() -> Option<T>) -> T {
        let bell = &self.bells[rank as usize];
        loop {
            if let Some(found) = look() {
                return found;
            }
            bell.arm();
            let found = look();
            if found.is_none() {
                bell.sleep(Duration::MAX);
            }
            bell.disarm();
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Moves chunks to the end, or to an error, as one of the two.
    fn finish(&self, rank: Rank) -> Result<(), CommError> {
        let step = || match rank {
            SENDER => self.slot.assist(rank, |chunk| self.copy(chunk)),
            _ => self.slot.pull(rank, |chunk| self.copy(chunk)),
        };
        let ended = self.wait(rank, || {
            loop {
                match step() {
                    Ok(Stage::Moved) => {}
                    Ok(Stage::Idle) => return None,
                    Ok(Stage::Finished) => return Some(Ok(())),
                    Err(error) => return Some(Err(error)),
                }
            }
        });
        if ended.is_ok() {
            self.ring(1 - rank);
        }
        ended
    }

    /// As `Direct::abandon`; but the buffer is the sender's again before the bell rings, and the
    /// receiver goes on meanwhile: the bell's fence must not be what helps, and loom by itself
    /// tries no other order of fences.
    fn abandon(&self) {
        self.slot.give_up(SENDER);
        Pair::refill(&self.source, SENDERS_NEXT);
        thread::yield_now();
        self.ring(RECEIVER);
    }

    /// As `Direct::revoke`; and here too the buffer is the receiver's before the bell rings.
    fn revoke(&self) {
        let claimed = self.slot.close(RECEIVER);
        while !self.slot.has_settled(claimed) {
            thread::yield_now();
        }
        self.watches.iter().for_each(Watch::write);
        Pair::refill(&self.target, RECEIVERS_NEXT);
        self.slot.free();
        self.ring(SENDER);
    }

    /// To the end of a message; true where it is whole.
    fn send(&self) -> bool {
        let sent = self.finish(SENDER);
        if sent.is_err() {
            self.abandon();
        }
        sent.is_ok()
    }

    fn receive(&self, message: u32) -> bool {
        let got = self.finish(RECEIVER);
        match got {
            Ok(()) => assert_eq!(self.received(), [message; CHUNKS], "received, with other bytes"),
            Err(_) => self.revoke(),
        }
        got.is_ok()
    }
}

/// One of the two: whether the message is whole for it.
type Side = fn(&Pair) -> bool;

/// Every order of the two with this number of preemptions, after which a buffer is as its owner
/// left it.
fn check(preemptions: usize, sender: Side, receiver: Side, last: u32) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let pair = Pair::new();
        let other = pair.clone();
        let sender = thread::spawn(move || sender(&other));
        let whole = receiver(&pair);
        sender.join().expect("a sender that ends well");
        let expected = if whole { last } else { RECEIVERS_NEXT };
        assert_eq!(pair.received(), [expected; CHUNKS]);
    });
}

fn send_one(pair: &Pair) -> bool {
    pair.offer();
    pair.send()
}

fn receive_one(pair: &Pair) -> bool {
    pair.accept(1);
    pair.receive(MESSAGE)
}

fn take_back_at_once(pair: &Pair) -> bool {
    pair.offer();
    pair.abandon();
    false
}

fn take_back_after_a_chunk(pair: &Pair) -> bool {
    pair.offer();
    let whole = pair.slot.assist(SENDER, |chunk| pair.copy(chunk)) == Ok(Stage::Finished);
    match whole {
        true => pair.ring(RECEIVER),
        false => pair.abandon(),
    }
    whole
}

/// A sender that the system refuses the first copy.
fn fail_a_chunk(pair: &Pair) -> bool {
    let refuse = |_| Err(CommError::Argument { what: "refused".into() });
    pair.offer();
    let ended = pair.wait(SENDER, || match pair.slot.assist(SENDER, refuse) {
        Ok(Stage::Finished) => Some(true),
        Ok(_) => None,
        Err(_) => Some(false),
    });
    match ended {
        true => pair.ring(RECEIVER),
        false => pair.abandon(),
    }
    ended
}

/// A receiver that another transfer fails, after a chunk of this one.
fn revoke_after_a_chunk(pair: &Pair) -> bool {
    pair.accept(1);
    let whole = pair.slot.pull(RECEIVER, |chunk| pair.copy(chunk)) == Ok(Stage::Finished);
    match whole {
        true => pair.ring(SENDER),
        false => pair.revoke(),
    }
    whole
}

#[test]
fn both_sides_copy_one_message() {
    let sender: Side = |pair| assert_whole(send_one(pair));
    check(3, sender, |pair| assert_whole(receive_one(pair)), MESSAGE);
}

fn assert_whole(whole: bool) -> bool {
    assert!(whole, "neither side gives up");
    true
}

#[test]
fn a_slot_serves_the_next_message() {
    let sender: Side = |pair| {
        assert_whole(send_one(pair));
        Pair::refill(&pair.source, SENDERS_NEXT);
        pair.wait(SENDER, || pair.slot.is_free().then_some(()));
        assert_whole(send_one(pair))
    };
    let receiver: Side = |pair| {
        assert_whole(receive_one(pair));
        pair.accept(2);
        assert_whole(pair.receive(SENDERS_NEXT))
    };
    check(2, sender, receiver, SENDERS_NEXT);
}

#[test]
fn a_receiver_does_not_trust_what_its_sender_took_back() {
    check(4, take_back_at_once, receive_one, MESSAGE);
    check(4, take_back_after_a_chunk, receive_one, MESSAGE);
}

#[test]
fn a_sender_leaves_alone_what_its_receiver_took_back() {
    check(3, send_one, revoke_after_a_chunk, MESSAGE);
}

#[test]
fn a_chunk_that_failed_is_not_received() {
    check(4, fail_a_chunk, receive_one, MESSAGE);
}

#[test]
fn both_may_give_up_at_once() {
    check(4, take_back_at_once, revoke_after_a_chunk, MESSAGE);
    check(4, take_back_after_a_chunk, revoke_after_a_chunk, MESSAGE);
}
