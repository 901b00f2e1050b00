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

pub use client::{Answered, Process, drain, list, status, undrain};
pub use folder::{VARIABLE, folder};
pub use words::{Change, ConnectionStatus, PathStatus, Status};

pub(crate) use request::{Request, answer, refuse_unknown};
pub(crate) use server::Server;

/// What this program is called.
pub(crate) fn program() -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&first).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
