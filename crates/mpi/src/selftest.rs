//! Proves the flavour's constants and the status layout on `MPI_COMM_SELF`, before the first real
//! message: every constant that the crate passes is used here in a call whose outcome is known.

use laneway_core::{CommError, DataType, ReduceOp, Reduction};

use crate::calls::Mpi;
use crate::error::MpiError;
use crate::flavour::Handle;
use crate::found::Found;
use crate::status::Status;

/// The error that a failed proof becomes.
pub fn failed(found: &Found, what: &str) -> MpiError {
    let (file, flavour, what) = (found.file.clone(), found.family.name(), what.into());
    MpiError::SelfTest { file, flavour, what }
}

/// Runs all proofs; the error says which one did not hold. `provided` is the thread level that the
/// start of MPI answered. Errors on `MPI_COMM_SELF` return already.
pub fn prove(mpi: &Mpi, provided: i32) -> Result<(), String> {
    handles(mpi)?;
    threads(mpi, provided)?;
    types(mpi)?;
    operators(mpi)?;
    statuses(mpi)?;
    request_arrays(mpi)?;
    truncation(mpi)?;
    in_place(mpi)?;
    no_colour(mpi)?;
    attributes(mpi)
}

type Verdict = Result<(), String>;

fn expect(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

fn called(mpi: &Mpi, call: &'static str, code: i32) -> Verdict {
    mpi.check(call, code).map_err(|error| error.to_string())
}

/// From now on errors on a communicator are returned.
pub fn return_errors(mpi: &Mpi, comm: Handle) -> Verdict {
    mpi.return_errors(comm).map_err(|error| error.to_string())
}

fn handles(mpi: &Mpi) -> Verdict {
    let (f, flavour) = (&mpi.tables.functions, &mpi.flavour);
    let (mut rank, mut size) = (-1i32, -1i32);
    // SAFETY: the results go to words of our own.
    unsafe {
        called(mpi, "MPI_Comm_rank", (f.comm_rank)(flavour.comm_self, &mut rank))?;
        called(mpi, "MPI_Comm_size", (f.comm_size)(flavour.comm_self, &mut size))?;
    }
    expect((rank, size) == (0, 1), || format!("MPI_COMM_SELF has rank {rank} of {size}"))
}

fn threads(mpi: &Mpi, provided: i32) -> Verdict {
    let mut now = i32::MIN;
    // SAFETY: the result goes to a word of our own.
    let code = unsafe { (mpi.tables.functions.query_thread)(&mut now) };
    called(mpi, "MPI_Query_thread", code)?;
    expect(now == provided && mpi.flavour.threads.contains(&now), || {
        format!("the thread level is {now}, and was {provided} at the start")
    })
}

fn types(mpi: &Mpi) -> Verdict {
    let sizes = DataType::ALL.map(|ty| (mpi.flavour.data_type(ty), ty.size(), ty.name()));
    for (handle, expected, name) in sizes.into_iter().chain([(mpi.flavour.byte, 1, "byte")]) {
        let mut size = -1i32;
        // SAFETY: the handle is that of the flavour's table; the result goes to a word of our own.
        let code = unsafe { (mpi.tables.functions.type_size)(handle, &mut size) };
        called(mpi, "MPI_Type_size", code)?;
        expect(size == expected as i32, || format!("the type of {name} has {size} bytes"))?;
    }
    Ok(())
}

/// Every operator on every type against our own arithmetic.
fn operators(mpi: &Mpi) -> Verdict {
    for op in ReduceOp::ALL {
        for ty in DataType::ALL.into_iter().filter(|&ty| op.serves(ty)) {
            let (from, into) = (operand(ty, [12, 3, 0, 5]), operand(ty, [10, 7, 6, 0]));
            let (mut ours, mut theirs) = (into.clone(), into);
            Reduction::Builtin(op, ty).apply(&from, &mut ours, false);
            let (ty_handle, op_handle) = (mpi.flavour.data_type(ty), mpi.flavour.operator(op));
            // SAFETY: both vectors have four elements of the type.
            let code = unsafe {
                let (from, into) = (from.as_ptr(), theirs.as_mut_ptr());
                (mpi.tables.functions.reduce_local)(from, into, 4, ty_handle, op_handle)
            };
            called(mpi, "MPI_Reduce_local", code)?;
            expect(ours == theirs, || {
                format!("{} of {} gives {theirs:?} for {ours:?}", op.name(), ty.name())
            })?;
        }
    }
    Ok(())
}

fn operand(ty: DataType, values: [i8; 4]) -> Vec<u8> {
    let bytes = |value: i8| match ty {
        DataType::F32 => f32::from(value).to_ne_bytes().to_vec(),
        DataType::F64 => f64::from(value).to_ne_bytes().to_vec(),
        _ => i64::from(value).to_le_bytes()[..ty.size() as usize].to_vec(),
    };
    values.into_iter().flat_map(bytes).collect()
}

/// Sends `len` bytes to ourselves; the request is left in `request`.
fn send_to_self(mpi: &Mpi, data: &[u8], tag: i32, request: *mut u8) -> Verdict {
    let (byte, comm) = (mpi.flavour.byte, mpi.flavour.comm_self);
    // SAFETY: the callers keep the data until they have waited for the request.
    let code = unsafe {
        (mpi.tables.small.isend)(data.as_ptr(), data.len() as i32, byte, 0, tag, comm, request)
    };
    called(mpi, "MPI_Isend", code)
}

/// A message to ourselves, seen by a probe and received with wildcards.
fn statuses(mpi: &Mpi) -> Verdict {
    const TAG: i32 = 77;
    const UNTOUCHED: i32 = 0x5a5a_5a5a;
    let (f, flavour) = (&mpi.tables.functions, &mpi.flavour);
    let (data, mut into) = ([1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [0u8; 16]);
    let mut request = 0u64;
    let request = (&raw mut request).cast::<u8>();
    send_to_self(mpi, &data, TAG, request)?;
    let (mut probed, mut received) = (Status::filled(UNTOUCHED), Status::filled(UNTOUCHED));
    let (any_source, any_tag, comm) = (flavour.any_source, flavour.any_tag, flavour.comm_self);
    // SAFETY: the statuses have room for the longest of any flavour, and the buffer for 16 bytes.
    unsafe {
        called(mpi, "MPI_Probe", (f.probe)(any_source, any_tag, comm, probed.as_mut_ptr()))?;
        let (out, byte, status) = (into.as_mut_ptr(), flavour.byte, received.as_mut_ptr());
        let code = (mpi.tables.small.recv)(out, 16, byte, any_source, any_tag, comm, status);
        called(mpi, "MPI_Recv", code)?;
        let mut ignored = Status::filled(0);
        called(mpi, "MPI_Wait", (f.wait)(request, ignored.as_mut_ptr()))?;
    }
    for (call, status) in [("MPI_Probe", probed), ("MPI_Recv", received)] {
        let (source, tag) = (status.source(flavour.status), status.tag(flavour.status));
        let length = mpi.length(&status).map_err(|error: CommError| error.to_string())?;
        expect((source, tag, length) == (0, TAG, data.len() as u64), || {
            format!("{call} tells of {length} bytes from rank {source} with tag {tag}")
        })?;
        expect(status.beyond_is(flavour.status, UNTOUCHED), || {
            format!("{call} writes past the end of a status")
        })?;
    }
    expect(into[..data.len()] == data, || "a message to ourselves arrived changed".into())
}

/// Several requests in one array, completed by Waitsome: the stride and the null request.
fn request_arrays(mpi: &Mpi) -> Verdict {
    const EACH: usize = 3;
    let (f, flavour) = (&mpi.tables.functions, &mpi.flavour);
    let (data, mut into) = ([[7u8; 4], [8; 4], [9; 4]], [[0u8; 4]; EACH]);
    let mut words = [0u64; 2 * EACH];
    let requests = words.as_mut_ptr().cast::<u8>();
    // SAFETY: the array has room for six requests of the widest flavour.
    let at = |number: usize| unsafe { requests.add(number * flavour.request_bytes) };
    for (number, room) in into.iter_mut().enumerate() {
        let (byte, comm) = (flavour.byte, flavour.comm_self);
        // SAFETY: the room stays until Waitsome has answered for all six.
        let code = unsafe {
            let tag = number as i32;
            (mpi.tables.small.irecv)(room.as_mut_ptr(), 4, byte, 0, tag, comm, at(number))
        };
        called(mpi, "MPI_Irecv", code)?;
    }
    for (number, bytes) in data.iter().enumerate() {
        send_to_self(mpi, bytes, number as i32, at(EACH + number))?;
    }
    let mut statuses = crate::status::Statuses::new(flavour.status);
    statuses.reserve(2 * EACH);
    let (mut indices, mut complete) = ([0i32; 2 * EACH], 0);
    while complete < 2 * EACH {
        let mut some = 0i32;
        // SAFETY: six requests, live or null, and room for six indices and statuses.
        let code = unsafe {
            let (indices, statuses) = (indices.as_mut_ptr(), statuses.as_mut_ptr());
            (f.waitsome)(2 * EACH as i32, requests, &mut some, indices, statuses)
        };
        called(mpi, "MPI_Waitsome", code)?;
        expect(some > 0, || format!("MPI_Waitsome completes {some} requests"))?;
        complete += some as usize;
    }
    let null = flavour.request_null.to_le_bytes();
    // SAFETY: the array holds six requests of the flavour's width.
    let all_null = (0..2 * EACH).all(|number| unsafe {
        std::slice::from_raw_parts(at(number), flavour.request_bytes)
            == &null[..flavour.request_bytes]
    });
    expect(all_null, || "completed requests are not the null request".into())?;
    expect(into == data, || "messages to ourselves arrived changed".into())
}

/// The one mistake that every library finds, whatever checks it was built with.
fn truncation(mpi: &Mpi) -> Verdict {
    let (flavour, mut request, mut into) = (&mpi.flavour, 0u64, [0u8; 4]);
    let request = (&raw mut request).cast::<u8>();
    let data = [1u8; 8];
    send_to_self(mpi, &data, 1, request)?;
    let mut status = Status::filled(0);
    // SAFETY: the buffer has four bytes and says so; the statuses are our own.
    let code = unsafe {
        let (out, byte, comm) = (into.as_mut_ptr(), flavour.byte, flavour.comm_self);
        let code = (mpi.tables.small.recv)(out, 4, byte, 0, 1, comm, status.as_mut_ptr());
        // The send may report the mismatch as well; only its end matters.
        (mpi.tables.functions.wait)(request, Status::filled(0).as_mut_ptr());
        code
    };
    let (class, text) = (mpi.error_class(code), mpi.error_text(code));
    expect(code != 0 && class == flavour.error_truncate && !text.is_empty(), || {
        format!("8 bytes into a buffer of 4 give the error class {class} ({text})")
    })
}

fn in_place(mpi: &Mpi) -> Verdict {
    let (flavour, mut value) = (&mpi.flavour, 42i32.to_ne_bytes());
    let (ty, op) = (flavour.data_type(DataType::I32), flavour.operator(ReduceOp::Sum));
    // SAFETY: the value has four bytes; the first argument is the flavour's word for "in place".
    let code = unsafe {
        let (here, out) = (flavour.in_place as *const u8, value.as_mut_ptr());
        (mpi.tables.small.allreduce)(here, out, 1, ty, op, flavour.comm_self)
    };
    called(mpi, "MPI_Allreduce", code)?;
    expect(value == 42i32.to_ne_bytes(), || "a sum over one rank changed its value".into())
}

/// "Undefined" as a colour gives the null communicator.
fn no_colour(mpi: &Mpi) -> Verdict {
    let (flavour, mut new) = (&mpi.flavour, 0);
    // SAFETY: the new handle goes to a word of our own.
    let code = unsafe {
        (mpi.tables.functions.comm_split)(flavour.comm_self, flavour.undefined, 0, &mut new)
    };
    called(mpi, "MPI_Comm_split", code)?;
    expect(new == flavour.comm_null, || format!("no colour gives the communicator {new:#x}"))
}

fn attributes(mpi: &Mpi) -> Verdict {
    let (world, keys) = (mpi.flavour.comm_world, &mpi.flavour.keys);
    let read = |key| mpi.attribute(world, key).map_err(|error| error.to_string());
    let most = read(keys.tag_ub)?;
    expect(most.is_some_and(|most| most >= 32767), || format!("the highest tag is {most:?}"))?;
    let global = read(keys.wtime_is_global)?;
    expect(matches!(global, None | Some(0 | 1)), || format!("MPI_WTIME_IS_GLOBAL is {global:?}"))
}
