//! Point-to-point messages: blocking, probed, queued, truncated, long.

use laneway_core::{Comm, CommError, Form, Message, Progress, Queue, Slot};
use laneway_mpi::MpiComm;

use crate::{Verdict, expect};

/// Bytes that identify their sender, their tag and their place.
pub fn pattern(seed: u32, len: usize) -> Vec<u8> {
    (0..len).map(|at| (seed as usize * 31 + at * 7 + at / 251) as u8).collect()
}

/// Ranks in pairs: an odd rank answers its even neighbour.
pub fn ping_pong(comm: &MpiComm) -> Verdict {
    let rank = comm.rank();
    let peer = rank ^ 1;
    if peer >= comm.size() {
        return Ok(());
    }
    for len in [0usize, 1, 1000, 1 << 16, 3 << 20] {
        let (mine, theirs) = (pattern(rank, len), pattern(peer, len));
        // Room that is larger than the message, so that the length is MPI's word.
        let mut into = vec![0u8; len + 5];
        let expected = Message { from: peer, tag: 9, len: len as u64 };
        if rank < peer {
            comm.send(peer, 9, &mine)?;
        }
        let got = comm.recv(Some(peer), Some(9), &mut into)?;
        expect!(got == expected, "{got:?} and not {expected:?}");
        expect!(into[..len] == theirs[..], "{len} bytes arrived changed");
        expect!(into[len..] == [0; 5], "bytes behind the message were written");
        if rank > peer {
            comm.send(peer, 9, &mine)?;
        }
    }
    Ok(())
}

/// All ranks write to rank 0, which takes what comes.
pub fn wildcards(comm: &MpiComm) -> Verdict {
    let rank = comm.rank();
    if rank != 0 {
        for tag in [1, 2] {
            comm.send(0, tag, &pattern(rank, (rank * 10) as usize))?;
        }
        return Ok(());
    }
    let mut next = vec![1u16; comm.size() as usize];
    let mut into = vec![0u8; 10 * comm.size() as usize];
    for _ in 0..2 * (comm.size() - 1) {
        let Message { from, tag, len } = comm.recv(None, None, &mut into)?;
        let due = std::mem::replace(&mut next[from as usize], tag + 1);
        expect!(tag == due, "tag {tag} of rank {from} came in the place of {due}");
        let sent = pattern(from, (from * 10) as usize);
        expect!(into[..len as usize] == sent[..], "rank {from}'s message arrived changed");
    }
    Ok(())
}

pub fn probe(comm: &MpiComm) -> Verdict {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    expect!(comm.probe(None, Some(33), false)?.is_none(), "a message before it was sent");
    super::comm_barrier(comm)?;
    let mut queue = comm.queue();
    let data = pattern(rank, 77);
    // SAFETY: the data outlives the queue's last wait below.
    let begun = unsafe { queue.send(0, next, 33, data.as_ptr(), data.len())? };
    let expected = Message { from: before, tag: 33, len: 77 };
    let seen = comm.probe(Some(before), None, true)?;
    expect!(seen == Some(expected), "{seen:?} and not {expected:?}");
    let mut looks = 0u64;
    let seen = loop {
        match comm.probe(None, Some(33), false)? {
            Some(message) => break message,
            None => looks += 1,
        }
        expect!(looks < 100_000_000, "a message that is there is never seen");
    };
    expect!(seen == expected, "{seen:?} and not {expected:?}");
    let mut into = [0u8; 77];
    comm.recv(Some(seen.from), Some(seen.tag), &mut into)?;
    expect!(into[..] == pattern(before, 77)[..], "the probed message arrived changed");
    if begun == Progress::Pending {
        drain(&mut *queue, 1)?;
    }
    Ok(())
}

fn drain(queue: &mut dyn Queue, count: usize) -> Result<Vec<Slot>, CommError> {
    let mut done = Vec::new();
    while done.len() < count {
        queue.wait(&mut done)?;
    }
    Ok(done)
}

