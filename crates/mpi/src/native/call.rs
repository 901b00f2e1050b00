//! One MPI call, in either form and with either width of counts.

use laneway_core::{Collective, CommError, Meanwhile, Rank, Shape};

use super::request::Request;
use super::{irregular, moved};
use crate::flavour::Handle;
use crate::functions::{Counted, Started};
use crate::member::Member;

/// A width of counts: `int`, or the 64 bits of MPI-4.
pub trait Width {
    type Count;
    type Displacement;
    fn count(value: u64) -> Self::Count;
    fn displacement(value: u64) -> Self::Displacement;
}

pub struct Narrow;
pub struct Wide;

// Both conversions are reached only after `native::call` has chosen a width that holds every value.
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
pub struct Unit {
    pub handle: Handle,
    pub bytes: u64,
}

/// The functions of one form.
enum Table<'t, W: Width> {
    Blocking(&'t Counted<W::Count, W::Displacement>),
    /// With the room for a request.
    Started(&'t Started<W::Count, W::Displacement>, *mut u8),
}

/// Calls a function of a table: MPI's name for it, and the code that it answers.
macro_rules! made {
    ($table:expr, $blocking:literal, $function:ident($($argument:expr),* $(,)?)) => {
        match $table {
            Table::Blocking(table) => ($blocking, (table.$function)($($argument),*)),
            Table::Started(table, request) => (
                concat!("MPI_I", stringify!($function)),
                (table.$function)($($argument),*, *request),
            ),
        }
    };
}

/// Counts and offsets of blocks that are given one by one; a call that was started reads them until
/// it is done.
pub struct Lists<W: Width> {
    /// What an exchange sends; else empty.
    sent: (Vec<W::Count>, Vec<W::Displacement>),
    blocks: (Vec<W::Count>, Vec<W::Displacement>),
}

impl<W: Width> Default for Lists<W> {
    fn default() -> Lists<W> {
        Lists { sent: Default::default(), blocks: Default::default() }
    }
}

impl<W: Width> Lists<W> {
    /// Those of a shape at a rank, counted in so much; empty where all blocks are equal.
    pub fn new(shape: &Shape, rank: Rank, unit: Unit) -> Lists<W> {
        let ranks = 0..shape.ranks;
        let pair = |(len, off): (u64, u64)| (W::count(len / unit.bytes), W::displacement(off));
        if !irregular(shape) {
            return Lists::default();
        }
        if shape.collective.family() != Collective::Alltoall {
            let blocks = shape.blocks();
            let each = ranks.map(|rank| (blocks.len(rank), blocks.off(rank)));
            return Lists { sent: Default::default(), blocks: each.map(pair).unzip() };
        }
        let matrix = shape.matrix();
        let figures = |span: laneway_core::Span| (span.len, span.off);
        let sent = ranks.clone().map(|peer| figures(matrix.sent(rank, peer)));
        let received = ranks.map(|peer| figures(matrix.received(peer, rank)));
        Lists { sent: sent.map(pair).unzip(), blocks: received.map(pair).unzip() }
    }
}

/// One call, made ready: buffers and handles as MPI takes them.
pub struct Ready<'a> {
    pub comm: &'a Member,
    pub shape: &'a Shape,
    pub unit: Unit,
    pub operator: Handle,
    pub send: *const u8,
    pub receive: *mut u8,
}

