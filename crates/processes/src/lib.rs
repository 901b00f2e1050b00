//! What backends that start their own ranks ask of the system, each behind a safe face: the same
//! program as one more process, signals that end a run, cores, the host's name, its clock, and
//! random bytes. And a command of the user, for a limited time ([`shell`]), and what ranks of
//! one host share: cores ([`crowded`]) and [`memory`]. Internal to laneway: it may change in any
//! version, and programs use the crate `laneway`.
//!
//! It must never know a transport or a launcher's decisions: who is started, watched and ended, and
//! what is reported of it to the user, is the backend's. Errors are those of the system.
//!
//! A launcher blocks the signals that end a run, starts its program again, and waits for a signal,
//! of which the end of a child is one:
//!
//! ```
//! use std::os::unix::process::CommandExt;
//! use std::time::{Duration, Instant};
//!
//! use laneway_processes::{ENDING, Signals, kill_group, prepare_child, same_program};
//!
//! if std::env::var_os("EXAMPLE_CHILD").is_some() {
//!     return Ok(());
//! }
//! let signals = Signals::block()?;
//! let (awaited, mask) = (signals.awaited(), signals.before());
//! let mut command = same_program();
//! command.env("EXAMPLE_CHILD", "1").process_group(0);
//! // SAFETY: the closure makes only async-signal-safe calls.
//! unsafe { command.pre_exec(move || prepare_child(&mask)) };
//! let mut child = command.spawn()?;
//! let begun = Instant::now();
//! while child.try_wait()?.is_none() {
//!     let signal = awaited.next(Duration::from_millis(100));
//!     if signal.is_some_and(|signal| ENDING.contains(&signal)) || begun.elapsed().as_secs() > 20 {
//!         kill_group(child.id());
//!     }
//! }
//! assert!(child.wait()?.success());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Begin reading with [`Signals`] and [`same_program`].

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("processes of ranks need Linux: signal waits, affinity and its clocks");

mod child;
mod clock;
mod cores;
mod crowd;
mod granted;
mod host;
pub mod memory;
mod random;
pub mod shell;
mod signals;

pub use child::{Program, REPORTED, kill_group, prepare_child, same_program};
pub use clock::{Monotonic, reduce_timer_slack};
pub use cores::Cores;
pub use crowd::{Crowd, crowded};
pub use granted::GrantedCores;
pub use host::hostname;
pub use random::random_bytes;
pub use signals::{Awaited, ENDING, Mask, Signals};
