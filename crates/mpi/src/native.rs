//! The library's own collectives: a shape becomes one MPI call. Data that is only moved goes as
//! bytes, data that is reduced as its real type.

use laneway_core::{
    Blocks, Collective, Comm, CommError, Layout, Matrix, NativeCall, Place, Rank, Shape,
};

use crate::comm::MpiComm;
use crate::flavour::Handle;
use crate::functions::Counted;
use crate::large::{self, LongType};

/// A width of counts: `int`, or the 64 bits of MPI-4.
trait Width {
    type Count;
    type Displacement;
    fn count(value: u64) -> Self::Count;
    fn displacement(value: u64) -> Self::Displacement;
}

struct Narrow;
struct Wide;

// Both conversions are reached only after `figures` has chosen a width that holds every value.
impl Width for Narrow {
    type Count = i32;
    type Displacement = i32;
    fn count(value: u64) -> i32 {
        value as i32
    }
    fn displacement(value: u64) -> i32 {
        value as i32
    }
}

impl Width for Wide {
    type Count = i64;
    type Displacement = isize;
    fn count(value: u64) -> i64 {
        value as i64
    }
    fn displacement(value: u64) -> isize {
        value as isize
    }
}

/// The element that a call counts in.
#[derive(Clone, Copy)]
struct Unit {
    handle: Handle,
    bytes: u64,
}

/// One call, made ready: buffers and handles as MPI takes them.
struct Ready<'a> {
    comm: Handle,
    rank: Rank,
    shape: &'a Shape,
    unit: Unit,
    operator: Handle,
    send: *const u8,
    receive: *mut u8,
}

/// Whether the shape can be one call of this library.
pub fn serves(comm: &MpiComm, shape: &Shape) -> bool {
    let valid = shape.validate().is_ok() && shape.ranks == comm.size();
    let wide = comm.mpi().tables.large.is_some();
    // A type of one byte gives the largest counts; natives with wider types only gain.
    let unit = u64::from(shape.element.max(1));
    let fits = |rank| wide || !needs_wide(shape, rank, unit) || by_long_type(shape);
    valid
        && known_flaw(comm, shape).is_none()
        && (0..shape.ranks).all(|rank| fits(rank) && exchange_is_symmetric(shape, rank))
}

/// A call in which a release is known to crash.
fn known_flaw(comm: &MpiComm, shape: &Shape) -> Option<&'static str> {
    let version = &comm.found().version;
    match (shape.collective, &shape.layout) {
        _ if !shape.in_place || !version.starts_with("MPICH Version:") => None,
        // Seen with 4.0.2 in a C program of ten lines: from 16,000 bytes on, the root reads at the
        // address that stands for "in place".
        (Collective::Reduce, _) if shape.root > 0 && version.starts_with("MPICH Version: 4.0") => {
            Some("MPICH 4.0 crashes in it where the root is not rank 0")
        }
        // Seen with 4.0.2 and 5.0.2: it moves the block to the front by a copy that must not
        // overlap.
        (Collective::ReduceScatter, Layout::Blocks(blocks))
            if (1..shape.ranks).any(|r| (1..blocks.len(r)).contains(&blocks.off(r))) =>
        {
            Some("MPICH aborts in it where a block is longer than those before it")
        }
        _ => None,
    }
}

