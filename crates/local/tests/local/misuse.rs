//! Scenarios in which a program takes its buffers back too early, or gives a schedule that breaks
//! the rules: they end in an error or with the right bytes, never with other bytes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use laneway_core::{Buf, Buffers, Comm, CommError, Exec, Rank, Round, Schedule, span};
use laneway_local::LocalComm;

/// One lane with one round.
struct Plan(u32, fn(Rank, &mut Round));

impl Schedule for Plan {
    fn ranks(&self) -> u32 {
        self.0
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        (self.1)(rank, out)
    }
}

const LEN: usize = 1 << 20;

/// Rank 0 sends the whole of In, rank 1 receives it.
fn one_message(ranks: u32) -> Plan {
    Plan(ranks, |rank, out| match rank {
        0 => out.send(1, span(Buf::In, 0, LEN as u64)),
        1 => out.recv(0, span(Buf::Out, 0, LEN as u64)),
        _ => {}
    })
}

/// What a receiver may see of a message of 0xAA whose sender gave it up.
fn judge(got: Result<(), CommError>, data: &[u8]) {
    match got {
        Ok(()) => assert!(data.iter().all(|&byte| byte == 0xAA), "received, with other bytes"),
        Err(error) => println!("received: {error}"),
    }
}

fn receive(comm: &LocalComm) -> Result<(), CommError> {
    let plan = one_message(comm.size());
    let mut out = vec![0; LEN];
    let got = Exec::new(comm, &plan, Buffers::new(&[], &mut out, &mut []), None, 0)?.run();
    judge(got, &out);
    Ok(())
}

/// A collective is given up with a long message under way, before and while it is received, and the
/// buffer is used again (or returned to the system).
fn give_up_after(comm: &LocalComm, wait: Duration, keep: bool) -> Result<(), CommError> {
    if comm.rank() == 1 {
        sleep(Duration::from_millis(100));
        let begun = Instant::now();
        receive(comm)?;
        // Over sockets it is the sender's end, or the limit of one second, that tells.
        assert!(begun.elapsed() < Duration::from_secs(10), "an error comes soon");
        return Ok(());
    }
    let plan = one_message(2);
    let mut data = vec![0xAA; LEN];
    let mut exec = Exec::new(comm, &plan, Buffers::new(&data, &mut [], &mut []), None, 0)?;
    let given_up = exec.run_meanwhile(&mut |test| {
        let begun = Instant::now();
        while begun.elapsed() < wait {
            test()?;
        }
        Err(CommError::Argument { what: "the caller has enough".into() })
    });
    drop(exec);
    if wait.is_zero() {
        assert!(given_up.is_err() && comm.probe(None, None, false).is_err());
    }
    data.fill(0xBB);
    let data = keep.then_some(data);
    sleep(Duration::from_millis(400));
    drop(std::hint::black_box(data));
    Ok(())
}

pub fn drop_sender(comm: &LocalComm) -> Result<(), CommError> {
    give_up_after(comm, Duration::ZERO, true)
}

pub fn drop_sender_late(comm: &LocalComm) -> Result<(), CommError> {
    give_up_after(comm, Duration::from_micros(100_050), true)
}

pub fn free_sender(comm: &LocalComm) -> Result<(), CommError> {
    give_up_after(comm, Duration::ZERO, false)
}

/// The same with a queue alone.
pub fn drop_queue(comm: &LocalComm) -> Result<(), CommError> {
    let mut data = vec![if comm.rank() == 0 { 0xAA } else { 0 }; LEN];
    if comm.rank() == 1 {
        sleep(Duration::from_millis(100));
        let got = comm.recv(Some(0), Some(3), &mut data).map(|_| ());
        judge(got, &data);
        return Ok(());
    }
    let mut queue = comm.queue();
    // SAFETY: the data outlives the queue, which gives it back when it is dropped.
    unsafe { queue.send(0, 1, 3, data.as_ptr(), data.len())? };
    drop(queue);
    data.fill(0xBB);
    sleep(Duration::from_millis(400));
    std::hint::black_box(&data);
    Ok(())
}

