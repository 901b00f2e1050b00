//! The standard interface of MPI-5 (`libmpi_abi`): small numbers in handles as wide as a pointer.

use super::{Flavour, Keys};
use crate::status::Layout;

pub fn table() -> Flavour {
    Flavour {
        comm_null: 0x100,
        comm_world: 0x101,
        comm_self: 0x102,
        request_null: 0x180,
        errors_return: 0x143,
        byte: 0x247,
        types: [
            0x240, // MPI_INT8_T
            0x248, // MPI_INT16_T
            0x250, // MPI_INT32_T
            0x258, // MPI_INT64_T
            0x241, // MPI_UINT8_T
            0x249, // MPI_UINT16_T
            0x251, // MPI_UINT32_T
            0x259, // MPI_UINT64_T
            0x210, // MPI_FLOAT
            0x214, // MPI_DOUBLE
        ],
        operators: [
            0x21, // MPI_SUM
            0x24, // MPI_PROD
            0x22, // MPI_MIN
            0x23, // MPI_MAX
            0x28, // MPI_BAND
            0x29, // MPI_BOR
            0x2a, // MPI_BXOR
            0x30, // MPI_LAND
            0x31, // MPI_LOR
            0x32, // MPI_LXOR
        ],
        any_source: -1,
        any_tag: -2,
        undefined: -32766,
        in_place: 1,
        status: Layout { words: 8, source: 0, tag: 1, error: 2 },
        request_bytes: 8,
        threads: [0, 1024, 2048, 4096],
        keys: Keys {
            tag_ub: 501,
            io: 502,
            host: 503,
            wtime_is_global: 504,
            app_num: 505,
            last_used_code: 506,
            universe_size: 507,
        },
        error_truncate: 15,
        truncated_length: false,
        error_in_status: 19,
        simulator: None,
    }
}