/// Carries the call out.
pub fn call(comm: &MpiComm, mut call: NativeCall<'_>) -> Result<(), CommError> {
    let (shape, rank, mpi) = (call.shape, comm.rank(), comm.mpi());
    check(comm, &call)?;
    if shape.collective == Collective::Barrier {
        // SAFETY: the handle is live.
        return mpi.check("MPI_Barrier", unsafe { (mpi.tables.functions.barrier)(comm.handle()) });
    }
    let mut unit = Unit { handle: mpi.flavour.byte, bytes: 1 };
    let mut operator = 0;
    if let Some((op, ty)) = call.reduction.filter(|_| shape.collective.reduces()) {
        unit = Unit { handle: mpi.flavour.data_type(ty), bytes: u64::from(ty.size()) };
        operator = mpi.flavour.operator(op);
    }
    let (send, receive) = buffers(comm, &mut call);
    let ready = Ready { comm: comm.handle(), rank, shape, unit, operator, send, receive };
    // SAFETY: `check` saw that the buffers have the lengths of the shape, which are those that MPI
    // touches, and that every rank's number fits.
    let (name, code) = unsafe {
        match &mpi.tables.large {
            _ if !needs_wide(shape, rank, unit.bytes) => ready.make::<Narrow>(&mpi.tables.small),
            Some(large) => ready.make::<Wide>(large),
            None => {
                let long = LongType::new(mpi, moved(shape) as usize)?;
                let unit = Unit { handle: long.handle(), bytes: moved(shape) };
                Ready { unit, ..ready }.make::<Narrow>(&mpi.tables.small)
            }
        }
    };
    mpi.check(name, code)
}

/// Refuses what would make MPI read or write outside the buffers, or wait for ever.
fn check(comm: &MpiComm, call: &NativeCall<'_>) -> Result<(), CommError> {
    let (shape, rank) = (call.shape, comm.rank());
    let refuse = |what: String| Err(CommError::Argument { what });
    let name = shape.collective.name();
    if let Err(bad) = shape.validate() {
        return refuse(bad.0);
    }
    if shape.ranks != comm.size() {
        return refuse(format!("{name} for {} ranks on {}", shape.ranks, comm.size()));
    }
    let (reads, writes) = (shape.in_len(rank), shape.out_len(rank));
    let (input, output) = match shape.place(rank) {
        Place::Apart => (reads, writes),
        Place::InWithinOut(_) => (0, writes),
        Place::OutWithinIn(_) => (0, reads),
    };
    let (has_in, has_out) = (call.input.len() as u64, call.output.len() as u64);
    if (has_in < input) || (has_out < output) {
        return refuse(format!(
            "{name} needs buffers of {input} and {output} bytes, not {has_in} and {has_out}"
        ));
    }
    if !exchange_is_symmetric(shape, rank) {
        return refuse(format!("{name} in place needs as much from each rank as to it"));
    }
    if shape.collective.reduces() {
        match call.reduction {
            None => return refuse(format!("{name} was given no reduction")),
            Some((op, ty)) if !op.serves(ty) => {
                return refuse(format!("{} of {} does not exist", op.name(), ty.name()));
            }
            Some((_, ty)) if shape.element % ty.size() != 0 => {
                return refuse(format!("elements of {} bytes are no {}", shape.element, ty.name()));
            }
            Some(_) => {}
        }
    }
    if let Some(why) = known_flaw(comm, shape) {
        let what = format!("native {name} in place");
        return Err(CommError::Unsupported { what, why: why.into() });
    }
    let unit = call.reduction.map_or(1, |(_, ty)| u64::from(ty.size()));
    let wide = comm.mpi().tables.large.is_some();
    if needs_wide(shape, rank, unit) && !wide && !by_long_type(shape) {
        return Err(CommError::Unsupported {
            what: format!("native {name} with counts over 2 GiB"),
            why: format!("{} has no functions with 64-bit counts", comm.found().version),
        });
    }
    Ok(())
}

/// In place, MPI exchanges blocks of equal length between each pair.
fn exchange_is_symmetric(shape: &Shape, rank: Rank) -> bool {
    match &shape.layout {
        Layout::Matrix(matrix @ Matrix::Each(_)) if shape.in_place => {
            (0..shape.ranks).all(|peer| matrix.len(rank, peer) == matrix.len(peer, rank))
        }
        _ => true,
    }
}

