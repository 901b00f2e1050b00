//! The library's own collectives: a shape becomes one MPI call. Data that is only moved goes as
//! bytes, data that is reduced as its real type.

mod call;
mod request;

use std::ops::Range;

use laneway_core::{
    Blocks, Collective, Comm, CommError, Form, Layout, Matrix, Meanwhile, NativeCall, Place, Rank,
    Shape,
};

use crate::comm::MpiComm;
use crate::functions::NonBlocking;
use crate::large::{self, LongType};
use call::{Narrow, Ready, Unit, Wide};
use request::Request;

/// Why the shape cannot be one call of this library; none where it can.
pub fn objection(comm: &MpiComm, shape: &Shape, form: Form) -> Option<String> {
    let name = shape.collective.name();
    if let Err(bad) = shape.validate() {
        return Some(bad.0);
    }
    if shape.ranks != comm.size() {
        return Some(format!("{name} for {} ranks on {}", shape.ranks, comm.size()));
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
fn non_blocking(comm: &MpiComm) -> Result<&NonBlocking, String> {
    let absent = |name: &String| format!("{} has no {name}", comm.found().version);
    comm.mpi().tables.non_blocking.as_ref().map_err(absent)
}

fn has_wide(comm: &MpiComm, form: Form) -> bool {
    match form {
        Form::Blocking => comm.mpi().tables.large.is_some(),
        Form::NonBlocking => non_blocking(comm).is_ok_and(|table| table.large.is_some()),
    }
}

fn no_wide(comm: &MpiComm) -> String {
    format!("{} has no functions with 64-bit counts", comm.found().version)
}

/// A call in which a release is known to fail, as far as the given ranks tell.
fn known_flaw(
    comm: &MpiComm,
    shape: &Shape,
    form: Form,
    mut ranks: Range<Rank>,
) -> Option<&'static str> {
    let version = &comm.found().version;
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

/// Carries the call out, in its non-blocking form where there is something to do meanwhile.
pub fn call(
    comm: &MpiComm,
    mut call: NativeCall<'_>,
    meanwhile: Option<&mut Meanwhile<'_>>,
) -> Result<(), CommError> {
    let (shape, rank, mpi) = (call.shape, comm.rank(), comm.mpi());
    let form = if meanwhile.is_some() { Form::NonBlocking } else { Form::Blocking };
    check(comm, &call, form)?;
    let unsupported = |why| CommError::Unsupported { what: "a non-blocking native".into(), why };
    let started = match meanwhile {
        Some(meanwhile) => Some((non_blocking(comm).map_err(unsupported)?, meanwhile)),
        None => None,
    };
    if shape.collective == Collective::Barrier {
        return barrier(comm, started);
    }
    let mut unit = Unit { handle: mpi.flavour.byte, bytes: 1 };
    let mut operator = 0;
    if let Some((op, ty)) = call.reduction.filter(|_| shape.collective.reduces()) {
        unit = Unit { handle: mpi.flavour.data_type(ty), bytes: u64::from(ty.size()) };
        operator = mpi.flavour.operator(op);
    }
    let mut wide = needs_wide(shape, rank, unit.bytes);
    let mut long = None;
    if wide && !has_wide(comm, form) {
        let long = long.insert(LongType::new(mpi, moved(shape) as usize)?);
        unit = Unit { handle: long.handle(), bytes: moved(shape) };
        wide = false;
    }
    let (send, receive) = buffers(comm, &mut call);
    let ready = Ready { comm, shape, unit, operator, send, receive };
    // SAFETY: `check` saw that the buffers have the lengths of the shape, which are those that MPI
    // touches, and that every rank's number fits.
    unsafe {
        match started {
            None => match &mpi.tables.large {
                Some(large) if wide => ready.complete::<Wide>(large),
                _ => ready.complete::<Narrow>(&mpi.tables.small),
            },
            Some((table, meanwhile)) => match &table.large {
                Some(large) if wide => ready.complete_meanwhile::<Wide>(large, meanwhile),
                _ => ready.complete_meanwhile::<Narrow>(&table.small, meanwhile),
            },
        }
    }
}

fn barrier(
    comm: &MpiComm,
    started: Option<(&NonBlocking, &mut Meanwhile<'_>)>,
) -> Result<(), CommError> {
    let (mpi, handle) = (comm.mpi(), comm.handle());
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

/// Refuses what would make MPI read or write outside the buffers, or wait for ever.
fn check(comm: &MpiComm, call: &NativeCall<'_>, form: Form) -> Result<(), CommError> {
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
    if let Some(why) = known_flaw(comm, shape, form, rank..rank + 1) {
        let place = if shape.in_place { " in place" } else { "" };
        let what = format!("{} native {name}{place}", form.name());
        return Err(CommError::Unsupported { what, why: why.into() });
    }
    let unit = call.reduction.map_or(1, |(_, ty)| u64::from(ty.size()));
    if needs_wide(shape, rank, unit) && !has_wide(comm, form) && !by_long_type(shape) {
        let what = format!("native {name} with counts over 2 GiB");
        return Err(CommError::Unsupported { what, why: no_wide(comm) });
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
