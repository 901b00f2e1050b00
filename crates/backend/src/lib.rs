//! Opens a backend by its name and runs a part on each of its ranks.
//!
//! It is the one crate that sees all backends: processes of this machine, ranks over connections
//! that migrate, any MPI library, and a simulated cluster. What a rank does there it must never
//! know: that is a [`Part`], a function of a [`Comm`](laneway_core::Comm). Before a part begins,
//! ranks of several hosts see that they run the same program; a long wait has a
//! [`Watchdog`]; failures that all ranks know of are reported once.
//!
//! Begin with [`open`], then [`Backend::run`].
//!
//! ```
//! use laneway_backend::BackendError;
//!
//! let backend = laneway_backend::open("sim:cluster:16")?;
//! let code = backend.with_ranks(4).run::<BackendError>(&|comm| {
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
mod watchdog;

pub use backend::{Backend, Notice, Purpose, is_rank, open};
pub use describe::{environment, machine};
pub use error::{Alone, BackendError};
pub use hosts::{HostSource, Network};
pub use part::{Fatal, Part, RankError};
pub use watchdog::Watchdog;
