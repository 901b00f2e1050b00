//! The MPICH interface: MPICH 3.1 and later, Intel MPI, MVAPICH, HPE Cray MPICH, ParaStation MPI.
//! Handles are 32-bit numbers, so arrays of them have a stride of four bytes.

use super::{Flavour, Keys};
use crate::status::Layout;

pub fn table() -> Flavour {
    Flavour {
        comm_null: 0x0400_0000,
        comm_world: 0x4400_0000,
        comm_self: 0x4400_0001,
        request_null: 0x2c00_0000,
        errors_return: 0x5400_0001,
        byte: 0x4c00_010d,
        types: [
            0x4c00_0137, // MPI_INT8_T
            0x4c00_0238, // MPI_INT16_T
            0x4c00_0439, // MPI_INT32_T
            0x4c00_083a, // MPI_INT64_T
            0x4c00_013b, // MPI_UINT8_T
            0x4c00_023c, // MPI_UINT16_T
            0x4c00_043d, // MPI_UINT32_T
            0x4c00_083e, // MPI_UINT64_T
            0x4c00_040a, // MPI_FLOAT
            0x4c00_080b, // MPI_DOUBLE
        ],
        operators: [
            0x5800_0003, // MPI_SUM
            0x5800_0004, // MPI_PROD
            0x5800_0002, // MPI_MIN
            0x5800_0001, // MPI_MAX
            0x5800_0006, // MPI_BAND
            0x5800_0008, // MPI_BOR
            0x5800_000a, // MPI_BXOR
            0x5800_0005, // MPI_LAND
            0x5800_0007, // MPI_LOR
            0x5800_0009, // MPI_LXOR
        ],
        any_source: -2,
        any_tag: -1,
        undefined: -32766,
        in_place: usize::MAX,
        // Two words of count come first.
        status: Layout { words: 5, source: 2, tag: 3, error: 4 },
        request_bytes: 4,
        threads: [0, 1, 2, 3],
        keys: Keys {
            tag_ub: 0x6440_0001,
            host: 0x6440_0003,
            io: 0x6440_0005,
            wtime_is_global: 0x6440_0007,
            universe_size: 0x6440_0009,
            last_used_code: 0x6440_000b,
            app_num: 0x6440_000d,
        },
        error_truncate: 14,
        truncated_length: false,
        error_in_status: 17,
        simulator: None,
    }
}
