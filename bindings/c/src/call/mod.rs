//! Does a collective by an algorithm of ours: what was measured can then be used in the place of
//! the MPI function, with its buffers, counts, datatypes and operators.
//!
//! `given.rs` reads what C gives, `side.rs` knows where the data of one buffer lies, `reduce.rs`
//! which operator serves which datatype, and `work.rs` does the call.

mod given;
mod reduce;
mod side;
mod work;

use std::ffi::{c_char, c_int, c_void};

use laneway_mpi::ProgramTypes;

use crate::last_error::answer;
use crate::measure::adopted;
use given::Given;
use work::Work;

pub use given::operation_name;

/// cbindgen:rename-all=ScreamingSnakeCase
/// The collective operations of MPI.
#[repr(C)]
#[allow(dead_code, clippy::enum_variant_names, reason = "C has one space of names")]
pub enum Operation {
    LanewayBarrier = 1,
    LanewayBcast,
    LanewayScatter,
    LanewayScatterv,
    LanewayGather,
    LanewayGatherv,
    LanewayReduce,
    LanewayAllreduce,
    LanewayAllgather,
    LanewayAllgatherv,
    LanewayAlltoall,
    LanewayAlltoallv,
    LanewayReduceScatter,
    LanewayReduceScatterBlock,
    LanewayScan,
    LanewayExscan,
}

/// cbindgen:rename-all=QualifiedScreamingSnakeCase
/// What the elements of a datatype are, as laneway.h recognises it.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "C writes them")]
pub enum Element {
    /// A derived datatype, or one that no reduction of MPI takes.
    Other,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    /// MPI_BYTE.
    Byte,
    /// A number and an index, for MPI_MINLOC and MPI_MAXLOC.
    Pair,
    LongDouble,
    Complex,
    /// MPI_C_BOOL.
    Bool,
    /// MPI_DATATYPE_NULL.
    Null,
}

/// cbindgen:rename-all=QualifiedScreamingSnakeCase
/// What a reduction operator is, as laneway.h recognises it.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "C writes them")]
pub enum Operator {
    /// One that the program made with MPI_Op_create.
    User,
    Sum,
    Prod,
    Min,
    Max,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    /// MPI_REPLACE or MPI_NO_OP, which reduce nothing.
    Not,
    /// MPI_OP_NULL.
    Null,
}

/// The options of a call as the library takes them, with the Fortran handles of datatypes and
/// operators: laneway_call of laneway.h fills it from a laneway_call_options.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallArguments {
    /// The size of this struct, in bytes; a later version may have more members.
    pub size: usize,
    /// A name that `laneway info algorithms` prints, "native" or "chosen".
    pub algorithm: *const c_char,
    pub sendbuf: *const c_void,
    pub sendcounts: *const c_int,
    pub sdispls: *const c_int,
    pub recvbuf: *mut c_void,
    pub recvcounts: *const c_int,
    pub rdispls: *const c_int,
    /// A laneway_operation.
    pub operation: c_int,
    pub sendcount: c_int,
    pub sendtype: c_int,
    /// A laneway_element.
    pub sendelement: c_int,
    pub recvcount: c_int,
    pub recvtype: c_int,
    /// A laneway_element.
    pub recvelement: c_int,
    pub op: c_int,
    /// A laneway_operator.
    pub operator_kind: c_int,
    pub root: c_int,
}

/// The word by which the other functions know a laneway_operation, for example "allreduce"; NULL
/// for what is none.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_operation_name(operation: c_int) -> *const c_char {
    operation_name(operation).map_or(std::ptr::null(), std::ffi::CStr::as_ptr)
}

/// Collective over `comm`: does an MPI collective by an algorithm of ours, by the fastest for the
/// places of its ranks if that is "chosen" (laneway_place_ranks says where they are), or by the
/// function of the MPI library if "native". Programs in C call laneway_call. As in MPI, all ranks
/// give matching arguments.
///
/// # Safety
/// `arguments` is NULL or points to as many bytes as its `size` says; texts are C strings, handles
/// are live, and buffers and lists are as the MPI function of that name takes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_call_by_handles(
    comm: c_int,
    arguments: *const CallArguments,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let given = unsafe { Given::read(arguments)? };
        adopted(comm, |comm| {
            let types = ProgramTypes::new(comm)?;
            // SAFETY: as the caller promises.
            unsafe { Work::new(comm, &types, &given)?.run() }
        })
    })
}
