//! Scenarios in which every message must arrive whole, once, and in order.

use laneway_core::{Comm, CommError, Progress, Queue, Rank, Slot};
use laneway_local::LocalComm;

/// Messages repeat a block of this length, a prime: no piece or chunk has a multiple of it, so a
/// part that lands elsewhere is found out.
const BLOCK: usize = 997;

fn block(seed: u64) -> [u8; BLOCK] {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) as usize;
    std::array::from_fn(|at| ((start ^ at) + (at >> 8)) as u8)
}

pub fn filled(seed: u64, len: usize) -> Vec<u8> {
    let block = block(seed);
    let mut data = Vec::with_capacity(len + BLOCK);
    while data.len() < len {
        data.extend_from_slice(&block);
    }
    data.truncate(len);
    data
}

pub fn check(data: &[u8], seed: u64) {
    let block = block(seed);
    for (at, part) in data.chunks(BLOCK).enumerate() {
        let len = data.len();
        assert!(part == &block[..part.len()], "block {at} of message {seed} of {len} bytes");
    }
}

/// Waits for all that a queue has under way.
pub fn wait_all(queue: &mut dyn Queue, mut left: usize) -> Result<(), CommError> {
    let mut done: Vec<Slot> = Vec::new();
    while left > 0 {
        done.clear();
        queue.wait(&mut done)?;
        left -= done.len();
    }
    Ok(())
}

/// Every length around the limits of each path, between neighbours, both directions at once.
pub fn lengths(comm: &LocalComm) -> Result<(), CommError> {
    let around =
        [0, 32, 64, 1024, 4096, 16 << 10, 32 << 10, 60 << 10, 64 << 10, 128 << 10, 1 << 20];
    let lengths = around.iter().flat_map(|&at: &usize| [at.saturating_sub(1), at, at + 1]);
    let (right, left) = neighbours(comm);
    for (round, len) in lengths.chain([3 << 20, 5_000_001]).enumerate() {
        let seed = |from: Rank| (round as u64) << 32 | u64::from(from);
        let (out, mut back) = (filled(seed(comm.rank()), len), vec![0; len]);
        let mut queue = comm.queue();
        // SAFETY: both buffers outlive the wait below.
        let pending = unsafe {
            let receive = queue.recv(0, left, 3, back.as_mut_ptr(), len)?;
            let send = queue.send(1, right, 3, out.as_ptr(), len)?;
            [receive, send].iter().filter(|&&progress| progress == Progress::Pending).count()
        };
        wait_all(&mut *queue, pending)?;
        drop(queue);
        check(&back, seed(left));
        let mut again = vec![0; len + 5];
        if comm.rank().is_multiple_of(2) {
            comm.send(right, 4, &out)?;
            comm.recv(Some(left), Some(4), &mut again)?;
        } else {
            let message = comm.recv(Some(left), Some(4), &mut again)?;
            assert_eq!((message.from, message.tag, message.len), (left, 4, len as u64));
            comm.send(right, 4, &out)?;
        }
        check(&again[..len], seed(left));
    }
    Ok(())
}

