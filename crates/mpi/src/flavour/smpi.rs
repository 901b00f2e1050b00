//! The interface of SMPI, the MPI of the simulator SimGrid: handles are addresses as in Open MPI,
//! but every rank is a part of one process, time is virtual, and the constants are its own.

use std::ffi::{c_int, c_void};

use super::{Flavour, Handle, Keys};
use crate::error::MpiError;
use crate::library::Library;
use crate::status::Layout;

/// Exported by SimGrid and by no other MPI.
pub const MARK: &str = "smpi_process_comm_self";

/// The signature of `nanosleep`.
pub type Sleep = unsafe extern "C" fn(*const libc::timespec, *mut libc::timespec) -> c_int;

/// What a rank of a simulation must ask the simulator for instead of the system.
#[derive(Clone, Copy, Debug)]
pub struct Simulator {
    /// `nanosleep` in virtual time.
    pub sleep: Sleep,
}

pub fn table(library: &Library) -> Result<Flavour, MpiError> {
    let object = |name: &str| library.symbol(name).map(|address| address as Handle);
    let objects = |names: [&str; 10]| -> Result<[Handle; 10], MpiError> {
        let mut handles = [0; 10];
        for (handle, name) in handles.iter_mut().zip(names) {
            *handle = object(&format!("smpi_MPI_{name}"))?;
        }
        Ok(handles)
    };
    let (types, operators) = (
        objects([
            "INT8_T", "INT16_T", "INT32_T", "INT64_T", "UINT8_T", "UINT16_T", "UINT32_T",
            "UINT64_T", "FLOAT", "DOUBLE",
        ])?,
        objects(["SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR"])?,
    );
    let (comm_world, comm_self) = communicators(library)?;
    Ok(Flavour {
        comm_null: 0,
        comm_world,
        comm_self,
        request_null: 0,
        errors_return: object("smpi_MPI_ERRORS_RETURN")?,
        byte: object("smpi_MPI_BYTE")?,
        types,
        operators,
        any_source: -555,
        any_tag: -444,
        undefined: -333,
        in_place: -222isize as usize,
        // A word for the count and one for "cancelled" follow the public three.
        status: Layout { words: 5, source: 0, tag: 1, error: 2 },
        request_bytes: 8,
        threads: [0, 1, 2, 3],
        keys: Keys {
            io: -1,
            host: -2,
            wtime_is_global: -3,
            app_num: -4,
            tag_ub: -5,
            universe_size: -7,
            last_used_code: -8,
        },
        error_truncate: 9,
        truncated_length: true,
        error_in_status: 13,
        simulator: Some(Simulator { sleep: sleep(library)? }),
    })
}

/// `MPI_COMM_WORLD` is a variable there and `MPI_COMM_SELF` the answer of a function.
fn communicators(library: &Library) -> Result<(Handle, Handle), MpiError> {
    let (world, own) = (library.symbol("MPI_COMM_WORLD")?, library.symbol(MARK)?);
    // SAFETY: SimGrid declares the first as a variable that holds a handle, and the second as a
    // function without arguments; `decide` has seen that this process is a simulation, so that the
    // function finds the rank it is called from.
    unsafe {
        let own = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> Handle>(own);
        Ok((*world.cast::<Handle>(), own()))
    }
}

fn sleep(library: &Library) -> Result<Sleep, MpiError> {
    let address = library.symbol("smpi_nanosleep")?;
    // SAFETY: SimGrid gives this name the signature of nanosleep.
    Ok(unsafe { std::mem::transmute::<*mut c_void, Sleep>(address) })
}
