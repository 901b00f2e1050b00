//! A reliable connection between two processes that moves to another path when one dies. Public
//! API, with the crate `laneway`, which passes on what most programs need.
//!
//! It has the meaning of InfiniBand's reliable connection with automatic path migration: queue-pair
//! and migration states, packet numbers, acknowledgements, receivers that are not ready, a primary
//! and an alternate path. It must never know a clock, a socket or a thread: its driver hands
//! in packets and the time, and takes out packets, events and the time of its next wish. So one
//! connection serves any network, and a simulator that replays any fault by its seed.
//!
//! Begin with [`state`], then [`Connection`] and its parts (`sending`, `receiving`, `paths`), then
//! [`Manager`].
//!
//! Timeouts are in InfiniBand's encoding:
//!
//! ```
//! use laneway_path::AckTimeout;
//!
//! // 4.096 us times a power of two.
//! let timeout = AckTimeout::new(10).expect("5 bits");
//! assert_eq!(timeout.nanos(), Some(4_194_304));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bundle;
pub mod connection;
pub mod encoding;
pub mod manager;
pub mod number;
pub mod state;
pub mod wire;

mod congestion;
mod histogram;
mod paths;
mod receiving;
mod sending;

pub use bundle::Bundle;
pub use connection::streams::MOST_FRAME_BYTES;
pub use connection::{Config, Connection, Counters, Departure, Event, Modify, Refusal, Why};
pub use encoding::{AckTimeout, NotReadyTimer, Retries};
pub use histogram::Histogram;
pub use manager::{FailBack, Manager, OnArmed, OnMigrated, Policy};
pub use paths::{Evidence, StreamState};
pub use sending::Payload;
pub use state::{Cause, MigrationState, QpState};

/// Nanoseconds since an instant of the driver's choosing.
pub type Nanos = u64;

/// A path, by the number that both ends have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u8);

impl std::fmt::Display for PathId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "path {}", self.0)
    }
}