fn neighbours(comm: &LocalComm) -> (Rank, Rank) {
    let (rank, size) = (comm.rank(), comm.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

/// Long and short messages with several tags, received in another order than sent.
pub fn order(comm: &LocalComm) -> Result<(), CommError> {
    let lens = [2_000_000, 10, 70_000, 0, 500_000, 5_000, 31_000, 100];
    let seed =
        |from: Rank, tag: usize, turn: usize| u64::from(from) << 20 | (tag * 2 + turn) as u64;
    let (right, left) = neighbours(comm);
    let out: Vec<Vec<u8>> = (0..16)
        .map(|at| filled(seed(comm.rank(), at % 8, at / 8), lens[at % 8] + at / 8))
        .collect();
    let mut queue = comm.queue();
    let mut pending = 0;
    for (slot, data) in out.iter().enumerate() {
        let tag = (slot % 8) as u16;
        // SAFETY: the data outlives the wait below.
        let progress = unsafe { queue.send(slot as Slot, right, tag, data.as_ptr(), data.len())? };
        pending += usize::from(progress == Progress::Pending);
    }
    for tag in [7usize, 0, 5, 2, 4, 1, 6, 3] {
        for turn in 0..2 {
            let mut back = vec![0; lens[tag] + 1];
            let message = comm.recv(Some(left), Some(tag as u16), &mut back)?;
            assert_eq!(message.len as usize, lens[tag] + turn, "messages of one tag keep order");
            check(&back[..message.len as usize], seed(left, tag, turn));
        }
    }
    wait_all(&mut *queue, pending)
}

/// Messages to oneself, early and late, short and long.
pub fn own(comm: &LocalComm) -> Result<(), CommError> {
    let me = comm.rank();
    for len in [0, 8, 5000, 3 << 20] {
        let data = filled(len as u64, len);
        let mut back = vec![0; len];
        comm.send(me, 9, &data)?;
        assert_eq!(comm.probe(None, None, true)?.map(|message| message.from), Some(me));
        comm.recv(None, Some(9), &mut back)?;
        check(&back, len as u64);
        let mut late = vec![0; len];
        let mut queue = comm.queue();
        // SAFETY: the buffers outlive the queue.
        let progress = unsafe {
            assert_eq!(queue.recv(5, me, 2, late.as_mut_ptr(), len)?, Progress::Pending);
            queue.send(6, me, 2, data.as_ptr(), len)?
        };
        assert_eq!(progress, Progress::Done);
        let mut done = Vec::new();
        queue.wait(&mut done)?;
        assert_eq!(done, [5]);
        drop(queue);
        check(&late, len as u64);
    }
    assert_eq!(comm.probe(None, None, false)?, None);
    Ok(())
}

/// Communicators within communicators, whose messages never meet.
pub fn split(comm: &LocalComm) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let colour = (rank != 1).then_some(rank % 2);
    let half = comm.split(colour, size - rank)?;
    let twin = comm.dup()?;
    assert_eq!((twin.rank(), twin.size()), (rank, size));
    assert_eq!(twin.hosts()?.len(), size as usize);
    let next = (rank + 1) % size;
    let before = (rank + size - 1) % size;
    // The same tag in two communicators: the later one is received first.
    comm.send(next, 1, &[1])?;
    twin.send(next, 1, &[2])?;
    let mut got = [0];
    twin.recv(None, None, &mut got)?;
    assert_eq!(got, [2]);
    comm.recv(Some(before), None, &mut got)?;
    assert_eq!(got, [1]);
    assert_eq!(half.is_none(), rank == 1);
    if let Some(half) = half {
        let expected: Vec<Rank> =
            (0..size).rev().filter(|&r| r != 1 && r % 2 == rank % 2).collect();
        assert_eq!(half.size() as usize, expected.len());
        assert_eq!(expected[half.rank() as usize], rank, "ordered by key");
        let to = (half.rank() + 1) % half.size();
        half.send(to, 3, &rank.to_ne_bytes())?;
        let mut word = [0; 4];
        let message = half.recv(None, Some(3), &mut word)?;
        assert_eq!(message.from, (half.rank() + half.size() - 1) % half.size());
        assert_eq!(u32::from_ne_bytes(word), expected[message.from as usize]);
        let pair = half.split(Some(half.rank() / 2), 0)?.expect("every rank has a colour");
        assert!(pair.size() <= 2);
    }
    Ok(())
}

/// A message from each to each, with all under way at once.
pub fn all_to_all(comm: &LocalComm) -> Result<(), CommError> {
    for len in [4usize, 200] {
        let size = comm.size() as usize;
        let out: Vec<Vec<u8>> =
            (0..size).map(|to| filled((comm.rank() as usize * size + to) as u64, len)).collect();
        let mut back = vec![vec![0; len]; size];
        let mut queue = comm.queue();
        let mut pending = 0;
        for (from, data) in back.iter_mut().enumerate() {
            // SAFETY: the buffers outlive the wait below.
            let progress =
                unsafe { queue.recv(from as Slot, from as Rank, 0, data.as_mut_ptr(), len)? };
            pending += usize::from(progress == Progress::Pending);
        }
        for step in 0..size {
            let to = (comm.rank() as usize + step) % size;
            let data = &out[to];
            let slot = (size + to) as Slot;
            // SAFETY: as above.
            let progress = unsafe { queue.send(slot, to as Rank, 0, data.as_ptr(), len)? };
            pending += usize::from(progress == Progress::Pending);
        }
        wait_all(&mut *queue, pending)?;
        drop(queue);
        for (from, data) in back.iter().enumerate() {
            check(data, (from * size + comm.rank() as usize) as u64);
        }
    }
    Ok(())
}

/// A token that goes round and counts its steps.
pub fn ring(comm: &LocalComm) -> Result<(), CommError> {
    let (right, left) = neighbours(comm);
    let mut word = [0; 8];
    for lap in 0..200u64 {
        if comm.rank() == 0 {
            comm.send(right, 0, &word)?;
            comm.recv(Some(left), Some(0), &mut word)?;
            assert_eq!(u64::from_ne_bytes(word), (lap + 1) * u64::from(comm.size() - 1));
        } else {
            comm.recv(Some(left), Some(0), &mut word)?;
            comm.send(right, 0, &(u64::from_ne_bytes(word) + 1).to_ne_bytes())?;
        }
    }
    Ok(())
}

/// A message that is too long, of every protocol, is an error that tells both lengths.
pub fn truncate(comm: &LocalComm) -> Result<(), CommError> {
    let len: usize = std::env::var("TEST_LEN").ok().and_then(|len| len.parse().ok()).unwrap_or(9);
    if comm.rank() == 1 {
        // A long one may wait for its receive, which never comes to an end.
        let _ = comm.send(0, 7, &vec![1; len]);
        return Ok(());
    }
    let mut small = vec![0; len - 1];
    let error = comm.recv(Some(1), Some(7), &mut small).expect_err("it does not fit");
    let (sent, room) = (len as u64, len as u64 - 1);
    assert_eq!(error, CommError::Truncated { from: 1, tag: 7, sent, room });
    assert_eq!(comm.send(1, 7, &[]).expect_err("nothing goes on after an error"), error);
    Ok(())
}

/// Both ends of a queue's transfer name the length: a shorter message is found out as well.
pub fn mismatch(comm: &LocalComm) -> Result<(), CommError> {
    if comm.rank() == 1 {
        return comm.send(0, 7, &[1; 3]);
    }
    let mut room = [0; 4];
    let mut queue = comm.queue();
    // SAFETY: the buffer outlives the queue.
    unsafe { queue.recv(0, 1, 7, room.as_mut_ptr(), 4)? };
    let error = queue.wait(&mut Vec::new()).expect_err("it is too short").to_string();
    assert!(error.contains("3 bytes") && error.contains("4 were due"), "{error}");
    Ok(())
}

/// Says what the backend is; the driver reads it.
pub fn describe(comm: &LocalComm) -> Result<(), CommError> {
    if comm.rank() == 0 {
        println!("{:?} global clock {}", comm.describe(), comm.clock().is_global());
    }
    assert!(comm.send(comm.size(), 0, &[]).is_err(), "there is no such rank");
    Ok(())
}

/// One message of more than 2 GiB.
pub fn big(comm: &LocalComm) -> Result<(), CommError> {
    let len = (1 << 31) + 1;
    let mut data = vec![0u8; len];
    let mark = |at: usize| (at / 1000) as u8 | 1;
    let marks = || (0..len).step_by(1_000_003).chain([len - 1]);
    if comm.rank() == 0 {
        marks().for_each(|at| data[at] = mark(at));
        comm.send(1, 0, &data)?;
    } else {
        let message = comm.recv(Some(0), Some(0), &mut data)?;
        assert_eq!(message.len, len as u64);
        marks().for_each(|at| assert_eq!(data[at], mark(at), "byte {at}"));
    }
    Ok(())
}