/// Many transfers at once, of all lengths, with all ranks, through one queue that is used twice.
pub fn queue(comm: &MpiComm) -> Verdict {
    const EACH: usize = 60;
    let (rank, size) = (comm.rank(), comm.size());
    let lengths: Vec<usize> = (0..EACH).map(|i| i * i * 40).collect();
    let mut queue = comm.queue();
    for round in 0..2u32 {
        let mut into: Vec<Vec<u8>> =
            (0..size).flat_map(|_| lengths.iter().map(|&len| vec![0; len])).collect();
        let data: Vec<Vec<u8>> = lengths.iter().map(|&n| pattern(rank + round, n)).collect();
        let (mut slot, mut pending) = (0, Vec::new());
        let mut started = |progress, slot: Slot| {
            if progress == Progress::Pending {
                pending.push(slot);
            }
        };
        for (number, room) in into.iter_mut().enumerate() {
            let (from, at) = ((number / EACH) as u32, number % EACH);
            // SAFETY: the room is left alone until everything is done.
            let progress =
                unsafe { queue.recv(slot, from, at as u16, room.as_mut_ptr(), room.len())? };
            started(progress, slot);
            slot += 1;
        }
        for to in 0..size {
            for (at, bytes) in data.iter().enumerate() {
                // SAFETY: the data is left alone until everything is done.
                let progress =
                    unsafe { queue.send(slot, to, at as u16, bytes.as_ptr(), bytes.len())? };
                started(progress, slot);
                slot += 1;
            }
        }
        let mut done = Vec::new();
        queue.test(&mut done)?;
        while done.len() < pending.len() {
            if done.len() % 2 == 0 { queue.wait(&mut done)? } else { queue.test(&mut done)? }
        }
        done.sort_unstable();
        pending.sort_unstable();
        expect!(done == pending, "the slots that were done are not those that were pending");
        for (number, bytes) in into.iter().enumerate() {
            let from = (number / EACH) as u32;
            let expected = pattern(from + round, lengths[number % EACH]);
            expect!(*bytes == expected, "message {number} arrived changed");
        }
        queue.wait(&mut done)?;
        expect!(done.len() == pending.len(), "a queue at rest is done again");
    }
    Ok(())
}

/// A message that is too long for its buffer is a typed error, and the next one arrives.
pub fn truncation(comm: &MpiComm) -> Verdict {
    match comm.rank() {
        1 => {
            for tag in [1, 2, 3, 4] {
                comm.send(0, tag, &pattern(tag.into(), 64))?;
            }
        }
        0 => {
            let mut into = [0u8; 64];
            judge(comm.recv(Some(1), Some(1), &mut into[..16]).map(|_| ()))?;
            let mut queue = comm.queue();
            // SAFETY: the buffer outlives the wait.
            unsafe { queue.recv(0, 1, 2, into.as_mut_ptr(), 16)? };
            judge(queue.wait(&mut Vec::new()))?;
            drop(queue);
            let got = comm.recv(Some(1), Some(3), &mut into)?;
            expect!(got.len == 64 && into[..] == pattern(3, 64)[..], "no message after an error");
            comm.recv(Some(1), Some(4), &mut into)?;
        }
        _ => {}
    }
    Ok(())
}

fn judge(answer: Result<(), CommError>) -> Verdict {
    match answer {
        Err(CommError::Truncated { from: 1, sent: 64, room: 16, .. }) => Ok(()),
        // MPICH and what descends from it keep the sender's length to themselves.
        Err(CommError::Library { class: 14 | 15, ref text, .. }) if !text.is_empty() => {
            println!("truncation in MPI's words: {text}");
            Ok(())
        }
        other => Err(format!("64 bytes into 16 give {other:?}").into()),
    }
}

pub fn bad_rank(comm: &MpiComm) -> Verdict {
    for rank in [comm.size(), u32::MAX, u32::MAX - 1, 1 << 31] {
        let answer = comm.send(rank, 1, &[1]);
        let named = answer == Err(CommError::no_rank(rank, comm.size()));
        expect!(named, "a message to rank {rank} gives {answer:?}");
        let answer = comm.recv(Some(rank), None, &mut []);
        expect!(answer.is_err(), "a message from rank {rank} gives {answer:?}");
        // SAFETY: nothing is started.
        let answer = unsafe { comm.queue().send(0, rank, 1, [].as_ptr(), 0) };
        expect!(answer.is_err(), "a transfer to rank {rank} gives {answer:?}");
    }
    Ok(())
}

