//! A schedule over the queue beside the library's own collective, in turns within one run.

use laneway_core::{
    Buf, Buffers, Collective, Comm, Exec, NativeCall, Rank, Round, Schedule, Shape, span,
};
use laneway_mpi::MpiComm;

use crate::Verdict;
use crate::collectives::{Ring, barrier};

/// The binomial tree from rank 0.
struct Binomial {
    ranks: u32,
    len: u64,
}

impl Schedule for Binomial {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        let whole = span(Buf::Out, 0, self.len);
        let highest = if rank == 0 { self.ranks.next_power_of_two() } else { lowest_bit(rank) };
        if rank > 0 {
            out.recv(rank - lowest_bit(rank), whole);
            out.drain();
        }
        let mut step = highest / 2;
        while step > 0 {
            if rank + step < self.ranks {
                out.send(rank + step, whole);
            }
            step /= 2;
        }
    }
}

fn lowest_bit(rank: Rank) -> u32 {
    rank & rank.wrapping_neg()
}

/// Prints the ratio of our time to the library's for bcast and allgather.
pub fn compare(comm: &MpiComm) -> Verdict {
    for len in [8u64, 1 << 10, 1 << 16] {
        let p = comm.size();
        let (mut ours, mut theirs) = (vec![1u8; len as usize], vec![1u8; len as usize]);
        let shape = Shape::new(Collective::Bcast, p, len);
        let tree = Binomial { ranks: p, len };
        let buffers = Buffers::new(&[], &mut ours, &mut []);
        let mut exec = Exec::new(comm, &tree, buffers, None, 0)?;
        report(comm, "bcast", len, &mut || exec.run().map_err(Into::into), &mut || {
            let (input, output) = (&[][..], &mut theirs[..]);
            Ok(comm.native(NativeCall { shape: &shape, input, output, reduction: None })?)
        })?;
        drop(exec);
        let mine = vec![1u8; len as usize];
        let (mut ours, mut theirs) = (mine.repeat(p as usize), mine.repeat(p as usize));
        let shape = Shape::new(Collective::Allgather, p, len);
        let ring = Ring { ranks: p, block: len };
        let buffers = Buffers::new(&mine, &mut ours, &mut []);
        let mut exec = Exec::new(comm, &ring, buffers, None, 0)?;
        report(comm, "allgather", len, &mut || exec.run().map_err(Into::into), &mut || {
            let (input, output) = (&mine[..], &mut theirs[..]);
            Ok(comm.native(NativeCall { shape: &shape, input, output, reduction: None })?)
        })?;
    }
    Ok(())
}

/// Times both in turns: batches of `BATCH` calls, the fastest tenth of `TURNS` batches.
fn report(
    comm: &MpiComm,
    name: &str,
    len: u64,
    ours: &mut dyn FnMut() -> Verdict,
    theirs: &mut dyn FnMut() -> Verdict,
) -> Verdict {
    const TURNS: usize = 41;
    const BATCH: usize = 200;
    let batch = |work: &mut dyn FnMut() -> Verdict| -> Result<f64, Box<dyn std::error::Error>> {
        barrier(comm)?;
        let begin = comm.clock().now();
        for _ in 0..BATCH {
            work()?;
            // Keeps a root that only sends from running ahead of its receivers.
            barrier(comm)?;
        }
        Ok((comm.clock().now() - begin) / BATCH as f64 * 1e6)
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        a.push(batch(ours)?);
        b.push(batch(theirs)?);
    }
    // Other work on the machine only ever adds, so the fast end is what can be compared.
    let fast = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 10]
    };
    let (a, b) = (fast(&mut a), fast(&mut b));
    if comm.rank() == 0 {
        println!("{name} {len} bytes: schedule {a:.3} us, native {b:.3} us, ratio {:.3}", a / b);
    }
    Ok(())
}
