//! The library's own collectives: a shape becomes one MPI call. Data that is only moved goes as
//! bytes, data that is reduced as its real type.

mod call;
mod prepared;
mod request;

use std::cell::Cell;
use std::ops::Range;

use laneway_core::{
    Blocks, Collective, CommError, Form, Layout, Matrix, Meanwhile, NativeCall, Rank, Shape,
};

use crate::functions::NonBlocking;
use crate::large;
use crate::member::Member;
use call::{Lists, Narrow};
use prepared::Counts;
pub use prepared::Prepared;
use request::Request;

/// Why the shape cannot be one call of this library; `None` if it can.
pub fn objection(comm: &Member, shape: &Shape, form: Form) -> Option<String> {
    let name = shape.collective.name();
    if let Err(bad) = shape.validate() {
        return Some(bad.0);
    }
    if shape.ranks != comm.size {
        return Some(format!("{name} for {} ranks on {}", shape.ranks, comm.size));
    }
    if form == Form::NonBlocking
        && let Err(absent) = non_blocking(comm)
    {
        return Some(absent);
    }
    if let Some(why) = known_flaw(comm, shape, form, 0..shape.ranks) {
        return Some(why.into());
    }
    // A type of one byte gives the largest counts; natives with wider types only gain.
    let unit = u64::from(shape.element.max(1));
    let wide = has_wide(comm, form) || by_long_type(shape);
    if !wide && (0..shape.ranks).any(|rank| needs_wide(shape, rank, unit)) {
        return Some(no_wide(comm));
    }
    if (0..shape.ranks).any(|rank| !exchange_is_symmetric(shape, rank)) {
        return Some(format!("{name} in place needs as much from each rank as to it"));
    }
    None
}

/// The functions that only start a collective.
fn non_blocking(comm: &Member) -> Result<&NonBlocking, String> {
    let absent = |name: &String| format!("{} has no {name}", comm.world.found.version);
    comm.mpi().tables.non_blocking.as_ref().map_err(absent)
}

fn has_wide(comm: &Member, form: Form) -> bool {
    match form {
        Form::Blocking => comm.mpi().tables.large.is_some(),
        Form::NonBlocking => non_blocking(comm).is_ok_and(|table| table.large.is_some()),
    }
}

fn no_wide(comm: &Member) -> String {
    format!("{} has no functions with 64-bit counts", comm.world.found.version)
}

/// A call in which a release is known to fail, as far as the given ranks tell.
fn known_flaw(
    comm: &Member,
    shape: &Shape,
    form: Form,
    mut ranks: Range<Rank>,
) -> Option<&'static str> {
    let version = &comm.world.found.version;
    let mpich_4_0 = version.starts_with("MPICH Version: 4.0");
    if form == Form::NonBlocking {
        // Seen with 4.0.2 in a C program: the bytes arrive, and MPI_Wait answers "invalid
        // communicator". 5.0.2 is right.
        let fails = mpich_4_0 && ranks.any(|rank| needs_wide(shape, rank, 1));
        return fails.then_some("MPICH 4.0 fails in it beyond 2 GiB");
    }
    match (shape.collective, &shape.layout) {
        _ if !shape.in_place || !version.starts_with("MPICH Version:") => None,
        // Seen with 4.0.2 in a C program of ten lines: from 16,000 bytes on, the root reads at the
        // address that stands for "in place".
        (Collective::Reduce, _) if shape.root > 0 && mpich_4_0 => {
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

/// Carries the call out, in its non-blocking form where there is something to do meanwhile. What it
/// takes to make it is kept for the next one.
pub fn call(
    comm: &Member,
    kept: &Cell<Option<Box<Prepared>>>,
    mut call: NativeCall<'_>,
    meanwhile: Option<&mut Meanwhile<'_>>,
) -> Result<(), CommError> {
    let form = if meanwhile.is_some() { Form::NonBlocking } else { Form::Blocking };
    // What is done meanwhile may be a call on the same communicator, and finds nothing kept.
    let prepared = match kept.take() {
        Some(prepared) if prepared.serves(&call, form) => prepared,
        _ => Box::new(Prepared::new(comm, &call, form)?),
    };
    let end = make(comm, &prepared, &mut call, meanwhile);
    kept.set(Some(prepared));
    end
}

fn make(
    comm: &Member,
    prepared: &Prepared,
    call: &mut NativeCall<'_>,
    meanwhile: Option<&mut Meanwhile<'_>>,
) -> Result<(), CommError> {
    let unsupported = |why| CommError::Unsupported { what: "a non-blocking native".into(), why };
    let started = match meanwhile {
        Some(meanwhile) => Some((non_blocking(comm).map_err(unsupported)?, meanwhile)),
        None => None,
    };
    if prepared.is_barrier() {
        return barrier(comm, started);
    }
    let long = prepared.long_type(comm)?;
    let ready = prepared.ready(comm, call, long.as_ref())?;
    let tables = &comm.mpi().tables;
    let none = Lists::<Narrow>::default();
    // SAFETY: `ready` saw that the buffers have the lengths of the shape, which are those that MPI
    // touches, and `prepared` has a width that holds every rank's numbers: where it is wide, the
    // tables are there.
    unsafe {
        match (started, &prepared.counts) {
            (None, Counts::Narrow(lists)) => ready.complete(&tables.small, lists),
            (None, Counts::Long) => ready.complete(&tables.small, &none),
            (None, Counts::Wide(lists)) => match &tables.large {
                Some(large) => ready.complete(large, lists),
                None => Err(unsupported(no_wide(comm))),
            },
            (Some((table, meanwhile)), Counts::Narrow(lists)) => {
                ready.complete_meanwhile(&table.small, lists, meanwhile)
            }
            (Some((table, meanwhile)), Counts::Long) => {
                ready.complete_meanwhile(&table.small, &none, meanwhile)
            }
            (Some((table, meanwhile)), Counts::Wide(lists)) => match &table.large {
                Some(large) => ready.complete_meanwhile(large, lists, meanwhile),
                None => Err(unsupported(no_wide(comm))),
            },
        }
    }
}

fn barrier(
    comm: &Member,
    started: Option<(&NonBlocking, &mut Meanwhile<'_>)>,
) -> Result<(), CommError> {
    let (mpi, handle) = (comm.mpi(), comm.handle);
    let Some((table, meanwhile)) = started else {
        // SAFETY: the handle is live.
        return mpi.check("MPI_Barrier", unsafe { (mpi.tables.functions.barrier)(handle) });
    };
    let mut request = Request::new(comm);
    // SAFETY: the handle is live, and the request goes to a room of its own.
    let code = unsafe { (table.barrier.barrier)(handle, request.room()) };
    request.started("MPI_Ibarrier", code)?;
    request.finish(meanwhile)
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
