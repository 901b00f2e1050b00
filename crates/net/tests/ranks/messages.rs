//! Scenarios in which every message must arrive whole, once, and in order.

use std::time::Duration;

use laneway_core::{Comm, CommError, Progress, Queue, Rank, Slot};
use laneway_net::RanksComm;
use laneway_stats::SplitMix64;

/// Bytes that say which message they belong to, and where.
fn filled(seed: u64, len: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend(random.next_u64().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Waits for all that a queue has under way.
fn wait_all(queue: &mut dyn Queue, mut left: usize) -> Result<(), CommError> {
    let mut done: Vec<Slot> = Vec::new();
    while left > 0 {
        done.clear();
        queue.wait(&mut done)?;
        left -= done.len();
    }
    Ok(())
}

/// Every length around the limits of packets, eager messages and the messages of a connection,
/// between neighbours, in both directions at once.
pub fn lengths(comm: &RanksComm) -> Result<(), CommError> {
    let header = laneway_message::HEADER;
    let part = laneway_message::PART;
    let around = [1, 256, 1420, 8920, 64 << 10, part - header, part, 2 * part, 4 << 20];
    let lengths = around.iter().flat_map(|&at: &usize| [at - 1, at, at + 1]);
    let (size, own) = (comm.size(), comm.rank());
    let (right, left) = ((own + 1) % size, (own + size - 1) % size);
    for (round, len) in lengths.chain([20_000_001]).enumerate() {
        let seed = |from: Rank| (round as u64) << 32 | u64::from(from);
        let (out, mut back) = (filled(seed(own), len), vec![0; len]);
        let mut queue = comm.queue();
        // SAFETY: both buffers outlive the wait below.
        let pending = unsafe {
            let receive = queue.recv(0, left, 3, back.as_mut_ptr(), len)?;
            let send = queue.send(1, right, 3, out.as_ptr(), len)?;
            [receive, send].iter().filter(|&&progress| progress == Progress::Pending).count()
        };
        wait_all(&mut *queue, pending)?;
        assert!(back == filled(seed(left), len), "{len} bytes from {left} to {own}");
    }
    Ok(())
}

/// Thousands of short messages to one rank, more than receives wait for.
pub fn order(comm: &RanksComm) -> Result<(), CommError> {
    const COUNT: u32 = 5000;
    if comm.rank() > 0 {
        return (0..COUNT).try_for_each(|k| comm.send(0, 1, &k.to_le_bytes()));
    }
    for k in 0..COUNT {
        for from in 1..comm.size() {
            let mut bytes = [0; 4];
            comm.recv(Some(from), Some(1), &mut bytes)?;
            assert_eq!(u32::from_le_bytes(bytes), k, "from rank {from}");
        }
    }
    Ok(())
}

/// Messages to oneself, short and long, beside those to others.
pub fn own(comm: &RanksComm) -> Result<(), CommError> {
    for len in [0, 5, 100_000, 3_000_000] {
        let out = filled(len as u64, len);
        comm.send(comm.rank(), 2, &out)?;
        let mut back = vec![0; len];
        let message = comm.recv(Some(comm.rank()), Some(2), &mut back)?;
        assert_eq!((message.from, message.len), (comm.rank(), len as u64));
        assert!(back == out);
    }
    lengths(comm)
}

/// Rank 0 takes whatever comes from whomever; each sender's messages keep their order.
pub fn any_source(comm: &RanksComm) -> Result<(), CommError> {
    const COUNT: usize = 300;
    let len = |from: Rank, k: usize| (k * 977 + from as usize * 31) % 150_000;
    if comm.rank() > 0 {
        for k in 0..COUNT {
            let data = filled(k as u64, len(comm.rank(), k));
            comm.send(0, k as u16 % 7, &data)?;
        }
        return Ok(());
    }
    let mut next = vec![0; comm.size() as usize];
    let mut into = vec![0; 150_000];
    for _ in 0..COUNT * (comm.size() as usize - 1) {
        let message = comm.recv(None, None, &mut into)?;
        let k = next[message.from as usize];
        assert_eq!((message.tag, message.len as usize), (k as u16 % 7, len(message.from, k)));
        assert!(into[..message.len as usize] == filled(k as u64, message.len as usize));
        next[message.from as usize] += 1;
    }
    assert!(next[1..].iter().all(|&count| count == COUNT));
    Ok(())
}

/// All ranks send to all messages of random lengths at once.
pub fn storm(comm: &RanksComm) -> Result<(), CommError> {
    let (size, own) = (comm.size(), comm.rank());
    for round in 0..40u64 {
        let seed = |from: Rank, to: Rank| round << 20 | u64::from(from) << 10 | u64::from(to);
        let len = |from, to| match SplitMix64::new(seed(from, to)).next_u64() {
            drawn if drawn.is_multiple_of(8) => (drawn >> 8) as usize % 600_000,
            drawn => (drawn >> 8) as usize % 3000,
        };
        let out: Vec<Vec<u8>> = (0..size).map(|to| filled(seed(own, to), len(own, to))).collect();
        let mut back: Vec<Vec<u8>> = (0..size).map(|from| vec![0; len(from, own)]).collect();
        let mut queue = comm.queue();
        let mut pending = 0;
        for other in 0..size {
            let (mine, theirs) = (&out[other as usize], &mut back[other as usize]);
            // SAFETY: all buffers outlive the wait below.
            let started = unsafe {
                [
                    queue.recv(2 * other, other, 5, theirs.as_mut_ptr(), theirs.len())?,
                    queue.send(2 * other + 1, other, 5, mine.as_ptr(), mine.len())?,
                ]
            };
            pending += started.iter().filter(|&&progress| progress == Progress::Pending).count();
        }
        wait_all(&mut *queue, pending)?;
        for (from, bytes) in (0..).zip(&back) {
            assert!(*bytes == filled(seed(from, own), bytes.len()), "{from} to {own}");
        }
    }
    Ok(())
}

pub fn split(comm: &RanksComm) -> Result<(), CommError> {
    let half = comm.split(Some(comm.rank() % 2), 0)?.expect("a colour");
    let expected = comm.size() / 2 + u32::from(comm.size() % 2 > comm.rank() % 2);
    assert_eq!(half.size(), expected);
    if half.size() > 1 && half.rank() == 0 {
        half.send(1, 1, b"half")?;
    } else if half.rank() == 1 {
        let mut bytes = [0; 4];
        half.recv(Some(0), Some(1), &mut bytes)?;
        assert_eq!(&bytes, b"half");
    }
    Ok(())
}

/// A rank that computes while more comes than waits: the sender stands still, and nothing is lost.
pub fn late(comm: &RanksComm) -> Result<(), CommError> {
    const COUNT: u64 = 200;
    if comm.rank() == 0 {
        return (0..COUNT).try_for_each(|k| comm.send(1, 1, &filled(k, 60_000)));
    }
    std::thread::sleep(Duration::from_millis(700));
    for k in 0..COUNT {
        let mut bytes = vec![0; 60_000];
        comm.recv(Some(0), Some(1), &mut bytes)?;
        assert!(bytes == filled(k, 60_000), "message {k}");
    }
    Ok(())
}

/// What was sent arrives, also when its sender has left long ago.
pub fn last_words(comm: &RanksComm) -> Result<(), CommError> {
    if comm.rank() > 0 {
        return comm.send(0, 1, &filled(1, 50_000));
    }
    std::thread::sleep(Duration::from_millis(500));
    for from in (1..comm.size()).rev() {
        let mut bytes = vec![0; 50_000];
        comm.recv(Some(from), Some(1), &mut bytes)?;
        assert!(bytes == filled(1, 50_000), "from rank {from}");
    }
    Ok(())
}

/// What is known of the run.
pub fn describe(comm: &RanksComm) -> Result<(), CommError> {
    let hosts = comm.hosts()?;
    assert!(hosts.iter().all(|host| *host == hosts[0] && !host.is_empty()), "{hosts:?}");
    assert!(comm.clock().is_global());
    if comm.rank() == 0 {
        println!("{:?}", comm.describe());
    }
    Ok(())
}