/// The two buffers as MPI takes them. An empty slice has an address of its own, which for two
/// flavours is the very word for "in place": such a slice becomes null, or, for SMPI, which refuses
/// that also where nothing is received, the address of bytes that nobody touches.
fn buffers(comm: &MpiComm, call: &mut NativeCall<'_>) -> (*const u8, *mut u8) {
    static UNTOUCHED: [u8; 2] = [0; 2];
    let flavour = &comm.mpi().flavour;
    let here = flavour.in_place as *mut u8;
    let nothing = |number: usize| match flavour.simulator {
        Some(_) => &raw const UNTOUCHED[number],
        None => std::ptr::null(),
    };
    let input = if call.input.is_empty() { nothing(0) } else { call.input.as_ptr() };
    let output =
        if call.output.is_empty() { nothing(1).cast_mut() } else { call.output.as_mut_ptr() };
    match call.shape.place(comm.rank()) {
        Place::Apart => (input, output),
        Place::OutWithinIn(_) if call.shape.collective.family() == Collective::Scatter => {
            (output, here)
        }
        Place::InWithinOut(_) | Place::OutWithinIn(_) => (here, output),
    }
}

/// Whether the blocks are given one by one.
fn irregular(shape: &Shape) -> bool {
    let listed =
        matches!(shape.layout, Layout::Blocks(Blocks::At(_)) | Layout::Matrix(Matrix::Each(_)));
    shape.collective.is_irregular() || listed
}

/// Bytes of the one block that a regular call names.
fn moved(shape: &Shape) -> u64 {
    match &shape.layout {
        Layout::Vector(len) => *len,
        Layout::Blocks(blocks) => blocks.len(0),
        Layout::Matrix(matrix) => matrix.len(0, 0),
    }
}

/// Whether a count or a displacement of `rank` does not fit into an `int`. Ranks may differ in it:
/// MPI lets the two forms of a collective meet.
fn needs_wide(shape: &Shape, rank: Rank, unit: u64) -> bool {
    let most = if irregular(shape) {
        // The end of the last block is the largest figure of all.
        match &shape.layout {
            Layout::Blocks(blocks) => blocks.total(shape.ranks),
            Layout::Matrix(matrix) => {
                let (sent, received) = matrix.totals(shape.ranks, rank);
                sent.max(received)
            }
            Layout::Vector(len) => *len,
        }
    } else {
        moved(shape)
    };
    most / unit > large::MOST as u64
}

/// Whether one long datatype can stand for the counts that do not fit.
fn by_long_type(shape: &Shape) -> bool {
    !irregular(shape) && !shape.collective.reduces()
}

