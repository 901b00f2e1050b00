//! The Open MPI interface, versions 3 to 5: a handle is the address of an object that the library
//! exports, so no number of a header could serve.

use super::{Flavour, Handle, Keys};
use crate::error::MpiError;
use crate::library::Library;
use crate::status::Layout;

pub fn table(library: &Library) -> Result<Flavour, MpiError> {
    let object = |name: &str| library.symbol(name).map(|address| address as Handle);
    let objects = |names: [&str; 10]| -> Result<[Handle; 10], MpiError> {
        let mut handles = [0; 10];
        for (handle, name) in handles.iter_mut().zip(names) {
            *handle = object(&format!("ompi_mpi_{name}"))?;
        }
        Ok(handles)
    };
    let (types, operators) = (
        objects([
            "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
            "uint64_t", "float", "double",
        ])?,
        objects([
            "op_sum", "op_prod", "op_min", "op_max", "op_band", "op_bor", "op_bxor", "op_land",
            "op_lor", "op_lxor",
        ])?,
    );
    Ok(Flavour {
        comm_null: object("ompi_mpi_comm_null")?,
        comm_world: object("ompi_mpi_comm_world")?,
        comm_self: object("ompi_mpi_comm_self")?,
        request_null: object("ompi_request_null")?,
        errors_return: object("ompi_mpi_errors_return")?,
        byte: object("ompi_mpi_byte")?,
        types,
        operators,
        any_source: -1,
        any_tag: -1,
        undefined: -32766,
        in_place: 1,
        // A word for "cancelled" and a 64-bit count follow the public three.
        status: Layout { words: 6, source: 0, tag: 1, error: 2 },
        request_bytes: 8,
        threads: [0, 1, 2, 3],
        keys: Keys {
            tag_ub: 0,
            host: 1,
            io: 2,
            wtime_is_global: 3,
            app_num: 4,
            last_used_code: 5,
            universe_size: 6,
        },
        error_truncate: 15,
        truncated_length: true,
        error_in_status: 18,
        simulator: None,
    })
}
