//! The message protocol by itself, over streams in memory that move pieces of random length.

mod endings;
mod frames;
mod link;
mod storm;

use std::sync::Arc;
use std::time::Duration;

use laneway_core::{Comm, CommError, Progress, Queue, Rank, Slot};
use laneway_message::MessageComm;

use link::{EAGER, Hub};

/// Far longer than any wait of a test that is right.
const LONG: Duration = Duration::from_secs(60);

/// Runs all ranks of a hub, each as a thread.
fn run(hub: &Arc<Hub>, size: u32, seed: u64, part: impl Fn(&MessageComm) + Sync) {
    std::thread::scope(|scope| {
        for rank in 0..size {
            let part = &part;
            scope.spawn(move || part(&hub.comm(rank, seed, LONG)));
        }
    });
}

/// The bytes of a message: no two messages, and no two places of one, are alike for long.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| ((seed as usize).wrapping_mul(31) ^ at.wrapping_mul(7) ^ (at >> 8)) as u8)
        .collect()
}

/// Waits until `left` transfers are complete.
fn wait_all(queue: &mut dyn Queue, mut left: usize) -> Result<(), CommError> {
    let mut done: Vec<Slot> = Vec::new();
    while left > 0 {
        done.clear();
        queue.wait(&mut done)?;
        left -= done.len();
    }
    Ok(())
}

#[test]
fn every_length_arrives_whole() {
    let lengths = [0, 1, EAGER / 2, EAGER - 1, EAGER, EAGER + 1, 5 * EAGER];
    run(&Hub::new(2), 2, 1, |comm| {
        let other = 1 - comm.rank();
        for (tag, len) in (0..).zip(lengths) {
            let mut into = vec![0xee; len + 3];
            if comm.rank() == 0 {
                comm.send(other, tag, &bytes(u64::from(tag), len)).unwrap();
                comm.recv(Some(other), Some(tag), &mut into).unwrap();
            } else {
                comm.recv(Some(other), Some(tag), &mut into).unwrap();
                comm.send(other, tag, &into[..len]).unwrap();
            }
            assert_eq!(into[..len], bytes(u64::from(tag), len));
            assert_eq!(into[len..], [0xee; 3], "what lies behind a message is untouched");
        }
    });
}

/// A message that is too long, early and late, short and long: all later calls say the same.
#[test]
fn a_message_longer_than_its_buffer_is_truncated() {
    for (len, early) in [(10, false), (10, true), (2 * EAGER, false), (2 * EAGER, true)] {
        let hub = Hub::new(2);
        run(&hub, 2, 2, |comm| {
            if comm.rank() == 0 {
                let sent = comm.send(1, 4, &bytes(0, len));
                // An eager send is over before its receiver looks; a long one gets the error.
                assert_eq!(sent.is_ok(), len <= EAGER, "{sent:?}");
                return;
            }
            if early {
                let seen = comm.probe(Some(0), None, true).unwrap().expect("it waited");
                assert_eq!((seen.from, seen.tag, seen.len), (0, 4, len as u64));
            }
            let due = CommError::Truncated { from: 0, tag: 4, sent: len as u64, room: 9 };
            let mut into = [0xee; 9];
            assert_eq!(comm.recv(None, Some(4), &mut into), Err(due.clone()));
            assert_eq!(into, [0xee; 9]);
            assert_eq!(comm.send(0, 5, &[1]), Err(due.clone()));
            assert_eq!(comm.probe(None, None, false), Err(due));
            hub.end(1, "went home");
        });
    }
}

#[test]
fn a_rank_that_is_not_there_is_named_with_the_size() {
    let comm = Hub::new(2).comm(0, 0, LONG);
    let due = CommError::no_rank(2, 2);
    assert_eq!(due.to_string(), "no rank 2 in a communicator of 2");
    assert_eq!(comm.send(2, 0, &[]), Err(due.clone()));
    assert_eq!(comm.recv(Some(2), None, &mut []), Err(due));
}

#[test]
fn a_queue_receives_exactly_what_is_due() {
    run(&Hub::new(2), 2, 3, |comm| {
        if comm.rank() == 0 {
            return comm.send(1, 4, &[7; 8]).unwrap();
        }
        let mut into = [0; 9];
        let mut queue = comm.queue();
        // SAFETY: the buffer outlives the queue.
        let started = unsafe { queue.recv(0, 0, 4, into.as_mut_ptr(), into.len()) };
        let error = started.and_then(|_| queue.wait(&mut Vec::new())).expect_err("too short");
        assert!(error.to_string().contains("8 bytes with tag 4 where 9 were due"), "{error}");
    });
}

#[test]
fn a_queue_that_is_dropped_gives_its_transfers_up() {
    let hub = Hub::new(2);
    let comm = hub.comm(0, 0, LONG);
    let data = bytes(0, 2 * EAGER);
    let mut queue = comm.queue();
    // SAFETY: the data outlives the queue.
    let started = unsafe { queue.send(0, 1, 4, data.as_ptr(), data.len()) };
    assert_eq!(started, Ok(Progress::Pending));
    drop(queue);
    let error = comm.send(1, 5, &[1]).expect_err("given up");
    assert!(error.to_string().contains("given up"), "{error}");
}

/// Communicators that different ranks numbered, over the same ranks: their messages never meet.
#[test]
fn communicators_have_streams_of_their_own() {
    run(&Hub::new(3), 3, 4, |comm| {
        let turned = comm.split(Some(0), 2 - comm.rank()).unwrap().expect("a colour");
        assert_eq!(turned.rank(), 2 - comm.rank());
        assert_eq!(turned.hosts().unwrap(), ["host-2", "host-1", "host-0"]);
        let again = turned.dup().unwrap();
        let twin = comm.dup().unwrap();
        let comms: [&dyn Comm; 4] = [comm, &*turned, &*again, &*twin];
        let next = |comm: &dyn Comm| (comm.rank() + 1) % 3;
        for (number, comm) in (0..4).zip(comms) {
            comm.send(next(comm), 1, &[number, comm.rank() as u8]).unwrap();
        }
        for (number, comm) in (0..4).zip(comms).rev() {
            let mut into = [0; 2];
            let message = comm.recv(None, Some(1), &mut into).unwrap();
            let before = (comm.rank() + 2) % 3;
            assert_eq!((message.from, into), (before, [number, before as u8]));
        }
        let pair = comm.split((comm.rank() != 1).then_some(5), 0).unwrap();
        assert_eq!(pair.map(|pair| pair.size()), (comm.rank() != 1).then_some(2));
    });
}

#[test]
fn a_rank_that_is_not_there_is_refused() {
    let hub = Hub::new(2);
    let comm = hub.comm(0, 0, LONG);
    let none: Rank = 2;
    assert!(matches!(comm.send(none, 0, &[]), Err(CommError::Argument { .. })));
    assert!(matches!(comm.recv(Some(none), None, &mut []), Err(CommError::Argument { .. })));
    assert!(matches!(comm.probe(Some(none), None, false), Err(CommError::Argument { .. })));
    comm.send(0, 0, &[]).expect("a wrong rank breaks nothing");
}
