//! A wide-area network between sites, in user space: packets that leave a site are read from its
//! TUN device, and written to that of the destination's site after delay, rates and faults.
//!
//! [`Engine`] is pure: it has no clock and no socket, every method takes the time in nanoseconds,
//! and everything random comes from a seed. [`serve`] runs it over TUN devices and answers the
//! commands of `control`. Begin reading with `wan` (what is emulated), then `engine`.

mod control;
mod counters;
mod engine;
#[cfg(test)]
mod engine_tests;
mod flow;
mod namespace;
mod poll;
mod serve;
mod server;
mod tun;
mod wan;

pub use counters::{Count, Counters, PipeCounters, WayCounters};
pub use engine::Engine;
pub use namespace::{enter_namespace, run_in_namespace};
pub use serve::serve;
pub use tun::open_tun;
pub use wan::{Pipe, Wan, Way};
