//! A stress: every pair exchanges messages of random lengths around every threshold, some awaited
//! and some early, while the driver stops ranks and lets them go on.

use std::time::{Duration, Instant};

use laneway_core::{Comm, CommError, Progress, Rank, Slot};
use laneway_local::LocalComm;

use crate::messages::{check, filled, wait_all};
use crate::storm::random;

/// How long it goes on; by hand it may be longer.
pub const SECONDS: &str = "TEST_STRESS_SECONDS";

/// Chooses lengths and orders; printed, so that a failure can be had again.
pub const SEED: &str = "TEST_STRESS_SEED";

/// Where the way of a message changes: within a cell, pieces, laps of rings of every size, direct
/// copies, their chunks, offers over sockets.
const EDGES: [u64; 14] = [
    0,
    32,
    64,
    1 << 10,
    4 << 10,
    8 << 10,
    12_224,
    16 << 10,
    32 << 10,
    61_376,
    64 << 10,
    128 << 10,
    256 << 10,
    1 << 20,
];

/// Messages from each rank to each other one in a round.
fn each(size: u32) -> u64 {
    if size <= 8 { 6 } else { 1 }
}

pub fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One message of a round.
#[derive(Clone, Copy)]
struct Planned {
    from: Rank,
    to: Rank,
    seed: u64,
    len: usize,
}

fn planned(round_seed: u64, from: Rank, to: Rank, number: u64) -> Planned {
    let seed = random(round_seed ^ u64::from(from) << 40 ^ u64::from(to) << 20 ^ number);
    // Long ones are rarer, so that there are many of the others.
    let edge = EDGES[(seed % 64).min(seed >> 8 & 15).min(13) as usize];
    let jitter = seed >> 16 & 7;
    let len = match seed >> 20 & 3 {
        0 => edge,
        1 => edge + jitter,
        2 => edge.saturating_sub(jitter),
        _ => (seed >> 24) % (edge + 1),
    };
    Planned { from, to, seed, len: len as usize }
}

/// What a rank has to send and to receive in a round, in an order of its own.
fn tasks(round_seed: u64, me: Rank, size: u32) -> Vec<Planned> {
    let others = (0..size).filter(|&other| other != me);
    let mut tasks: Vec<Planned> = others
        .flat_map(|other| [(me, other), (other, me)])
        .flat_map(|(from, to)| (0..each(size)).map(move |k| planned(round_seed, from, to, k)))
        .collect();
    // Pairs keep their order; which pair comes next does not matter.
    let key = |task: &Planned| random(round_seed ^ u64::from(me) << 8 ^ u64::from(task.from));
    tasks.sort_by_key(|task| (key(task), task.from, task.to));
    tasks
}

fn round(comm: &LocalComm, round_seed: u64) -> Result<(), CommError> {
    let (me, size) = (comm.rank(), comm.size());
    let tasks = tasks(round_seed, me, size);
    let mut queue = comm.queue();
    let mut data: Vec<Vec<u8>> = tasks
        .iter()
        .map(|task| if task.from == me { filled(task.seed, task.len) } else { vec![0; task.len] })
        .collect();
    let mut pending = 0;
    for (slot, (task, data)) in tasks.iter().zip(&mut data).enumerate() {
        if random(task.seed ^ u64::from(me)).is_multiple_of(32) {
            std::thread::sleep(Duration::from_micros(200));
        }
        let slot = slot as Slot;
        // SAFETY: the vectors keep their memory in place until all is waited for.
        let progress = unsafe {
            if task.from == me {
                queue.send(slot, task.to, 3, data.as_ptr(), data.len())?
            } else {
                queue.recv(slot, task.from, 3, data.as_mut_ptr(), data.len())?
            }
        };
        pending += usize::from(progress == Progress::Pending);
    }
    wait_all(&mut *queue, pending)?;
    drop(queue);
    tasks.iter().zip(&data).for_each(|(task, data)| check(data, task.seed));
    Ok(())
}

/// Rounds until rank 0 has had enough.
pub fn stress(comm: &LocalComm) -> Result<(), CommError> {
    let seed = from_environment(SEED, 1);
    let mut end = Instant::now() + Duration::from_secs(60);
    for number in 0.. {
        let mut more = [u8::from(Instant::now() < end)];
        if comm.rank() == 0 {
            (1..comm.size()).try_for_each(|other| comm.send(other, 1, &more))?;
        } else {
            comm.recv(Some(0), Some(1), &mut more)?;
        }
        if more == [0] {
            break;
        }
        round(comm, random(seed ^ number << 8))?;
        if number == 0 && comm.rank() == 0 {
            println!("running");
            end = Instant::now() + Duration::from_secs(from_environment(SECONDS, 1));
        }
    }
    Ok(())
}