impl Ready<'_> {
    /// Makes the call and answers its name and MPI's code.
    ///
    /// # Safety
    /// The buffers have the lengths of the shape at this rank, and W holds every count.
    unsafe fn make<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        use Collective::*;
        // SAFETY: as promised; each call below is MPI's own signature for the collective.
        unsafe {
            match self.shape.collective.family() {
                Bcast | Reduce | Allreduce | Scan | Exscan => self.vector::<W>(table),
                Scatter | Gather | Allgather if irregular(self.shape) => self.listed::<W>(table),
                Scatter | Gather | Allgather | Alltoall if !irregular(self.shape) => {
                    self.regular::<W>(table)
                }
                Alltoall => self.exchange::<W>(table),
                _ => self.reduce_scatter::<W>(table),
            }
        }
    }

    fn count<W: Width>(&self, bytes: u64) -> W::Count {
        W::count(bytes / self.unit.bytes)
    }

    unsafe fn vector<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        let (send, receive, ty, op) = (self.send, self.receive, self.unit.handle, self.operator);
        let (n, root, comm) =
            (self.count::<W>(self.shape.vector()), self.shape.root as i32, self.comm);
        // SAFETY: as promised to `make`.
        unsafe {
            match self.shape.collective {
                Collective::Bcast => ("MPI_Bcast", (table.bcast)(receive, n, ty, root, comm)),
                Collective::Reduce => {
                    ("MPI_Reduce", (table.reduce)(send, receive, n, ty, op, root, comm))
                }
                Collective::Allreduce => {
                    ("MPI_Allreduce", (table.allreduce)(send, receive, n, ty, op, comm))
                }
                Collective::Scan => ("MPI_Scan", (table.scan)(send, receive, n, ty, op, comm)),
                _ => ("MPI_Exscan", (table.exscan)(send, receive, n, ty, op, comm)),
            }
        }
    }

    /// Equal blocks.
    unsafe fn regular<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        let (send, receive, ty) = (self.send, self.receive, self.unit.handle);
        let (root, comm) = (self.shape.root as i32, self.comm);
        let n = || self.count::<W>(moved(self.shape));
        // SAFETY: as promised to `make`.
        unsafe {
            match self.shape.collective.family() {
                Collective::Scatter => {
                    ("MPI_Scatter", (table.scatter)(send, n(), ty, receive, n(), ty, root, comm))
                }
                Collective::Gather => {
                    ("MPI_Gather", (table.gather)(send, n(), ty, receive, n(), ty, root, comm))
                }
                Collective::Allgather => {
                    ("MPI_Allgather", (table.allgather)(send, n(), ty, receive, n(), ty, comm))
                }
                _ => ("MPI_Alltoall", (table.alltoall)(send, n(), ty, receive, n(), ty, comm)),
            }
        }
    }

    /// Blocks of differing lengths.
    unsafe fn listed<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        let (send, receive, ty) = (self.send, self.receive, self.unit.handle);
        let (root, comm, blocks) = (self.shape.root as i32, self.comm, self.shape.blocks());
        let ranks = 0..self.shape.ranks;
        let counts: Vec<_> = ranks.clone().map(|r| self.count::<W>(blocks.len(r))).collect();
        let offsets: Vec<_> = ranks.map(|r| W::displacement(blocks.off(r))).collect();
        let (counts, offsets) = (counts.as_ptr(), offsets.as_ptr());
        let mine = self.count::<W>(blocks.len(self.rank));
        // SAFETY: as promised to `make`; both lists have an entry for each rank.
        unsafe {
            match self.shape.collective.family() {
                Collective::Scatter => (
                    "MPI_Scatterv",
                    (table.scatterv)(send, counts, offsets, ty, receive, mine, ty, root, comm),
                ),
                Collective::Gather => (
                    "MPI_Gatherv",
                    (table.gatherv)(send, mine, ty, receive, counts, offsets, ty, root, comm),
                ),
                _ => (
                    "MPI_Allgatherv",
                    (table.allgatherv)(send, mine, ty, receive, counts, offsets, ty, comm),
                ),
            }
        }
    }

    /// A block of its own length for each pair.
    unsafe fn exchange<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        let (matrix, ty) = (self.shape.matrix(), self.unit.handle);
        let ranks = 0..self.shape.ranks;
        let sent = ranks.clone().map(|peer| matrix.sent(self.rank, peer));
        let received = ranks.map(|peer| matrix.received(peer, self.rank));
        let lists = |spans: &mut dyn Iterator<Item = laneway_core::Span>| {
            let pair =
                |span: laneway_core::Span| (self.count::<W>(span.len), W::displacement(span.off));
            spans.map(pair).unzip::<_, _, Vec<_>, Vec<_>>()
        };
        let (send_counts, send_offsets) = lists(&mut { sent });
        let (counts, offsets) = lists(&mut { received });
        // SAFETY: as promised to `make`; the four lists have an entry for each rank.
        let code = unsafe {
            (table.alltoallv)(
                self.send,
                send_counts.as_ptr(),
                send_offsets.as_ptr(),
                ty,
                self.receive,
                counts.as_ptr(),
                offsets.as_ptr(),
                ty,
                self.comm,
            )
        };
        ("MPI_Alltoallv", code)
    }

    unsafe fn reduce_scatter<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
    ) -> (&'static str, i32) {
        let (send, receive, ty, op) = (self.send, self.receive, self.unit.handle, self.operator);
        let blocks = self.shape.blocks();
        // SAFETY: as promised to `make`; the list has an entry for each rank.
        unsafe {
            if !irregular(self.shape) {
                let n = self.count::<W>(blocks.len(0));
                let code = (table.reduce_scatter_block)(send, receive, n, ty, op, self.comm);
                return ("MPI_Reduce_scatter_block", code);
            }
            let counts: Vec<_> =
                (0..self.shape.ranks).map(|r| self.count::<W>(blocks.len(r))).collect();
            let code = (table.reduce_scatter)(send, receive, counts.as_ptr(), ty, op, self.comm);
            ("MPI_Reduce_scatter", code)
        }
    }
}
