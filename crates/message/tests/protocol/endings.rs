//! Ranks that end, and connections that break: only ranks that wait for them get an error.

use std::sync::Arc;
use std::time::{Duration, Instant};

use laneway_core::{Comm, CommError, Slot};
use laneway_message::{Header, MessageComm};

use crate::link::{EAGER, Hub};
use crate::{LONG, bytes};

const HOW: &str = "its connection broke on all paths";

fn died(rank: u32) -> CommError {
    CommError::PeerDied { rank, how: HOW.into() }
}

type Way = fn(&MessageComm) -> Result<(), CommError>;

/// The ways in which rank 0 can wait for rank 1 of three.
const WAYS: [(&str, Way); 8] = [
    ("recv", |comm| comm.recv(Some(1), Some(1), &mut [0; 8]).map(drop)),
    ("recv any tag", |comm| comm.recv(Some(1), None, &mut [0; 8]).map(drop)),
    ("probe", |comm| comm.probe(Some(1), None, true).map(drop)),
    ("looks", |comm| {
        let begun = Instant::now();
        while comm.probe(Some(1), None, false)?.is_none() {
            assert!(begun.elapsed() < LONG, "it looks in vain");
        }
        Ok(())
    }),
    ("long send", |comm| comm.send(1, 1, &bytes(1, 3 * EAGER))),
    ("short sends", |comm| (0..50).try_for_each(|_| comm.send(1, 1, &[1; EAGER]))),
    ("queue", |comm| in_queue(comm, true)),
    ("tests of a queue", |comm| in_queue(comm, false)),
];

fn in_queue(comm: &MessageComm, wait: bool) -> Result<(), CommError> {
    let (mut into, mut done): (_, Vec<Slot>) = ([0; 8], Vec::new());
    let mut queue = comm.queue();
    // SAFETY: the buffer outlives the queue.
    unsafe { queue.recv(0, 1, 1, into.as_mut_ptr(), into.len())? };
    let begun = Instant::now();
    while done.is_empty() {
        assert!(begun.elapsed() < LONG, "it asks in vain");
        if wait { queue.wait(&mut done)? } else { queue.test(&mut done)? }
    }
    Ok(())
}

/// Rank 0 waits, and after a moment `end` strikes.
fn strike(hub: &Arc<Hub>, way: Way, end: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let comm = hub.comm(0, 0, LONG);
            let error = way(&comm).expect_err("nothing comes");
            assert_eq!(error, died(1));
            assert_eq!(comm.send(2, 1, &[1]), Err(error), "the first error stays");
        });
        std::thread::sleep(Duration::from_millis(20));
        end();
        waits.join().expect("it ends as it should");
    });
}

#[test]
fn a_wait_for_a_rank_ends_with_its_end() {
    for (name, way) in WAYS {
        println!("{name}");
        let hub = Hub::new(3);
        strike(&hub, way, || hub.end(1, HOW));
    }
}

#[test]
fn an_error_of_the_link_ends_every_wait() {
    for (name, way) in WAYS {
        println!("{name}");
        let hub = Hub::new(3);
        strike(&hub, way, || hub.fail(1, died(1)));
    }
}

#[test]
fn half_a_message_is_not_delivered() {
    let hub = Hub::new(3);
    hub.inject(1, 0, &Header::eager(0, 1, 8).encode());
    hub.inject(1, 0, &[1, 2, 3]);
    strike(&hub, |comm| comm.recv(None, None, &mut [0; 8]).map(drop), || hub.end(1, HOW));
}

#[test]
fn a_receive_from_any_rank_waits_while_one_can_send() {
    let hub = Hub::new(3);
    hub.end(1, HOW);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let comm = hub.comm(0, 0, LONG);
            assert_eq!(comm.recv(None, None, &mut [0; 8]).map(|message| message.from), Ok(2));
            assert_eq!(comm.recv(None, None, &mut [0; 8]), Err(died(1)));
        });
        std::thread::sleep(Duration::from_millis(20));
        hub.comm(2, 0, LONG).send(0, 1, &[5]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        hub.end(2, HOW);
    });
}

#[test]
fn bytes_that_come_after_the_news_of_an_end_are_waited_for() {
    let mut bytes = Header::eager(0, 1, 8).encode().to_vec();
    bytes.extend([7; 8]);
    for from in [Some(1), None] {
        let hub = Hub::new(2);
        hub.end_before_its_bytes(1, 0, &bytes, HOW);
        let comm = hub.comm(0, 0, LONG);
        let mut into = [0; 8];
        assert_eq!(comm.recv(from, Some(1), &mut into).map(|message| message.len), Ok(8));
        assert_eq!(into, [7; 8]);
        assert_eq!(comm.recv(from, Some(1), &mut into), Err(died(1)));
    }
}

#[test]
fn the_last_words_of_a_rank_are_heard() {
    let hub = Hub::new(3);
    hub.comm(1, 0, LONG).send(0, 1, &[7; 9]).unwrap();
    hub.end(1, HOW);
    let comm = hub.comm(0, 0, LONG);
    let mut into = [0; 9];
    comm.send(2, 1, &[1]).expect("rank 2 is well");
    assert_eq!(comm.probe(None, None, false).unwrap().map(|message| message.from), Some(1));
    assert_eq!(comm.recv(Some(1), None, &mut into).map(|message| message.len), Ok(9));
    assert_eq!(into, [7; 9]);
    assert_eq!(comm.probe(None, None, false), Ok(None), "no receive waits for rank 1 here");
    assert_eq!(comm.recv(Some(1), None, &mut into), Err(died(1)));
}

#[test]
fn last_words_may_come_while_the_world_is_asked() {
    let hub = Hub::new(2);
    let mut words = Header::eager(0, 1, 2).encode().to_vec();
    words.extend([8, 9]);
    hub.end_when_asked(1, 0, &words, HOW);
    let comm = hub.comm(0, 0, LONG);
    let mut into = [0; 2];
    assert_eq!(comm.recv(Some(1), None, &mut into).map(|message| message.len), Ok(2));
    assert_eq!(into, [8, 9]);
    assert_eq!(comm.recv(Some(1), None, &mut into), Err(died(1)));
}

#[test]
fn a_wait_without_news_has_an_end() {
    let hub = Hub::new(2);
    let comm = hub.comm(0, 0, Duration::from_millis(50));
    let error = comm.recv(Some(1), Some(3), &mut []).expect_err("no rank sends");
    let CommError::TimedOut { waiting_for, .. } = error else { panic!("{error}") };
    assert_eq!(waiting_for, "a message from rank 1 with tag 3");
}

#[test]
#[should_panic(expected = "aborted with code 3, missed Some(1)")]
fn a_timeout_names_the_awaited_rank() {
    let hub = Hub::new(2);
    hub.end(1, HOW);
    let comm = hub.comm(0, 0, LONG);
    assert_eq!(comm.recv(Some(1), None, &mut []), Err(died(1)));
    comm.abort(3);
}
