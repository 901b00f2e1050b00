//! Operations that are given up while they are under way: their memory is then its owner's, and
//! stays what the owner makes of it. Two ranks; rank 1 has the data.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use laneway_core::{
    Buf, Buffers, Collective, Comm, CommError, Exec, NativeCall, Rank, Round, Schedule, Shape, span,
};
use laneway_mpi::MpiComm;

use crate::{Verdict, expect};

const BYTES: usize = 8 << 20;
const SENT: u8 = 0xEE;
const OURS: u8 = 0x11;

fn own_error() -> CommError {
    CommError::Argument { what: "the caller's own".into() }
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Rank 1 sends, rank 0 receives.
struct OneMessage;

impl Schedule for OneMessage {
    fn ranks(&self) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _round: u64, out: &mut Round) {
        match rank {
            1 => out.send(0, span(Buf::In, 0, BYTES as u64)),
            _ => out.recv(1, span(Buf::Out, 0, BYTES as u64)),
        }
    }
}

/// A broadcast whose root is late, and what is done meanwhile fails.
fn broadcast(comm: &MpiComm, fail: fn() -> CommError) -> Verdict {
    let shape = Shape::new(Collective::Bcast, 2, BYTES as u64).with_root(1);
    let mut data = vec![SENT; BYTES];
    let call = NativeCall { shape: &shape, input: &[], output: &mut data, reduction: None };
    if comm.rank() == 1 {
        sleep(millis(700));
        comm.native_meanwhile(call, &mut |_| Ok(()))?;
        comm.send(0, 5, &[1])?;
        return Ok(());
    }
    let given_up = catch_unwind(AssertUnwindSafe(|| {
        comm.native_meanwhile(call, &mut |test| {
            test()?;
            Err(fail())
        })
    }));
    expect!(!matches!(given_up, Ok(Ok(()))), "the failure is not reported");
    data.fill(OURS);
    comm.recv(Some(1), Some(5), &mut [0])?;
    expect!(data.iter().all(|byte| *byte == OURS), "a write into memory given back");
    Ok(())
}

pub fn error(comm: &MpiComm) -> Verdict {
    broadcast(comm, own_error)
}

pub fn panic(comm: &MpiComm) -> Verdict {
    // To look up where it was takes longer than all the rest.
    std::panic::set_hook(Box::new(|_| {}));
    broadcast(comm, || panic!("in what is done meanwhile"))
}

/// A receive that a message has met is given up before the message has come.
pub fn receive(comm: &MpiComm) -> Verdict {
    let (mut data, mut none) = (vec![SENT; BYTES], []);
    if comm.rank() == 1 {
        let buffers = Buffers::new(&data, &mut [], &mut none);
        let mut exec = Exec::new(comm, &OneMessage, buffers, None, 0)?;
        exec.run_meanwhile(&mut |test| {
            // The announcement goes out, and then nothing goes on.
            let begun = Instant::now();
            while begun.elapsed() < millis(300) {
                test()?;
            }
            sleep(millis(2500));
            Ok(())
        })?;
        comm.send(0, 5, &[1])?;
        return Ok(());
    }
    comm.probe(Some(1), None, true)?;
    sleep(millis(600));
    let buffers = Buffers::new(&[], &mut data, &mut none);
    let mut exec = Exec::new(comm, &OneMessage, buffers, None, 0)?;
    let given_up = exec.run_meanwhile(&mut |test| {
        let begun = Instant::now();
        while begun.elapsed() < millis(200) {
            test()?;
        }
        Err(own_error())
    });
    drop(exec);
    expect!(given_up.is_err(), "the failure is not reported");
    data.fill(OURS);
    comm.recv(Some(1), Some(5), &mut [0])?;
    expect!(data.iter().all(|byte| *byte == OURS), "a write into memory given back");
    Ok(())
}

/// A send is given up; who receives it later gets its bytes, and not what came after them.
pub fn send(comm: &MpiComm) -> Verdict {
    let (mut data, mut none) = (vec![SENT; BYTES], []);
    if comm.rank() == 1 {
        give_up_send(comm, &data)?;
        data.fill(OURS);
        comm.recv(Some(0), Some(6), &mut [0])?;
        return Ok(());
    }
    sleep(millis(500));
    data.fill(0);
    let buffers = Buffers::new(&[], &mut data, &mut none);
    Exec::new(comm, &OneMessage, buffers, None, 0)?.run()?;
    expect!(data.iter().all(|byte| *byte == SENT), "bytes came that were not sent");
    comm.send(1, 6, &[1])?;
    Ok(())
}

/// A send without a receive: giving it up ends the run, unless the library has all of it in
/// memory of its own.
pub fn stuck(comm: &MpiComm) -> Verdict {
    let mut data = vec![SENT; BYTES];
    if comm.rank() == 1 {
        give_up_send(comm, &data)?;
        println!("the library has taken all of it");
        data.fill(OURS);
        comm.send(0, 6, &[1])?;
        return Ok(());
    }
    comm.recv(Some(1), Some(6), &mut [0])?;
    let mut none = [];
    let buffers = Buffers::new(&[], &mut data, &mut none);
    Exec::new(comm, &OneMessage, buffers, None, 0)?.run()?;
    expect!(data.iter().all(|byte| *byte == SENT), "bytes came that were not sent");
    Ok(())
}

fn give_up_send(comm: &MpiComm, data: &[u8]) -> Result<(), CommError> {
    let (mut none, mut nothing) = ([], []);
    let buffers = Buffers::new(data, &mut none, &mut nothing);
    let mut exec = Exec::new(comm, &OneMessage, buffers, None, 0)?;
    // Its error is the one that we make.
    _ = exec.run_meanwhile(&mut |_| Err(own_error()));
    Ok(())
}
