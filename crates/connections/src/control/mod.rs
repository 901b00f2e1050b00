//! A window into processes that run: what their paths and connections are doing, and paths that are
//! taken out of use and given back by hand.
//!
//! Every [`crate::Service`] offers a Unix socket for its own user, in `$LANEWAY_CONTROL_DIR` or in
//! a folder of the user's below the system's temporary files. [`list`] finds them; [`status`],
//! [`drain`] and [`undrain`] ask them. A process that cannot offer a socket goes on without.

mod client;
mod folder;
mod request;
mod server;
mod words;

pub use crate::endpoint::{ConnectionStatus, PathStatus, Status};
pub use client::{Answered, Process, drain, list, status, undrain};
pub use folder::{VARIABLE, folder};
pub use words::Change;

pub(crate) use request::{Request, answer, refuse_unknown};
pub(crate) use server::Server;