pub fn split(comm: &MpiComm) -> Verdict {
    let (rank, size) = (comm.rank(), comm.size());
    // Backwards by key.
    let Some(half) = comm.split(Some(rank % 2), size - rank)? else {
        return Err("a colour gives no communicator".into());
    };
    let members: Vec<u32> = (0..size).filter(|other| other % 2 == rank % 2).rev().collect();
    let place = members.iter().position(|&member| member == rank);
    expect!(half.size() as usize == members.len(), "{} of {members:?}", half.size());
    expect!(place == Some(half.rank() as usize), "rank {} in {members:?}", half.rank());
    let (next, before) =
        ((half.rank() + 1) % half.size(), (half.rank() + half.size() - 1) % half.size());
    let (data, mut into) = (pattern(rank, 20), [0u8; 20]);
    let mut queue = half.queue();
    // SAFETY: both buffers outlive the drain.
    let progress = unsafe {
        [
            queue.recv(0, before, 3, into.as_mut_ptr(), 20)?,
            queue.send(1, next, 3, data.as_ptr(), 20)?,
        ]
    };
    let pending = progress.iter().filter(|&&progress| progress == Progress::Pending).count();
    drain(&mut *queue, pending)?;
    expect!(into[..] == pattern(members[before as usize], 20)[..], "a message of another half");
    let alone = comm.split((rank == 0).then_some(5), 0)?;
    expect!(alone.is_some() == (rank == 0), "no colour, but a communicator");
    Ok(())
}

/// A message on the one is not seen on the other.
pub fn dup(comm: &MpiComm) -> Verdict {
    let twin = comm.dup()?;
    expect!((twin.rank(), twin.size()) == (comm.rank(), comm.size()), "the twin is another");
    if comm.size() < 2 {
        return Ok(());
    }
    match comm.rank() {
        0 => {
            twin.send(1, 5, b"twin")?;
            comm.send(1, 5, b"comm")?;
        }
        1 => {
            let mut into = [0u8; 4];
            comm.recv(Some(0), Some(5), &mut into)?;
            expect!(&into == b"comm", "the twin's message came to the other");
            twin.recv(Some(0), Some(5), &mut into)?;
            expect!(&into == b"twin", "the twin's message is lost");
        }
        _ => {}
    }
    Ok(())
}

/// 2 GiB and a byte: blocking with a probe, then through a queue.
pub fn large(comm: &MpiComm) -> Verdict {
    const LEN: usize = (1 << 31) + 1;
    let at = |place: usize| (place >> 20) as u8 ^ place as u8;
    let places = || (0..LEN).step_by(4093).chain([LEN - 1]);
    let mut bytes = vec![0u8; LEN];
    if comm.rank() == 0 {
        places().for_each(|place| bytes[place] = at(place));
        comm.send(1, 1, &bytes)?;
        let mut queue = comm.queue();
        // SAFETY: the bytes are left alone until the queue is done.
        unsafe { queue.send(0, 1, 2, bytes.as_ptr(), LEN)? };
        drain(&mut *queue, 1)?;
    } else if comm.rank() == 1 {
        let seen = comm.probe(Some(0), None, true)?;
        let expected = Message { from: 0, tag: 1, len: LEN as u64 };
        expect!(seen == Some(expected), "{seen:?} and not {expected:?}");
        let got = comm.recv(None, None, &mut bytes)?;
        expect!(got == expected, "{got:?} and not {expected:?}");
        expect!(places().all(|place| bytes[place] == at(place)), "2 GiB arrived changed");
        bytes.fill(0);
        let mut queue = comm.queue();
        // SAFETY: the room is left alone until the queue is done.
        unsafe { queue.recv(0, 0, 2, bytes.as_mut_ptr(), LEN)? };
        drain(&mut *queue, 1)?;
        expect!(places().all(|place| bytes[place] == at(place)), "2 GiB queued arrived changed");
    }
    for form in Form::ALL {
        crate::collectives::large_bcast(comm, &mut bytes, form)?;
        let right = places().all(|place| bytes[place] == at(place));
        expect!(right, "2 GiB broadcast arrived changed, {}", form.name());
    }
    Ok(())
}

/// Drops a queue with a receive that never completes: the run must end with a failure, not hang.
pub fn abandon(comm: &MpiComm) -> Verdict {
    let mut into = [0u8; 8];
    let mut queue = comm.queue();
    // SAFETY: dropping the queue cancels the receive before the buffer goes.
    unsafe { queue.recv(0, comm.rank(), 7, into.as_mut_ptr(), 8)? };
    Ok(())
}
