//! Ranks as processes of this machine: starts them, connects them by shared memory, Unix sockets
//! or TCP, and sees to it that nothing is left of them.
//!
//! [`Launch`] runs the program again as N processes; in each of them [`attach`] gives the
//! communicator of all. This crate must never know another backend, a collective or a measurement:
//! it moves bytes for [`laneway_core::Comm`] and nothing else.
//!
//! Begin reading with `launch` and `supervise` (the processes), then `engine` (the one protocol
//! over all transports, with `matching`, `outbound`, `inbound`), then `memory` and `stream` (the
//! transports, each a `link`). `board` is the memory that all processes share.

#[cfg(not(target_os = "linux"))]
compile_error!("the local backend needs Linux: memfd, futex and process_vm_readv");

mod attach;
mod board;
mod clock;
mod comm;
mod doorbell;
mod engine;
mod error;
mod frame;
mod inbound;
mod launch;
mod link;
mod matching;
mod memory;
mod outbound;
mod queue;
mod slab;
mod stream;
mod supervise;
mod sync;
mod system;
mod transport;

pub use attach::{attach, is_rank, wait_limit};
pub use comm::LocalComm;
pub use error::{Death, LocalError, MOST_RANKS};
pub use launch::Launch;
pub use transport::Transport;
