//! Opens a backend by its name and runs a part on each of its ranks. Internal to laneway: it may
//! change in any version, and programs use the crate `laneway`.
//!
//! It is the one crate that sees all backends: processes of this machine, ranks over connections
//! that migrate, any MPI library, and a simulated cluster. What a rank does there it must never
//! know: that is a [`Part`], a function of a [`Comm`](laneway_core::Comm). Before a part begins,
//! ranks of several hosts see that they run the same program; errors that all ranks know of are
//! shown once, by the program ([`Fatal`]). Nothing is printed here.
//!
//! Begin with [`open`], then [`Backend::run`].
//!
//! ```
//! use laneway_backend::{BackendError, Fatal};
//!
//! /// The error of this program.
//! #[derive(Debug)]
//! struct Stopped(BackendError);
//!
//! impl From<BackendError> for Stopped {
//!     fn from(error: BackendError) -> Stopped {
//!         Stopped(error)
//!     }
//! }
//!
//! impl Fatal for Stopped {
//!     fn code(&self) -> u8 {
//!         1
//!     }
//!
//!     fn show(&self) {
//!         eprintln!("error: {}", self.0);
//!     }
//! }
//!
//! let backend = laneway_backend::open("sim:cluster:16")?;
//! let code = backend.with_ranks(4).run::<Stopped>(&|comm| {
//!     // Rank 0 broadcasts, and all receive.
//!     let heard = laneway_core::talk::broadcast_text(comm, "good morning")?;
//!     assert_eq!((comm.size(), heard.as_str()), (4, "good morning"));
//!     Ok(0)
//! })?;
//! assert_eq!(code, 0);
//! # Ok::<(), BackendError>(())
//! ```
//!
//! With `local` the same program starts itself once for each rank: `run` is called in all of them,
//! by the same way through `main`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod backend;
mod describe;
mod error;
mod handshake;
mod hosts;
mod part;

pub use backend::{Backend, Notice, Purpose, is_rank, open};
pub use describe::{environment, machine};
pub use error::{Alone, BackendError};
pub use hosts::{HostSource, Network};
pub use part::{Fatal, Part, RankError};
