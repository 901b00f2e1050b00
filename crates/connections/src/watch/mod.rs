//! What the paths and connections of running programs do: one look at all of them, as rows, as
//! text for Prometheus, and paths that are taken out of use until their connections have moved.
//!
//! [`crate::control`] asks one process after the other; this module asks all of a user at once.
//!
//! ```
//! use laneway_connections::watch::{Rows, Sums, metrics, snapshot};
//!
//! let look = snapshot(None)?;
//! for row in Rows::new(&look, None, false).paths {
//!     println!("{:?} {:?}", row.get("pid"), row.get("path"));
//! }
//! let mut sums = Sums::new();
//! sums.add(&look);
//! assert!(metrics(&look, &sums).contains("laneway_path_processes"));
//! # Ok::<(), laneway_connections::NetError>(())
//! ```

mod drain;
mod look;
mod prometheus;
mod rows;
mod sums;

pub use drain::{Changed, DrainError, Drained, drain, undrain};
pub use look::{Seen, Snapshot, snapshot};
pub use prometheus::metrics;
pub use rows::Rows;
pub use sums::Sums;
