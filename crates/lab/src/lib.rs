//! Several hosts on one machine, with real kernels and real sockets: hosts are network namespaces,
//! links have rates and can break, and sites are joined by a WAN with delay.
//!
//! A [`Plan`] is read from a platform that the simulator reads too. [`up()`] builds it, [`probe()`]
//! holds its links to it, [`command`] starts processes on its hosts, [`Timetable`] breaks it,
//! [`Recorder`] counts what passes, and [`down()`] removes all of it by name. The WAN is a process
//! of its own (`wan.rs`) around the emulator, whose engine knows no clock and no socket. Nothing is
//! made in the machine's own network namespace. This crate must never know a backend, a collective
//! or a measurement: programs run in a lab as they would on real hosts.

#[cfg(not(target_os = "linux"))]
compile_error!("the lab needs Linux: network namespaces and TUN devices");

mod down;
pub mod emulator;
mod enter;
mod error;
mod fault;
mod guard;
mod inject;
pub mod mpi;
mod name;
mod plan;
mod probe;
mod record;
mod status;
mod system;
mod up;
pub mod wan;

pub use down::{Removed, down};
pub use enter::command;
pub use error::LabError;
pub use fault::{Action, Fault, FaultKind, KINDS, parse as parse_fault};
pub use guard::{Guard, watch};
pub use inject::{Done, Step, Timetable, carry_out, monotonic};
pub use name::LabName;
pub use plan::{Host, Options, Pipe, Plan, Way, address, management_address};
pub use probe::{Seen, carried, connect, probe};
pub use record::{Link, Passed, Recorder};
pub use status::{Status, status};
pub use system::{die_with_owner, within};
pub use up::{open, read_plan, up};
