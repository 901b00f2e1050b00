//! Several hosts on one machine, with real kernels and real sockets: hosts are network namespaces,
//! links have rates and can break, and sites are joined by a WAN with delay. Internal to laneway:
//! it may change in any version, and programs use the crate `laneway`.
//!
//! A [`Plan`] is read from a platform that the simulator reads too. [`up()`] builds it, [`probe()`]
//! holds its links to it, [`command`] starts processes on its hosts, [`Timetable`] breaks it,
//! [`Recorder`] counts what passes, [`Run`] does all three for a program of MPI, and [`down()`]
//! removes all of it by name. The WAN is a process of its own (`wan.rs`) around the emulator, whose
//! engine knows no clock and no socket. Nothing is made in the machine's own network namespace.
//! This crate must never know a backend, a collective or a measurement: programs run in a lab as
//! they would on real hosts.
//!
//! A plan and the faults of its links touch nothing, so that every user can look at them:
//!
//! ```
//! use laneway_lab::{LabName, Options, Plan, address, parse_fault};
//! use laneway_sim::platform::Platform;
//!
//! let platform = Platform::read("two-sites:2x2,latency=5ms,connection=25Mbit")?;
//! let plan = Plan::new(&platform, Options::default())?;
//! assert_eq!(plan.hosts.len(), 4);
//! assert_eq!(address(0, &plan.hosts[2]).to_string(), "10.0.1.1");
//! assert_eq!(plan.round_trip(0, 1), 0.010);
//!
//! let lab = LabName::new("mine")?;
//! let fault = parse_fault(&format!("drop {} for 200ms", plan.hosts[0].name), &lab, &plan)?;
//! assert_eq!(fault.length, Some(0.2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Building one needs root, so that this is compiled and not run. The program is started again as
//! the lab's guard, which removes the lab when its owner is gone, and as its WAN: [`serve`] does
//! these tasks, and is called first:
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use laneway_lab::{
//!     Guard, LabName, Options, Plan, Run, mpi, open, probe, serve, this_program, up,
//! };
//! use laneway_sim::platform::Platform;
//!
//! if let Some(done) = serve() {
//!     return Ok(done?);
//! }
//! let plan = Plan::new(&Platform::read("cluster:2")?, Options::default())?;
//! let (lab, program) = (LabName::new("mine")?, this_program()?);
//! let guard = Guard::start(&lab, &program)?;
//! up(&lab, &plan, &program)?;
//! mpi::prepare(&lab, &plan, &program)?;
//! open(&lab)?;
//! for seen in probe(&lab, &plan)? {
//!     println!("{} to {}: {:.3} ms", seen.from, seen.to, 1e3 * seen.latency);
//! }
//! let (host, arguments) = (&plan.hosts[0].name, ["-n", "2", "./program"].map(String::from));
//! let every = Some(Duration::from_millis(10));
//! let run = Run { host, program: "mpirun", arguments: &arguments, every, timetable: None };
//! let ended = run.run(&lab, &plan, &AtomicBool::new(false), |_| ())?;
//! println!("exit code {}, {} links", ended.code, ended.links.unwrap_or_default().len());
//! guard.remove()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("the lab needs Linux: network namespaces and TUN devices");

mod arrivals;
mod down;
pub mod emulator;
mod enter;
mod error;
mod fault;
mod filter;
mod guard;
mod inject;
pub mod mpi;
mod name;
mod plan;
mod probe;
mod record;
mod run;
mod status;
mod system;
mod task;
mod up;
pub mod wan;

pub use arrivals::Arrivals;
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
pub use run::{Ended, Run};
pub use status::{Status, status};
pub use system::{die_with_owner, within};
pub use task::{serve, this_program};
pub use up::{open, read_plan, up};
