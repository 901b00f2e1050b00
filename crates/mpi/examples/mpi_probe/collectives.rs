//! The library's own collectives against their definition, and a schedule over the queue.

use laneway_core::{
    Blocks, Buf, Buffers, Collective, Comm, CommError, DataType, Exec, Form, Layout, Matrix,
    NativeCall, Place, Rank, ReduceOp, Round, Schedule, Shape, span,
};
use laneway_mpi::MpiComm;

use crate::{Verdict, expect};

pub fn barrier(comm: &MpiComm) -> Result<(), CommError> {
    let shape = Shape::new(Collective::Barrier, comm.size(), 0);
    comm.native(NativeCall { shape: &shape, input: &[], output: &mut [], reduction: None })
}

const SUM: (ReduceOp, DataType) = (ReduceOp::Sum, DataType::U16);

/// What `rank` gives: whole u16 elements, small enough that no sum overflows.
fn given(rank: Rank, len: u64) -> Vec<u8> {
    (0..len / 2).flat_map(|at| ((rank as u16 + 1) * 3 + at as u16 % 97).to_ne_bytes()).collect()
}

fn sum(ranks: impl Iterator<Item = Rank>, len: u64) -> Vec<u8> {
    let mut total = vec![0u16; len as usize / 2];
    for rank in ranks {
        let bytes = given(rank, len);
        for (into, from) in total.iter_mut().zip(bytes.chunks_exact(2)) {
            *into += u16::from_ne_bytes([from[0], from[1]]);
        }
    }
    total.into_iter().flat_map(u16::to_ne_bytes).collect()
}

/// What In holds at `rank` before the call.
fn input(shape: &Shape, rank: Rank) -> Vec<u8> {
    given(rank, shape.in_len(rank))
}

/// What Out must hold at `rank` after the call; `None` where it is undefined.
fn expected(shape: &Shape, rank: Rank) -> Option<Vec<u8>> {
    let (p, root, out) = (shape.ranks, shape.root, shape.out_len(rank));
    let part = |from: Vec<u8>, at: u64, len: u64| from[at as usize..][..len as usize].to_vec();
    let blocks = shape.blocks();
    let all = || (0..p).flat_map(|other| given(other, blocks.len(other))).collect();
    Some(match shape.collective.family() {
        Collective::Barrier => Vec::new(),
        Collective::Bcast => given(root, out),
        Collective::Scatter => {
            part(given(root, shape.in_len(root)), blocks.off(rank), blocks.len(rank))
        }
        Collective::Gather if rank != root => Vec::new(),
        Collective::Gather | Collective::Allgather => all(),
        Collective::Reduce if rank != root => Vec::new(),
        Collective::Reduce | Collective::Allreduce => sum(0..p, out),
        Collective::Scan => sum(0..rank + 1, out),
        Collective::Exscan if rank == 0 => return None,
        Collective::Exscan => sum(0..rank, out),
        Collective::ReduceScatter => {
            part(sum(0..p, shape.in_len(rank)), blocks.off(rank), blocks.len(rank))
        }
        _ => {
            let matrix = shape.matrix();
            let block = |other| {
                let span = matrix.sent(other, rank);
                part(input(shape, other), span.off, span.len)
            };
            (0..p).flat_map(block).collect()
        }
    })
}

/// The call in one form. What was started is tested now and then; rank 0 only waits.
fn make(comm: &MpiComm, call: NativeCall<'_>, form: Form) -> Result<(), CommError> {
    if form == Form::Blocking {
        return comm.native(call);
    }
    comm.native_meanwhile(call, &mut |test| {
        for _ in 0..20 * comm.rank() {
            test()?;
        }
        Ok(())
    })
}

/// Calls the native in both forms and compares every byte of Out.
fn run(comm: &MpiComm, shape: &Shape) -> Verdict {
    for form in Form::ALL {
        run_in(comm, shape, form)?;
    }
    Ok(())
}

fn run_in(comm: &MpiComm, shape: &Shape, form: Form) -> Verdict {
    let rank = comm.rank();
    if let Some(why) = comm.native_objection(shape, form) {
        // Releases of MPICH crash in these calls, which the backend therefore refuses.
        let reduce = shape.collective == Collective::Reduce && shape.root > 0;
        let known = reduce || shape.collective == Collective::ReduceScatter;
        let mpich = comm.found().version.contains("MPICH Version:");
        let crashes = known && shape.in_place && mpich && form == Form::Blocking;
        expect!(crashes, "no native {}, {}: {why}", shape.collective.name(), form.name());
        return Ok(());
    }
    let (mine, out_len) = (input(shape, rank), shape.out_len(rank) as usize);
    let reduction = shape.collective.reduces().then_some(SUM);
    let mut memory = vec![0xeeu8; out_len.max(mine.len())];
    let out_at = match shape.place(rank) {
        Place::Apart => {
            memory.truncate(out_len);
            if shape.collective == Collective::Bcast && rank == shape.root {
                memory = given(rank, out_len as u64);
            }
            let call = NativeCall { shape, input: &mine, output: &mut memory, reduction };
            make(comm, call, form)?;
            0
        }
        Place::InWithinOut(at) => {
            memory[at as usize..][..mine.len()].copy_from_slice(&mine);
            let call = NativeCall { shape, input: &[], output: &mut memory, reduction };
            make(comm, call, form)?;
            0
        }
        Place::OutWithinIn(at) => {
            memory.copy_from_slice(&mine);
            let call = NativeCall { shape, input: &[], output: &mut memory, reduction };
            make(comm, call, form)?;
            at as usize
        }
    };
    if let Some(expected) = expected(shape, rank) {
        let right = memory[out_at..][..out_len] == expected[..];
        expect!(right, "{shape:?}, {}, gives other bytes", form.name());
    }
    Ok(())
}

