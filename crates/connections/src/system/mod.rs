//! Calls to the kernel that every driver needs: sockets, readiness, timers, the clock.
//!
//! It knows nothing of connections.

pub(crate) mod address;
pub(crate) mod alarm;
pub(crate) mod bell;
pub(crate) mod clock;
pub(crate) mod namespace;
pub(crate) mod readiness;
pub(crate) mod socket;
pub(crate) mod stream;
