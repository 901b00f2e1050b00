//! A storm: every rank sends messages of random lengths and tags to random ranks, and receives with
//! wildcards and probes what comes.

use laneway_core::{Comm, CommError, Progress, Rank, Slot, Tag};
use laneway_local::LocalComm;
use laneway_stats::SplitMix64;

use crate::messages::{check, filled, wait_all};

const SEED: u64 = 20_260_101;
const EACH: u64 = 300;
const TAGS: u64 = 5;

#[derive(Clone, Copy)]
struct Planned {
    to: Rank,
    tag: Tag,
    len: usize,
}

/// The first number of a seed.
pub fn random(seed: u64) -> u64 {
    SplitMix64::new(seed).next_u64()
}

/// Message `number` of a rank; every rank can compute every plan.
fn planned(from: Rank, number: u64, size: u32) -> Planned {
    let draw = random(SEED ^ u64::from(from) << 40 ^ number);
    let len = match draw % 16 {
        0..6 => draw >> 32 & 63,
        6..11 => draw >> 32 & 0x1fff,
        11..15 => draw >> 32 & 0x1_ffff,
        _ => draw >> 32 & 0xf_ffff,
    };
    Planned {
        to: (draw >> 8 & 0xfff) as u32 % size,
        tag: (draw >> 20 & 0xff) as u16 % TAGS as u16,
        len: len as usize,
    }
}

fn seed(from: Rank, number: u64) -> u64 {
    u64::from(from) << 32 | number
}

pub fn storm(comm: &LocalComm) -> Result<(), CommError> {
    let (me, size) = (comm.rank(), comm.size());
    // For each source and tag, what is still to come, in order.
    let mut due: Vec<Vec<Vec<u64>>> = vec![vec![Vec::new(); TAGS as usize]; size as usize];
    let mut awaited = 0;
    for from in 0..size {
        for number in (0..EACH).rev() {
            let plan = planned(from, number, size);
            if plan.to == me {
                due[from as usize][plan.tag as usize].push(number);
                awaited += 1;
            }
        }
    }
    let mut queue = comm.queue();
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut pending = 0;
    let mut received = 0;
    for number in 0..EACH {
        let plan = planned(me, number, size);
        let data = filled(seed(me, number), plan.len);
        // SAFETY: the vector keeps its memory in place until the wait at the end.
        let progress =
            unsafe { queue.send(number as Slot, plan.to, plan.tag, data.as_ptr(), data.len())? };
        pending += usize::from(progress == Progress::Pending);
        kept.push(data);
        let draw = random(number ^ u64::from(me) << 8);
        while received < awaited
            && comm.probe(None, None, false)?.is_some()
            && !draw.is_multiple_of(3)
        {
            take(comm, draw + received, &mut due)?;
            received += 1;
        }
    }
    while received < awaited {
        take(comm, random(received), &mut due)?;
        received += 1;
    }
    wait_all(&mut *queue, pending)?;
    assert!(due.iter().flatten().all(Vec::is_empty));
    Ok(())
}

/// Receives one message in one of four ways and checks that it is the next of its kind.
fn take(comm: &LocalComm, way: u64, due: &mut [Vec<Vec<u64>>]) -> Result<(), CommError> {
    let seen = comm.probe(None, None, true)?.expect("a waiting probe finds a message");
    let (from, tag) = match way % 4 {
        0 => (None, None),
        1 => (Some(seen.from), None),
        2 => (None, Some(seen.tag)),
        _ => (Some(seen.from), Some(seen.tag)),
    };
    let mut data = vec![0; seen.len as usize + (way % 3) as usize];
    let message = comm.recv(from, tag, &mut data)?;
    assert_eq!(message, seen, "a receive takes what the probe saw");
    let number = due[message.from as usize][message.tag as usize].pop().expect("it was due");
    let plan = planned(message.from, number, comm.size());
    assert_eq!(message.len as usize, plan.len, "from {} number {number}", message.from);
    check(&data[..plan.len], seed(message.from, number));
    Ok(())
}
