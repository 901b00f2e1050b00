//! MPI's own collectives with the buffers, counts, datatypes and operators of the program.

use laneway_core::{Collective, CommError, Rank};

use super::{ProgramOperator, ProgramType, ProgramTypes};
use crate::flavour::Handle;

/// One side of a call, as MPI takes it.
#[derive(Clone, Copy)]
pub struct ProgramSide<'a> {
    /// An address, or the one that stands for "in place".
    pub buffer: *mut u8,
    /// Of one block or of the vector.
    pub count: i32,
    /// Of each rank's block, and where each begins, where blocks differ; else empty.
    pub counts: &'a [i32],
    /// In extents of the datatype.
    pub offsets: &'a [i32],
    /// `None` if this rank has no such buffer.
    pub ty: Option<ProgramType>,
}

/// A collective call of the program. Reductions and broadcasts have counts and a datatype on the
/// receiving side alone.
pub struct ProgramCall<'a> {
    /// Which.
    pub collective: Collective,
    /// Of operations that have one.
    pub root: Rank,
    /// What this rank gives.
    pub send: ProgramSide<'a>,
    /// What it gets.
    pub receive: ProgramSide<'a>,
    /// Of reductions.
    pub operator: Option<ProgramOperator>,
}

impl ProgramTypes<'_> {
    /// Collective: does the call by the library's own function.
    ///
    /// # Safety
    /// The buffers are as MPI takes them for this call.
    pub unsafe fn call(&self, call: &ProgramCall<'_>) -> Result<(), CommError> {
        let apart = self.input_apart(call);
        let send = match &apart {
            Some(copy) => copy.bytes.as_ptr().wrapping_offset(-(copy.low as isize)),
            None => call.send.buffer.cast_const(),
        };
        // SAFETY: as promised; a copy has the bytes of what it stands for.
        let (name, code) = unsafe { self.make(call, send) };
        self.comm.mpi().check(name, code)
    }

    /// # Safety
    /// As for `call`.
    unsafe fn make(&self, call: &ProgramCall<'_>, send: *const u8) -> (&'static str, i32) {
        use Collective::*;
        let (to, comm, root) = (call.receive.buffer, self.comm.handle(), call.root as i32);
        let (sent, got) = (&call.send, &call.receive);
        let byte = self.comm.mpi().flavour.byte;
        let handle = |side: &ProgramSide| side.ty.map_or(byte, |ty| ty.handle);
        let (sends, gets) = (handle(sent), handle(got));
        let (lists, table) = (Lists::of(sent, got), &self.comm.mpi().tables.small);
        let op = call.operator.map_or(0 as Handle, |op| op.handle);
        let (n, m) = (sent.count, got.count);
        let Lists { sent, sent_at, got, got_at } = lists;
        // SAFETY: as promised; each call below is MPI's own signature for the collective.
        unsafe {
            match call.collective {
                Barrier => ("MPI_Barrier", (self.comm.mpi().tables.functions.barrier)(comm)),
                Bcast => ("MPI_Bcast", (table.bcast)(to, m, gets, root, comm)),
                Scatter => {
                    ("MPI_Scatter", (table.scatter)(send, n, sends, to, m, gets, root, comm))
                }
                Scatterv => (
                    "MPI_Scatterv",
                    (table.scatterv)(send, sent, sent_at, sends, to, m, gets, root, comm),
                ),
                Gather => ("MPI_Gather", (table.gather)(send, n, sends, to, m, gets, root, comm)),
                Gatherv => (
                    "MPI_Gatherv",
                    (table.gatherv)(send, n, sends, to, got, got_at, gets, root, comm),
                ),
                Reduce => ("MPI_Reduce", (table.reduce)(send, to, m, gets, op, root, comm)),
                Allreduce => ("MPI_Allreduce", (table.allreduce)(send, to, m, gets, op, comm)),
                Allgather => {
                    ("MPI_Allgather", (table.allgather)(send, n, sends, to, m, gets, comm))
                }
                Allgatherv => (
                    "MPI_Allgatherv",
                    (table.allgatherv)(send, n, sends, to, got, got_at, gets, comm),
                ),
                Alltoall => ("MPI_Alltoall", (table.alltoall)(send, n, sends, to, m, gets, comm)),
                Alltoallv => (
                    "MPI_Alltoallv",
                    (table.alltoallv)(send, sent, sent_at, sends, to, got, got_at, gets, comm),
                ),
                ReduceScatter => {
                    ("MPI_Reduce_scatter", (table.reduce_scatter)(send, to, got, gets, op, comm))
                }
                ReduceScatterBlock => (
                    "MPI_Reduce_scatter_block",
                    (table.reduce_scatter_block)(send, to, m, gets, op, comm),
                ),
                Scan => ("MPI_Scan", (table.scan)(send, to, m, gets, op, comm)),
                Exscan => ("MPI_Exscan", (table.exscan)(send, to, m, gets, op, comm)),
            }
        }
    }

    /// The input of a reduction in place, where it must not be in place: MPICH crashes in some of
    /// them (see `native.rs`).
    fn input_apart(&self, call: &ProgramCall<'_>) -> Option<Copied> {
        let in_place = call.send.buffer as usize == self.in_place();
        let flawed = self.comm.found().version.starts_with("MPICH Version:");
        let got = &call.receive;
        let count = match call.collective {
            Collective::Reduce => got.count as u64,
            Collective::ReduceScatter => got.counts.iter().map(|&count| count as u64).sum(),
            _ => return None,
        };
        let (low, high) = got.ty.filter(|_| in_place && flawed)?.span(0, count)?;
        let mut bytes = vec![0; (high - low) as usize];
        let from = got.buffer.wrapping_offset(low as isize);
        // SAFETY: the caller of `call` vouches for the elements, which lie between these two.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Some(Copied { bytes, low })
    }
}

/// A copy of what begins `low` bytes from an address.
struct Copied {
    bytes: Vec<u8>,
    low: i64,
}

/// The lists of a call, as MPI takes them.
struct Lists {
    sent: *const i32,
    sent_at: *const i32,
    got: *const i32,
    got_at: *const i32,
}

impl Lists {
    fn of(sent: &ProgramSide<'_>, got: &ProgramSide<'_>) -> Lists {
        Lists {
            sent: sent.counts.as_ptr(),
            sent_at: sent.offsets.as_ptr(),
            got: got.counts.as_ptr(),
            got_at: got.offsets.as_ptr(),
        }
    }
}