/// A blocking send ends at the limit of one second; then its receiver comes.
pub fn late_receiver(comm: &LocalComm) -> Result<(), CommError> {
    let mut data = vec![if comm.rank() == 0 { 0xAA } else { 0 }; LEN];
    if comm.rank() == 1 {
        sleep(Duration::from_millis(1300));
        let got = comm.recv(Some(0), Some(1), &mut data).map(|_| ());
        judge(got, &data);
        return Ok(());
    }
    let error = comm.send(1, 1, &data).expect_err("no rank receives it in time");
    assert!(matches!(error, CommError::TimedOut { seconds: 1, .. }), "{error}");
    data.fill(0xBB);
    sleep(Duration::from_millis(600));
    std::hint::black_box(&data);
    Ok(())
}

/// A long message is under way when another one of the same rank fails.
pub fn fail_beside(comm: &LocalComm) -> Result<(), CommError> {
    let plan = Plan(3, |rank, out| match rank {
        0 => {
            out.send(1, span(Buf::In, 0, LEN as u64));
            out.recv(2, span(Buf::Out, 0, 4));
        }
        1 => out.recv(0, span(Buf::Out, 0, LEN as u64)),
        _ => out.send(0, span(Buf::In, 0, 8)),
    });
    let (mut data, mut out) = (vec![0xAA; LEN], vec![0; LEN]);
    if comm.rank() == 1 {
        sleep(Duration::from_millis(100));
    }
    let buffers = Buffers::new(&data, &mut out, &mut []);
    let got = Exec::new(comm, &plan, buffers, None, 0)?.run();
    match comm.rank() {
        0 => {
            assert!(matches!(got, Err(CommError::Truncated { .. })), "{got:?}");
            data.fill(0xBB);
            sleep(Duration::from_millis(400));
            std::hint::black_box(&data);
        }
        1 => judge(got, &out),
        _ => assert_eq!(got, Ok(())),
    }
    Ok(())
}

/// A gate that never opens ends one rank with a sentence, and the other with it.
pub fn stuck(comm: &LocalComm) -> Result<(), CommError> {
    let plan = Plan(2, |rank, out| {
        if rank == 0 {
            out.after(7, 0);
            out.send(1, span(Buf::In, 0, 4));
        } else {
            out.recv(0, span(Buf::Out, 0, 4));
        }
    });
    let mut out = [0; 4];
    Exec::new(comm, &plan, Buffers::new(&[0; 4], &mut out, &mut []), None, 0)?.run()
}

/// Messages of a rank to itself whose places overlap are refused or arrive whole.
pub fn overlap(comm: &LocalComm) -> Result<(), CommError> {
    let plan = Plan(1, |_, out| {
        out.recv(0, span(Buf::Out, 0, 64));
        out.send(0, span(Buf::Out, 8, 64));
    });
    let mut out: Vec<u8> = (0..72).collect();
    let got = Exec::new(comm, &plan, Buffers::new(&[], &mut out, &mut []), None, 0)?.run();
    assert!(matches!(got, Err(CommError::Argument { .. })), "{got:?}");
    Ok(())
}

/// A queue promises nothing about messages of a rank to itself that overlap.
pub fn overlap_in_queue(comm: &LocalComm) -> Result<(), CommError> {
    let mut data: Vec<u8> = (0..72).collect();
    let start = data.as_mut_ptr();
    let mut queue = comm.queue();
    // SAFETY: both places lie within the data, which outlives the queue.
    unsafe {
        queue.recv(0, 0, 3, start, 64)?;
        queue.send(1, 0, 3, start.add(8), 64)?;
    }
    let mut done = Vec::new();
    queue.test(&mut done)?;
    assert_eq!(done, [0]);
    drop(queue);
    assert!(data[..64].iter().copied().eq(8..72), "{data:?}");
    Ok(())
}
