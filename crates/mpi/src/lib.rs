//! Any MPI library, opened at run time: one binary serves Open MPI, MPICH, Intel MPI and the MPI-5
//! standard ABI, with no header, no `mpicc` and no libclang when it is built. SimGrid's simulated
//! MPI is one flavour more (`simulation.rs`). Internal to laneway: it may change in any version,
//! and programs use the crate `laneway`.
//!
//! It must never know another backend, and nothing outside it may know an MPI handle. A library is
//! chosen (`find.rs`), its file is looked at before it is opened (`elf.rs`), its flavour is decided
//! from what it exports (`flavour/`), and a self-test proves that decision before the first message
//! (`selftest.rs`). Handles are machine words: a 32-bit handle travels in a word argument, which
//! every little-endian register calling convention allows.
//!
//! `LANEWAY_MPI` names a library file or an installation's folder; `LANEWAY_MPI_FLAVOUR` names the
//! flavour of a library that does not say it (open-mpi, mpich, standard-abi, smpi);
//! `LANEWAY_MPI_THREADS` names the thread level to ask for (single, funneled, serialized or
//! multiple).
//!
//! A program that has started MPI itself lends its communicators: `adopt.rs`; and its datatypes and
//! operators: `program/`.
//!
//! Begin with `start.rs`, then `comm.rs`, `interface.rs` and `queue.rs`.
//!
//! ```
//! use laneway_core::Comm;
//!
//! match laneway_mpi::init(None) {
//!     // Under mpirun: with the library of the launcher that started this process.
//!     Ok(world) => println!("rank {} of {}", world.rank(), world.size()),
//!     // Elsewhere: what is missing, and why.
//!     Err(error) => println!("{error}: {}", error.cause()),
//! }
//! ```

#![warn(missing_docs)]

#[cfg(not(all(target_endian = "little", target_pointer_width = "64")))]
compile_error!("MPI handles travel as little-endian 64-bit words; this target needs another way");

mod adopt;
mod calls;
mod clock;
mod comm;
mod elf;
mod error;
mod find;
mod flavour;
mod found;
mod functions;
mod guard;
mod interface;
mod large;
mod launcher;
mod let_go;
mod library;
mod limited;
mod member;
mod native;
mod program;
mod queue;
mod selftest;
mod simulation;
mod start;
mod status;
mod threads;
mod turn;
mod world;

pub use adopt::with_adopted;
pub use comm::{Attribute, MpiComm};
pub use error::MpiError;
pub use flavour::Family;
pub use found::Found;
pub use guard::set_last_words;
pub use launcher::{launched, launched_rank, refuse_unjoined_task};
pub use program::{ProgramCall, ProgramOperator, ProgramSide, ProgramType, ProgramTypes};
pub use simulation::is_simulated;
pub use start::{init, init_with_threads, open};
pub use threads::ThreadLevel;
