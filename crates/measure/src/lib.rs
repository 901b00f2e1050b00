//! Times operations: several methods, one clock for all ranks, stopping rules, an interval with
//! every figure.
//!
//! It is generic over [`Comm`](laneway_core::Comm) and must never know a backend: the same code
//! runs over MPI, on processes of this machine and in virtual time. What is timed is an
//! [`Operation`]: a schedule of the registry, the library's own collective, or any closure. A
//! [`Timing`] method takes batches of samples, a [`Rule`] says when there are enough, and
//! [`measure`] puts them together as a [`Point`].
//!
//! Begin with [`measure`], then [`timing`], then [`clock`].

pub mod clock;
pub mod isolation;
pub mod operation;
pub mod overlap;
pub mod p2p;
pub mod point;
pub mod repeat;
pub mod sizes;
pub mod talk;
pub mod timing;

pub use clock::{GlobalClock, Procedure};
pub use isolation::Isolation;
pub use operation::{Collective, Operation};
pub use overlap::overlap;
pub use point::{Measuring, Point, measure, truth};
pub use repeat::Rule;
pub use timing::{Batch, Method, Stage, Timing};
