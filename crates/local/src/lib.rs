//! Ranks as processes of this machine: starts them, connects them by shared memory, Unix sockets or
//! TCP, and sees to it that nothing is left of them. Internal to laneway: it may change in any
//! version, and programs use the crate `laneway`.
//!
//! [`Launch`] runs the program again as N processes; in each of them [`attach`] gives the
//! communicator of all. This crate must never know another backend, a collective or a measurement:
//! it moves bytes for [`laneway_core::Comm`] and nothing else.
//!
//! Begin reading with `launch` and `supervise` (the processes), then `memory` and `stream` (the
//! transports, each a [`laneway_message::Link`]; the protocol over them is that crate's). `board`
//! is the memory that all processes share, `world` what the protocol asks of it.
//!
//! ```standalone_crate
//! use laneway_core::Comm;
//! use laneway_local::{Launch, Transport, attach};
//!
//! // The program starts itself: in a rank there is a communicator, in the first process none.
//! match attach()? {
//!     Some(comm) => println!("rank {} of {}", comm.rank(), comm.size()),
//!     None => {
//!         let launch = Launch { ranks: 4, transport: Transport::default(), limit: None };
//!         std::process::exit(launch.run()?);
//!     }
//! }
//! # Ok::<(), laneway_local::LocalError>(())
//! ```

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("the local backend needs Linux: memfd, futex and process_vm_readv");

mod attach;
mod board;
mod doorbell;
mod error;
mod launch;
mod memory;
mod stream;
mod supervise;
mod sync;
mod system;
mod transport;
mod world;

pub use attach::{attach, is_rank, wait_limit};
pub use error::{Death, LocalError, MOST_RANKS};
pub use launch::Launch;
pub use transport::Transport;

/// A communicator of processes on this machine.
pub type LocalComm = laneway_message::MessageComm;
