//! Does a collective by an algorithm of ours: what was measured can then be used.

use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use laneway_core::{Buffers, Comm, Exec, Failure, NativeCall, Shape};
use laneway_measure::operation::Answerer;
use laneway_mpi::MpiComm;
use laneway_sites::Placed;

use crate::arguments::{answerer, collective, refused, word};
use crate::last_error::answer;
use crate::measure::adopted;
use crate::sites::{failure, placed};
use crate::together::broken;

/// The algorithm that is best where the ranks are.
const CHOSEN: &str = "chosen";

/// Who does a call.
enum How {
    By(Answerer),
    Chosen(Rc<Placed>),
}

/// Collective over `comm`: does an operation by an algorithm of ours, by what is best where its
/// ranks are if that is "chosen" (laneway_place_ranks says where), or by MPI's own if "native":
/// barrier, bcast, scatter, gather, allgather or alltoall of `size` bytes (of one rank's block, or
/// of the vector). `in` and `out` are the buffers of the MPI function of that name, apart from each
/// other, and may be NULL where they hold nothing; a broadcast has `out` alone. As in MPI, all
/// ranks give matching arguments.
///
/// # Safety
/// Texts are C strings, and the buffers are as long as the operation needs them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_call(
    comm: c_int,
    operation: *const c_char,
    algorithm: *const c_char,
    r#in: *const c_void,
    out: *mut c_void,
    size: c_int,
    root: c_int,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let (operation, algorithm) =
            unsafe { (word(operation, "op")?, word(algorithm, "algorithm")?) };
        let collective = collective(operation)?;
        if collective.reduces() || collective.is_irregular() {
            let cause = format!("{operation} takes more than a size");
            return Err(refused("this operation cannot be called here", cause, "MPI's own"));
        }
        let named = (algorithm != CHOSEN).then(|| answerer(collective, algorithm)).transpose()?;
        let size = u64::try_from(size);
        let size = size.map_err(|_| refused("invalid size", "it is negative", "0 or more"))?;
        let root = u32::try_from(root);
        let root = root.map_err(|_| refused("invalid root", "it is negative", "a rank"))?;
        adopted(comm, |comm| {
            let shape = Shape::new(collective, comm.size(), size).with_root(root);
            shape.validate().map_err(|bad| {
                refused("the operation cannot be done", bad.0, "another root or size")
            })?;
            let how = match named {
                Some(answerer) => How::By(answerer),
                None => How::Chosen(placed(comm)?),
            };
            // SAFETY: as the caller promises.
            unsafe { run(comm, &shape, how, r#in.cast(), out.cast()) }
        })
    })
}

/// # Safety
/// The buffers are as long as the shape says for this rank, or null.
unsafe fn run(
    comm: &MpiComm,
    shape: &Shape,
    how: How,
    input: *const u8,
    output: *mut u8,
) -> Result<(), Failure> {
    let rank = comm.rank();
    let (in_len, out_len) = (shape.in_len(rank) as usize, shape.out_len(rank) as usize);
    if (in_len > 0 && input.is_null()) || (out_len > 0 && output.is_null()) {
        let cause = format!("rank {rank} reads {in_len} bytes and writes {out_len}");
        return Err(refused("a buffer is missing", cause, "an address with room for it"));
    }
    let (from, to) = (input as usize, output as usize);
    if in_len > 0 && out_len > 0 && from < to + out_len && to < from + in_len {
        return Err(refused("the buffers overlap", "in place is not offered", "two buffers"));
    }
    // SAFETY: what is not empty is not null, is as long as promised, and lies apart.
    let (input, output): (&[u8], &mut [u8]) = unsafe {
        (
            if in_len > 0 { std::slice::from_raw_parts(input, in_len) } else { &[] },
            if out_len > 0 { std::slice::from_raw_parts_mut(output, out_len) } else { &mut [] },
        )
    };
    match how {
        How::Chosen(placed) => placed.run(comm, shape, input, output, None).map_err(failure),
        How::By(Answerer::Native) => {
            let call = NativeCall { shape, input, output, reduction: None };
            comm.native(call).map_err(broken)
        }
        How::By(Answerer::Ours(algorithm, params)) => {
            let schedule = algorithm.schedule(shape, &params).map_err(|refusal| {
                refused("the algorithm cannot do it", refusal.0, "another algorithm, or native")
            })?;
            let mut tmp = vec![0; schedule.tmp_len(rank) as usize];
            let buffers = Buffers::new(input, output, &mut tmp);
            let mut exec = Exec::new(comm, &*schedule, buffers, None, 0).map_err(broken)?;
            exec.run().map_err(broken)
        }
    }
}