impl Ready<'_> {
    /// Makes the call, which returns when it is done.
    ///
    /// # Safety
    /// The buffers have the lengths of the shape at this rank, and W holds every count.
    pub unsafe fn complete<W: Width>(
        &self,
        table: &Counted<W::Count, W::Displacement>,
        lists: &Lists<W>,
    ) -> Result<(), CommError> {
        // SAFETY: as promised.
        let (name, code) = unsafe { self.make(&Table::Blocking(table), lists) };
        self.comm.mpi().check(name, code)
    }

    /// Starts the call, does `meanwhile`, and returns when both are done.
    ///
    /// # Safety
    /// As for `complete`.
    pub unsafe fn complete_meanwhile<W: Width>(
        &self,
        table: &Started<W::Count, W::Displacement>,
        lists: &Lists<W>,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<(), CommError> {
        let mut request = Request::new(self.comm);
        let table = Table::Started(table, request.room());
        // SAFETY: as promised; buffers and lists stay until the request is waited for.
        let (name, code) = unsafe { self.make(&table, lists) };
        request.started(name, code)?;
        request.finish(meanwhile)
    }

    /// # Safety
    /// As for `complete`; what was started must be waited for while the buffers and lists are
    /// there.
    unsafe fn make<W: Width>(&self, table: &Table<W>, lists: &Lists<W>) -> (&'static str, i32) {
        use Collective::*;
        // SAFETY: as promised; each call below is MPI's own signature for the collective.
        unsafe {
            match self.shape.collective.family() {
                Bcast | Reduce | Allreduce | Scan | Exscan => self.vector(table),
                Scatter | Gather | Allgather if irregular(self.shape) => self.listed(table, lists),
                Scatter | Gather | Allgather | Alltoall if !irregular(self.shape) => {
                    self.regular(table)
                }
                Alltoall => self.exchange(table, lists),
                _ => self.reduce_scatter(table, lists),
            }
        }
    }

    fn count<W: Width>(&self, bytes: u64) -> W::Count {
        W::count(bytes / self.unit.bytes)
    }

    unsafe fn vector<W: Width>(&self, table: &Table<W>) -> (&'static str, i32) {
        let (send, receive, ty, op) = (self.send, self.receive, self.unit.handle, self.operator);
        let (n, root, comm) =
            (self.count::<W>(self.shape.vector()), self.shape.root as i32, self.comm.handle);
        // SAFETY: as promised to `make`.
        unsafe {
            match self.shape.collective {
                Collective::Bcast => made!(table, "MPI_Bcast", bcast(receive, n, ty, root, comm)),
                Collective::Reduce => {
                    made!(table, "MPI_Reduce", reduce(send, receive, n, ty, op, root, comm))
                }
                Collective::Allreduce => {
                    made!(table, "MPI_Allreduce", allreduce(send, receive, n, ty, op, comm))
                }
                Collective::Scan => {
                    made!(table, "MPI_Scan", scan(send, receive, n, ty, op, comm))
                }
                _ => made!(table, "MPI_Exscan", exscan(send, receive, n, ty, op, comm)),
            }
        }
    }

    /// Equal blocks.
    unsafe fn regular<W: Width>(&self, table: &Table<W>) -> (&'static str, i32) {
        let (send, receive, ty) = (self.send, self.receive, self.unit.handle);
        let (root, comm) = (self.shape.root as i32, self.comm.handle);
        let n = || self.count::<W>(moved(self.shape));
        // SAFETY: as promised to `make`.
        unsafe {
            match self.shape.collective.family() {
                Collective::Scatter => made!(
                    table,
                    "MPI_Scatter",
                    scatter(send, n(), ty, receive, n(), ty, root, comm)
                ),
                Collective::Gather => {
                    made!(table, "MPI_Gather", gather(send, n(), ty, receive, n(), ty, root, comm))
                }
                Collective::Allgather => {
                    made!(table, "MPI_Allgather", allgather(send, n(), ty, receive, n(), ty, comm))
                }
                _ => {
                    made!(table, "MPI_Alltoall", alltoall(send, n(), ty, receive, n(), ty, comm))
                }
            }
        }
    }

    /// Blocks of differing lengths.
    unsafe fn listed<W: Width>(&self, table: &Table<W>, lists: &Lists<W>) -> (&'static str, i32) {
        let (send, receive, ty) = (self.send, self.receive, self.unit.handle);
        let (root, comm) = (self.shape.root as i32, self.comm.handle);
        let (counts, offsets) = (lists.blocks.0.as_ptr(), lists.blocks.1.as_ptr());
        let mine = self.count::<W>(self.shape.blocks().len(self.comm.rank));
        // SAFETY: as promised to `make`; both lists have an entry for each rank.
        unsafe {
            match self.shape.collective.family() {
                Collective::Scatter => made!(
                    table,
                    "MPI_Scatterv",
                    scatterv(send, counts, offsets, ty, receive, mine, ty, root, comm)
                ),
                Collective::Gather => made!(
                    table,
                    "MPI_Gatherv",
                    gatherv(send, mine, ty, receive, counts, offsets, ty, root, comm)
                ),
                _ => made!(
                    table,
                    "MPI_Allgatherv",
                    allgatherv(send, mine, ty, receive, counts, offsets, ty, comm)
                ),
            }
        }
    }

    /// A block of its own length for each pair.
    unsafe fn exchange<W: Width>(&self, table: &Table<W>, lists: &Lists<W>) -> (&'static str, i32) {
        let (send, receive, ty) = (self.send, self.receive, self.unit.handle);
        let (sent, sent_at) = (lists.sent.0.as_ptr(), lists.sent.1.as_ptr());
        let (counts, offsets) = (lists.blocks.0.as_ptr(), lists.blocks.1.as_ptr());
        let comm = self.comm.handle;
        // SAFETY: as promised to `make`; the four lists have an entry for each rank.
        unsafe {
            made!(
                table,
                "MPI_Alltoallv",
                alltoallv(send, sent, sent_at, ty, receive, counts, offsets, ty, comm)
            )
        }
    }

    unsafe fn reduce_scatter<W: Width>(
        &self,
        table: &Table<W>,
        lists: &Lists<W>,
    ) -> (&'static str, i32) {
        let (send, receive, ty, op) = (self.send, self.receive, self.unit.handle, self.operator);
        let comm = self.comm.handle;
        // SAFETY: as promised to `make`; the list has an entry for each rank.
        unsafe {
            if irregular(self.shape) {
                let counts = lists.blocks.0.as_ptr();
                return made!(
                    table,
                    "MPI_Reduce_scatter",
                    reduce_scatter(send, receive, counts, ty, op, comm)
                );
            }
            let n = self.count::<W>(self.shape.blocks().len(0));
            made!(
                table,
                "MPI_Reduce_scatter_block",
                reduce_scatter_block(send, receive, n, ty, op, comm)
            )
        }
    }
}