pub fn natives(comm: &MpiComm) -> Verdict {
    let p = comm.size();
    let lengths: Vec<u64> = (0..p).map(|rank| u64::from(rank % 3) * 50).collect();
    let Some(uneven) = Blocks::of_lengths(&lengths) else {
        return Err("small lengths overflow".into());
    };
    let Some(pairs) = Matrix::of_lengths(p, |a, b| u64::from(a % 3 + b % 3) * 6) else {
        return Err("small lengths overflow".into());
    };
    for collective in Collective::ALL {
        let roots = if collective.has_root() { vec![0, p - 1] } else { vec![0] };
        let places = roots.iter().flat_map(|&root| [(root, false), (root, true)]);
        for (root, in_place) in places {
            for size in [0, 2, 30_000] {
                let element = if collective.reduces() { 2 } else { 1 };
                let shape = Shape::new(collective, p, size).with_root(root);
                let shape = shape.with_element(element, true).with_in_place(in_place);
                run(comm, &shape)?;
                if !collective.is_irregular() {
                    continue;
                }
                let listed = match shape.layout {
                    Layout::Matrix(_) => shape.with_matrix(pairs.clone()),
                    _ => shape.with_blocks(uneven.clone()),
                };
                run(comm, &listed)?;
            }
        }
    }
    refusals(comm)
}

/// What no library is asked, because it would read or write where it must not.
fn refusals(comm: &MpiComm) -> Verdict {
    let short = Shape::new(Collective::Bcast, comm.size(), 64);
    let answer = comm.native(NativeCall {
        shape: &short,
        input: &[],
        output: &mut [0; 63],
        reduction: None,
    });
    expect!(matches!(answer, Err(CommError::Argument { .. })), "63 bytes for 64: {answer:?}");
    let shape = Shape::new(Collective::Allreduce, comm.size(), 8).with_element(8, true);
    for reduction in [None, Some((ReduceOp::BitAnd, DataType::F64))] {
        let call = NativeCall { shape: &shape, input: &[0; 8], output: &mut [0; 8], reduction };
        let answer = comm.native(call);
        expect!(matches!(answer, Err(CommError::Argument { .. })), "{reduction:?}: {answer:?}");
    }
    let other = Shape::new(Collective::Barrier, comm.size() + 1, 0);
    expect!(!comm.has_native(&other), "a native for other ranks");
    Ok(())
}

pub fn large_bcast(comm: &MpiComm, bytes: &mut [u8], form: Form) -> Verdict {
    let shape = Shape::new(Collective::Bcast, comm.size(), bytes.len() as u64);
    if let Some(why) = comm.native_objection(&shape, form) {
        let old = comm.found().version.contains("MPICH Version: 4.0");
        expect!(old && form == Form::NonBlocking, "no {} bcast of 2 GiB: {why}", form.name());
        return Ok(());
    }
    if comm.rank() != 0 {
        bytes.fill(0);
    }
    let call = NativeCall { shape: &shape, input: &[], output: bytes, reduction: None };
    Ok(make(comm, call, form)?)
}

/// Every block goes round the ring.
pub struct Ring {
    pub ranks: u32,
    pub block: u64,
}

impl Schedule for Ring {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        u64::from(self.ranks)
    }

    fn round(&self, rank: Rank, _lane: u32, k: u64, out: &mut Round) {
        let (p, n) = (self.ranks, self.block);
        let block = |number: u32| span(Buf::Out, u64::from(number) * n, n);
        if k == 0 {
            out.copy(span(Buf::In, 0, n), block(rank));
            return;
        }
        let (sent, received) = ((rank + p + 1 - k as u32) % p, (rank + p - k as u32) % p);
        out.recv((rank + p - 1) % p, block(received));
        out.send((rank + 1) % p, block(sent));
        out.drain();
    }
}

pub fn schedule(comm: &MpiComm) -> Verdict {
    for block in [1u64, 100, 1 << 16, 1 << 20] {
        let ring = Ring { ranks: comm.size(), block };
        let mine = crate::messages::pattern(comm.rank(), block as usize);
        let mut out = vec![0u8; (block * u64::from(comm.size())) as usize];
        let buffers = Buffers::new(&mine, &mut out, &mut []);
        let mut exec = Exec::new(comm, &ring, buffers, None, 0)?;
        for _ in 0..3 {
            exec.run()?;
        }
        // SAFETY: the executor is waited for below, and dropped where that fails.
        unsafe { exec.start()? };
        // Over MPI nothing is done without its neighbours, unless there are none.
        if comm.size() > 1 && !exec.test()? {
            let again = exec.run();
            expect!(matches!(again, Err(CommError::Argument { .. })), "started twice: {again:?}");
        }
        while !exec.test()? {}
        exec.wait()?;
        drop(exec);
        for (rank, bytes) in out.chunks_exact(block as usize).enumerate() {
            let expected = crate::messages::pattern(rank as u32, block as usize);
            expect!(bytes == expected, "block {rank} of {block} bytes arrived changed");
        }
    }
    Ok(())
}
